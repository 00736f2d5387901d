//! Shortens a summary that a model wrote, section by section, if there is not enough room for all of it.
//!
//! The longest sections are shortened first, each from its end, and say how much is missing. The model's summary was
//! paid for and is worth more than extracts, and all of its sections together are worth more than a single whole one.

use crate::facts::budget::units_within;
use crate::facts::{BudgetItem, BudgetShare, ItemProtection, fit, shorten};
use crate::tokens::utf16_len;

/// The minimum number of units of a section: its heading and its first words.
const LEAST: usize = 120;

/// Returns the text in at most `tokens` tokens by the padded estimate.
pub(crate) fn condense(text: &str, tokens: u64) -> String {
    let room = usize::try_from(units_within(tokens)).unwrap_or(usize::MAX);
    if utf16_len(text) <= room {
        return text.to_owned();
    }
    let sections = sections(text);
    let items: Vec<BudgetItem> = sections
        .iter()
        .map(|section| BudgetItem {
            units: utf16_len(section) as u64,
            standing: ItemProtection::Plain,
        })
        .collect();
    let shares = fit(&items, room as u64, 0);
    let kept = sections.iter().zip(shares).filter_map(|(section, share)| {
        let most = match share {
            BudgetShare::Whole => return Some((*section).to_owned()),
            BudgetShare::Shortened(units) => units as usize,
            BudgetShare::Omitted => return None,
        };
        Some(head_of(section, most))
    });
    kept.collect()
}

/// Splits a text into its sections. A heading is a line that begins with a number and a period, or with `#`.
fn sections(text: &str) -> Vec<&str> {
    let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    let mut starts: Vec<usize> = starts
        .filter(|at| *at == 0 || is_heading(text[*at..].lines().next().unwrap_or_default()))
        .collect();
    starts.push(text.len());
    starts
        .windows(2)
        .map(|pair| &text[pair[0]..pair[1]])
        .filter(|section| !section.is_empty())
        .collect()
}

fn is_heading(line: &str) -> bool {
    let bare = line.trim_start_matches(['*', '_']);
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    line.starts_with('#') || (1..=2).contains(&digits) && bare[digits..].starts_with(". ")
}

/// Returns the beginning of a section, cut at a line, with a note on how many lines are missing.
fn head_of(section: &str, most: usize) -> String {
    let note = |lines: usize| match lines {
        1 => "(1 more line of the summary was left out for lack of room.)\n".to_owned(),
        lines => format!("({lines} more lines of the summary were left out for lack of room.)\n"),
    };
    let count = section.lines().count();
    let room = most.saturating_sub(utf16_len(&note(count)));
    let mut kept = String::new();
    let mut lines = 0;
    for line in section.split_inclusive('\n') {
        if utf16_len(&kept) + utf16_len(line) > room {
            break;
        }
        kept.push_str(line);
        lines += 1;
    }
    // For one long paragraph, its two ends say more than its heading alone.
    if lines <= 1 && room >= LEAST {
        let mut short = shorten(section.trim_end(), most.saturating_sub(1));
        short.push('\n');
        return short;
    }
    kept.push_str(&note(count - lines));
    if utf16_len(&kept) <= most {
        kept
    } else {
        shorten(section, most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::RoughEstimator;
    use proptest::prelude::*;

    #[test]
    fn y1_the_longest_sections_give_first_and_say_so() {
        let files = "- src/a.rs was changed\n".repeat(400);
        let text =
            format!("## Summary\n\n1. Request: a parser.\n2. Files:\n{files}9. Next: go on.\n");
        let short = condense(&text, 300);
        assert!(short.contains("1. Request: a parser.\n"), "{short}");
        assert!(short.contains("9. Next: go on.\n"), "{short}");
        assert!(
            short.contains("more lines of the summary were left out"),
            "{short}"
        );
        assert_eq!(condense(&text, 100_000), text);
    }

    proptest! {
        #[test]
        fn y1_a_condensed_summary_fits(text in "([0-9]\\. |# |[a-z ]{1,40}|\n){0,60}", tokens in 0_u64..400) {
            let short = condense(&text, tokens);
            prop_assert!(RoughEstimator::text(&short).padded() <= tokens.max(1), "{short}");
        }
    }
}
