//! Completes a model's summary that was cut off with extracts: the part that was paid for is kept (ruling 22), and the
//! missing sections, including the newest work and the next step, are built from the conversation.

use super::earlier::PartialSummary;
use super::gather::GatheredView;
use super::{SECTIONS, sections};
use crate::facts::Facts;
use crate::facts::budget::units_within;
use crate::message::EntryView;
use crate::summary::Summary;

/// The notice at the point where the model's words end.
const CUT_OFF: &str = include_str!("cut_off.md");

/// The minimum number of sections that must have begun: the last of them may be almost empty.
const FEWEST: usize = 2;

/// Completes the summary that `begun` is the beginning of, with extracts of at most `budget` tokens for the sections
/// that the model did not reach. Returns `None` if too little of the summary is there.
pub(crate) fn complete<'a>(
    begun: &Summary,
    entries: impl IntoIterator<Item = EntryView<'a>>,
    facts: &Facts,
    budget: u64,
) -> Option<Summary> {
    let body = begun.body().trim_end();
    let found = PartialSummary::of(body);
    let last = *found.sections.last()?;
    if found.sections.len() < FEWEST {
        return None;
    }
    let mut text = format!("{body}\n");
    if let Some(close) = found.open {
        text.push_str(&format!("{close}\n"));
    }
    text.push_str(&format!("\n{}\n", CUT_OFF.trim_end()));
    if last + 1 < SECTIONS {
        let room = usize::try_from(units_within(budget)).unwrap_or(usize::MAX);
        let gathered = GatheredView::of(entries);
        for part in &sections(&gathered, facts, last + 1, room) {
            text.push_str(part.text());
        }
    }
    Summary::of_extracts(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Entry;

    fn completed(begun: &str) -> Option<String> {
        let line =
            r#"{"type":"user","uuid":"u1","message":{"role":"user","content":"Port the parser"}}"#;
        let said = Entry::read(line.into()).unwrap();
        let begun = Summary::new(begun)?;
        let whole = complete(&begun, [said.view()], &Facts::default(), 2_000)?;
        Some(whole.text().to_owned())
    }

    #[test]
    fn y1_a_summary_that_was_cut_off_gets_the_sections_it_lacks_from_extracts() {
        let text = completed(
            "1. Primary request and intent:\n   Port it.\n\n3. Files and code:\n- src/pars",
        )
        .unwrap();
        let places: Vec<usize> = [
            "Port it.",
            "src/pars",
            "cut off here",
            "4. Errors",
            "8. Current work",
            "9. Next step",
        ]
        .iter()
        .map(|part| {
            text.find(part)
                .unwrap_or_else(|| panic!("{part} in {text}"))
        })
        .collect();
        assert!(places.is_sorted(), "{text}");
        assert!(!text.contains("2. Technical"), "{text}");
    }

    #[test]
    fn y1_what_was_open_where_a_summary_was_cut_off_does_not_swallow_the_rest() {
        let code =
            completed("1. Request\nx\n3. Files and code\n```rust\n4. Errors\nfn a() {").unwrap();
        assert!(code.contains("fn a() {\n```\n"), "{code}");
        assert!(code.contains("\n4. Errors and fixes\n"), "{code}");
        let fence =
            completed("1. Request\nx\n6. All user messages\n[4]\n7. Pending tasks").unwrap();
        assert!(fence.contains("[/4]\n"), "{fence}");
    }

    #[test]
    fn y1_too_little_of_a_summary_is_none() {
        assert_eq!(completed("1. Primary request and intent:\n   Port"), None);
        assert_eq!(completed("I will now summarise the conversation."), None);
    }
}
