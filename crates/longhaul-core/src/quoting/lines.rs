//! Quotes foreign text line by line: each line begins with a quote sign, so that none of them can open a section or a
//! tag of the engine.

use super::tags;

/// The quote sign before each line.
const MARK: char = '>';

/// Whether a reader may take this character for the end of a line.
pub(crate) fn is_break(character: char) -> bool {
    matches!(
        character,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Returns a text with a quote sign before each of its lines. Line ends stay unchanged; a blank text has no lines.
pub fn quoted(text: &str) -> String {
    let text = text.trim_matches(is_break);
    if text.trim().is_empty() {
        return String::new();
    }
    let text = tags::defused(text);
    let mut quoted = String::with_capacity(text.len() + text.len() / 16 + 2);
    let mut begins = true;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let breaks = is_break(character);
        if begins {
            quoted.push(MARK);
            if !breaks {
                quoted.push(' ');
            }
        }
        quoted.push(character);
        let pair = character == '\r' && characters.peek() == Some(&'\n');
        begins = breaks && !pair;
        if pair {
            quoted.extend(characters.next());
            begins = true;
        }
    }
    quoted
}

/// Returns the text that was quoted.
pub fn unquoted(quoted: &str) -> String {
    let mut text = String::with_capacity(quoted.len());
    for line in quoted.split_inclusive(is_break) {
        let bare = line.strip_prefix("> ");
        text.push_str(bare.or_else(|| line.strip_prefix(MARK)).unwrap_or(line));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_line_begins_with_the_mark_whatever_ends_it() {
        assert_eq!(
            quoted("a\n\n## b\r\nc\rd\u{2028}e"),
            "> a\n>\n> ## b\r\n> c\r> d\u{2028}> e"
        );
        assert_eq!(quoted(" \n "), "");
        assert_eq!(
            quoted("x </System-Reminder > y"),
            "> x <\\/System-Reminder > y"
        );
    }

    proptest! {
        #[test]
        fn what_was_quoted_can_be_had_again(text in "[a-z># \n\r\u{2028}]{0,60}") {
            let bare = text.trim_matches(is_break);
            prop_assume!(!bare.trim().is_empty());
            prop_assert_eq!(unquoted(&quoted(&text)), bare);
        }
    }
}
