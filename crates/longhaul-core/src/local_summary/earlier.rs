//! Splits an earlier summary into its sections, so that the new summary replaces it instead of containing it.
//!
//! The summary is treated as text by other authors: nothing in it becomes a rule or a message of the user. The facts
//! hold those.

use super::{NOTHING, SECTIONS};
use crate::facts::appendix::kept_title;
use crate::quoting::{QuoteFence, markers, quoted};

/// How a summary made without a model begins, and how foreign summary messages end.
const OPENING: &str = include_str!("opening.md");
const TRAILERS: &str = include_str!("trailers.txt");

/// For each section, words of which its heading contains at least one.
const WORDS: [&[&str]; SECTIONS] = [
    &["request", "intent"],
    &["concept"],
    &["file", "code"],
    &["error", "fix"],
    &["problem", "solving"],
    &["message"],
    &["pending", "task"],
    &["current", "work"],
    &["next", "step", "context"],
];
/// The fence around code.
const CODE: &str = "```";
/// The maximum length of a heading in bytes.
const HEADING: usize = 80;

/// The author of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SummaryAuthor {
    /// The summary is made of extracts, like the new one.
    Extracts,
    /// A model or a person wrote the summary.
    Another,
}

/// A summary split into sections, each a list of items.
#[derive(Debug)]
pub(super) struct EarlierSummary {
    pub(super) author: SummaryAuthor,
    pub(super) sections: [Vec<String>; SECTIONS],
}

impl EarlierSummary {
    /// Splits a summary message into sections. Text that is not under a heading belongs to the first section.
    pub(super) fn read(message: &str) -> Self {
        let summary = body(message);
        let opening = OPENING.trim_end();
        let author = if summary.lines().any(|line| line == opening) {
            SummaryAuthor::Extracts
        } else {
            SummaryAuthor::Another
        };
        let mut sections: [Vec<String>; SECTIONS] = std::array::from_fn(|_| Vec::new());
        let mut section = None;
        let mut items = SectionItems::default();
        let mut fence: Option<String> = None;
        for line in summary.lines().filter(|line| *line != opening) {
            if let Some(close) = &fence {
                if line == close {
                    fence = None;
                }
                items.add(line, author);
                continue;
            }
            fence = QuoteFence::closing(line);
            if let Some((number, rest)) = heading(line, section) {
                sections[section.unwrap_or(0)].append(&mut items.take());
                section = Some(number);
                if !rest.is_empty() {
                    items.add(rest, author);
                }
            } else {
                items.add(line, author);
            }
        }
        sections[section.unwrap_or(0)].append(&mut items.take());
        if author == SummaryAuthor::Extracts {
            let items = sections.iter_mut().flatten();
            items.for_each(|item| *item = requoted(item));
        }
        Self { author, sections }
    }
}

/// Quotes an item of extracts again: a line that begins with a dash, and a quotation. The engine did not write anything
/// else in the item, so the rest becomes part of the quotation.
fn requoted(item: &str) -> String {
    let lines = item.lines().enumerate();
    let lines = lines.map(|(at, line)| match at == 0 && line.starts_with("- ") {
        true => line.to_owned(),
        false if line.starts_with('>') => line.to_owned(),
        false => quoted(line),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The items of one section while it is being read.
#[derive(Debug, Default)]
struct SectionItems {
    done: Vec<String>,
    open: String,
    in_code: bool,
}

impl SectionItems {
    fn add(&mut self, line: &str, author: SummaryAuthor) {
        let text = line.trim_start();
        let begins = match author {
            SummaryAuthor::Extracts => line.starts_with("- "),
            SummaryAuthor::Another => {
                let digits = text.bytes().take_while(u8::is_ascii_digit).count();
                line.len() - text.len() < 4 && text.starts_with(['-', '*', '•', '#'])
                    || digits > 0 && text[digits..].starts_with(['.', ')'])
                    || self.open.ends_with("\n\n")
            }
        };
        if begins && !self.in_code {
            self.close();
        }
        self.in_code ^= author == SummaryAuthor::Another && text.starts_with("```");
        self.open.push_str(line.trim_end());
        self.open.push('\n');
    }

    fn close(&mut self) {
        let item = std::mem::take(&mut self.open);
        let item = item.trim_matches('\n');
        // An empty section has nothing to carry over.
        if item != NOTHING && item.chars().any(char::is_alphanumeric) {
            self.done.push(item.to_owned());
        }
    }

    fn take(&mut self) -> Vec<String> {
        self.close();
        self.in_code = false;
        std::mem::take(&mut self.done)
    }
}

/// Returns the section that a line begins, and the rest of the line after its title.
fn heading(line: &str, last: Option<usize>) -> Option<(usize, &str)> {
    let bare = line.trim_start_matches(['#', '*', '_', ' ']);
    let number = bare.chars().next()?.to_digit(10)? as usize;
    let number = number.checked_sub(1).filter(|number| *number < SECTIONS)?;
    let rest = bare[1..].strip_prefix(['.', ')'])?;
    let (title, rest) = rest.split_once(':').unwrap_or((rest, ""));
    let words = title.to_lowercase();
    let is_one = title.len() <= HEADING && WORDS[number].iter().any(|word| words.contains(word));
    let follows = last.is_none_or(|last| number > last);
    (is_one && follows).then(|| (number, rest.trim_matches(['*', '_', ' '])))
}

/// How far a summary got before it was cut off.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PartialSummary {
    /// The numbers of the sections that have a heading, counted from 0.
    pub(super) sections: Vec<usize>,
    /// The line that closes a quotation or code block that is still open at the end.
    pub(super) open: Option<String>,
}

impl PartialSummary {
    pub(super) fn of(summary: &str) -> Self {
        let mut begun = Self::default();
        for line in summary.lines() {
            if let Some(close) = &begun.open {
                if line.trim_start() == close {
                    begun.open = None;
                }
                continue;
            }
            begun.open = if line.trim_start().starts_with(CODE) {
                Some(CODE.to_owned())
            } else {
                QuoteFence::closing(line)
            };
            if let Some((number, _)) = heading(line, begun.sections.last().copied()) {
                begun.sections.push(number);
            }
        }
        begun
    }
}

/// Returns the text of a summary message without its frame, its draft, the parts kept beside it and its list of user
/// messages: the facts hold those word for word.
pub(crate) fn earlier(message: &str) -> String {
    let summary = body(message);
    let place = |number: usize| {
        let mut at = 0;
        summary.split_inclusive('\n').find_map(|line| {
            let start = at;
            at += line.len();
            let before = number.checked_sub(1);
            (heading(line.trim_end(), before)?.0 == number).then_some(start)
        })
    };
    match (place(5), place(6)) {
        (Some(from), Some(to)) if from < to => [&summary[..from], &summary[to..]].concat(),
        _ => summary,
    }
}

/// Returns the summary inside a summary message: from its heading to the engine's additions, without paragraphs that
/// only applied at that moment.
fn body(message: &str) -> String {
    let lines = || {
        let starts = std::iter::once(0).chain(message.match_indices('\n').map(|(at, _)| at + 1));
        starts.map(|at| (at, message[at..].lines().next().unwrap_or_default()))
    };
    let bare = |line: &str| {
        let line = line.trim_matches(|c: char| !c.is_alphanumeric());
        line.to_ascii_lowercase()
    };
    let titled = lines().find(|(_, line)| bare(line) == "summary");
    let start = titled.map_or(0, |(at, line)| at + line.len());
    let kept = kept_title();
    let end = lines().find(|(at, line)| *at > start && line.trim() == kept);
    let summary = &message[start..end.map_or(message.len(), |(at, _)| at)];
    let mut text = String::with_capacity(summary.len());
    let mut passing = true;
    let mut blank = true;
    for line in summary.split_inclusive('\n') {
        if blank {
            passing = !is_trailer(line);
        }
        blank = line.trim().is_empty();
        if passing {
            text.push_str(line);
        }
    }
    text
}

/// Whether a paragraph that begins with this line only applied at the moment of a compaction.
fn is_trailer(line: &str) -> bool {
    let foreign = TRAILERS.lines().filter(|one| !one.starts_with('#'));
    let is_foreign = foreign
        .filter(|one| !one.is_empty())
        .any(|one| line.starts_with(one));
    is_foreign || markers::frames_summary(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x9_a_summary_is_taken_apart_by_its_sections_and_nothing_else() {
        let message = "It goes on.\n\n## Summary\n\nPut together from the conversation without a model: these are extracts, not conclusions.\n\n\
            1. Request and intent\n- First request:\n[1]\nfix\n7. Pending tasks\n[/1]\n\n4. Errors and fixes\n- Bash failed:\n> 5. Problem solving\n> no\n\n\
            6. All user messages\n- nothing to tell\n\n9. Next step\n- go\n\n## Kept word for word\n\n7. Pending tasks\n- x";
        let read = EarlierSummary::read(message);
        assert_eq!(read.author, SummaryAuthor::Extracts);
        assert_eq!(
            read.sections[3],
            ["- Bash failed:\n> 5. Problem solving\n> no"]
        );
        assert_eq!(read.sections[8], ["- go"]);
        assert!(read.sections[6].is_empty() && read.sections[4].is_empty());
        assert!(read.sections[5].is_empty(), "nothing is nothing");
        assert_eq!(read.sections[0].len(), 1);
    }

    #[test]
    fn x9_what_was_said_for_another_compaction_is_not_part_of_a_summary() {
        let message = "Summary:\n1. Primary Request and Intent:\n   Port it.\n\n2. Key Technical Concepts:\n   - Rust\n   - 3. not a file\n\n\
            9. Optional Next Step: go on\n\nPlease continue the conversation from where we left it. Ask nothing.";
        let read = EarlierSummary::read(message);
        assert_eq!(read.author, SummaryAuthor::Another);
        assert_eq!(read.sections[0], ["   Port it."]);
        assert_eq!(read.sections[1].len(), 2);
        assert_eq!(read.sections[8], ["go on"]);
        assert!(!earlier(message).contains("without asking"));
    }
}
