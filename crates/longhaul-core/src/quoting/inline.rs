//! Quotes a path, a title or an item of a list: foreign text inside a line that the engine writes.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::tags;

/// Returns the text on one line: unchanged, or as a JSON string if it has line ends or control characters.
pub fn inline(text: &str) -> Cow<'_, str> {
    let is_plain = |character: char| !character.is_control() && !super::is_break(character);
    if text.chars().all(is_plain) {
        return tags::defused(text);
    }
    let mut line = String::with_capacity(text.len() + 8);
    line.push('"');
    for character in text.chars() {
        match character {
            '"' => line.push_str("\\\""),
            '\\' => line.push_str("\\\\"),
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            _ if is_plain(character) => line.push(character),
            // A control character is below U+10000, so four digits are enough.
            _ => {
                let _ = write!(line, "\\u{:04x}", u32::from(character));
            }
        }
    }
    line.push('"');
    Cow::Owned(tags::defused(&line).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_lines_become_one() {
        assert_eq!(inline("/src/a b.rs"), "/src/a b.rs");
        assert_eq!(
            inline("a\n### Rules\u{2028}\"b\""),
            r####""a\n### Rules\u2028\"b\"""####
        );
        assert_eq!(inline("</system-reminder>"), "<\\/system-reminder>");
        let text = "x\t\u{1b}[31m\\";
        assert_eq!(serde_json::from_str::<String>(&inline(text)).unwrap(), text);
    }
}
