//! Fits a list of items into a given size without cutting an item in the middle: every item is shortened to its
//! beginning before any item is left out.

use crate::tokens::utf16_len;

/// The lengths to try for items, from whole to brief.
const LENGTHS: [usize; 5] = [usize::MAX, 600, 300, 160, 90];

/// The end of the line that says how many items were left out.
pub(super) const LEFT_OUT: &str = "more, not repeated here)";

/// Which items stay if there is no room for all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RetainedEnd {
    /// The items at the beginning stay.
    First,
    /// The items at the end stay.
    Last,
}

/// Returns the items in at most `room` UTF-16 units, including the line breaks between them.
pub(super) fn condensed(items: &[String], room: usize, stay: RetainedEnd) -> Vec<String> {
    let weight = |items: &[String]| items.iter().map(|item| utf16_len(item) + 1).sum::<usize>();
    let mut told = Vec::new();
    for length in LENGTHS {
        told = items.iter().map(|item| beginning(item, length)).collect();
        if weight(&told) <= room {
            return told;
        }
    }
    let note = |left: usize| format!("- (and {left} {LEFT_OUT}");
    let room = room.saturating_sub(utf16_len(&note(items.len())) + 1);
    let mut left = told.len();
    let mut used = 0;
    let mut kept: Vec<String> = Vec::new();
    let ordered: Box<dyn Iterator<Item = String>> = match stay {
        RetainedEnd::First => Box::new(told.into_iter()),
        RetainedEnd::Last => Box::new(told.into_iter().rev()),
    };
    for item in ordered {
        used += utf16_len(&item) + 1;
        if used > room {
            break;
        }
        left -= 1;
        kept.push(item);
    }
    if kept.is_empty() {
        return kept;
    }
    match stay {
        RetainedEnd::First => kept.push(note(left)),
        RetainedEnd::Last => {
            kept.push(note(left));
            kept.reverse();
        }
    }
    kept
}

/// Returns the beginning of an item: whole lines while they fit; for a line that is too long, whole sentences or else
/// whole words.
pub(super) fn beginning(item: &str, most: usize) -> String {
    if item.len() <= most || utf16_len(item) <= most {
        return item.to_owned();
    }
    let mut end = 0;
    for line in item.split_inclusive('\n') {
        if utf16_len(&item[..end + line.trim_end().len()]) > most {
            break;
        }
        end += line.len();
    }
    // An introduction without what it introduces is useless.
    if item[..end].trim_end().contains('\n') || end > 0 && !item[..end].trim_end().ends_with(':') {
        return item[..end].trim_end().to_owned();
    }
    let mut units = 0;
    let (mut sentence, mut word) = (0, 0);
    for (at, character) in item.char_indices() {
        units += character.len_utf16();
        if units + 2 > most {
            break;
        }
        let behind = at + character.len_utf8();
        let ends_word = item[behind..].starts_with(char::is_whitespace);
        if ends_word {
            word = behind;
        }
        if matches!(character, '。' | '！' | '？')
            || matches!(character, '.' | '!' | '?' | ';') && ends_word
        {
            sentence = behind;
        }
        if sentence == 0 && word == 0 {
            end = behind;
        }
    }
    match (sentence > most / 3, word) {
        (true, _) => item[..sentence].to_owned(),
        (false, 0) => format!("{} …", &item[..end]),
        (false, word) => format!("{} …", item[..word].trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x9_items_are_told_briefly_before_any_is_left_out() {
        let long = |name: &str| {
            format!(
                "- {name} begins. {} and ends here.",
                "Then it goes on and on. ".repeat(30)
            )
        };
        let items = [long("one"), long("two"), "- three".to_owned()];
        let told = condensed(&items, 5_000, RetainedEnd::First);
        assert_eq!(told, items);
        let told = condensed(&items, 500, RetainedEnd::First);
        assert_eq!(told.len(), 3);
        assert!(
            told[0].starts_with("- one begins. Then") && told[0].ends_with('.'),
            "{told:?}"
        );
        assert!(!told.concat().contains("ends here"));
        let told = condensed(&items, 60, RetainedEnd::Last);
        assert_eq!(told, ["- (and 2 more, not repeated here)", "- three"]);
        assert!(condensed(&items, 5, RetainedEnd::First).is_empty());
    }

    #[test]
    fn x9_a_quotation_is_cut_between_lines() {
        let item = format!("- Bash failed:\n> one\n> two\n> {}", "x".repeat(200));
        assert_eq!(beginning(&item, 90), "- Bash failed:\n> one\n> two");
    }
}
