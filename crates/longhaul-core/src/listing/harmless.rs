//! Makes output text safe for a terminal: control sequences from a model or a file are shown, never executed. Ordinary
//! text is unchanged, including its line breaks and tabs.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character controls a terminal or reverses the reading direction so that a text reads differently.
fn deceives(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Makes multi-line text safe to print. Control characters become their visible symbols (`␛`); those without a symbol
/// and characters that reverse the reading direction become `\u{fffd}`. A carriage return before a line break stays.
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(deceives) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' if rest.peek() == Some(&'\n') => out.push(c),
            c if deceives(c) => out.push(sign(c)),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Returns the visible replacement for a character.
fn sign(c: char) -> char {
    match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        _ => '\u{fffd}',
    }
}

/// Makes text safe to print but keeps its own color sequences.
pub fn harmless_but_colored(text: &str) -> Cow<'_, str> {
    if !text.contains(deceives) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        let (before, from) = rest.split_at(at);
        out.push_str(&harmless(before));
        let length = color(from).unwrap_or_default();
        if length == 0 {
            out.push(sign('\u{1b}'));
        }
        out.push_str(&from[..length]);
        rest = &from[length.max(1)..];
    }
    out.push_str(&harmless(rest));
    Cow::Owned(out)
}

/// Returns the length of the color sequence at the beginning of the text, if there is one.
fn color(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let end = parameters.find(|c: char| !matches!(c, '0'..='9' | ';' | ':'))?;
    parameters[end..].starts_with('m').then_some(end + 3)
}

/// Escapes everything that [`steers`](super::steers) in a JSON text, or in a part of one that does not split a
/// character. The value stays the same. JSON writers escape only what the grammar requires and leave other control
/// characters raw.
pub fn harmless_json(json: &str) -> Cow<'_, str> {
    let is_raw = |c: char| c > '\u{7e}' && super::steers(c);
    if !json.contains(is_raw) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match is_raw(c) {
            // Each of these characters is a single UTF-16 unit. Writing to a string cannot fail.
            true => drop(write!(out, "\\u{:04x}", u32::from(c))),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_text_is_not_changed() {
        for text in [
            "",
            "a\n\tb\r\nc\n",
            "漢字 é 👩‍👩‍👧 \u{200f}שלום",
            "{\"a\":\"b\"}",
        ] {
            assert_eq!(harmless(text), text);
            assert_eq!(harmless_but_colored(text), text);
        }
    }

    #[test]
    fn what_steers_a_terminal_is_seen_and_not_obeyed() {
        assert_eq!(harmless("\u{1b}]0;x\u{7}y\rz"), "␛]0;x␇y␍z");
        assert_eq!(
            harmless("a\u{9b}2J\u{7f}\u{202e}b"),
            "a\u{fffd}2J␡\u{fffd}b"
        );
    }

    #[test]
    fn a_page_keeps_its_colors_and_nothing_else() {
        let text = "\u{1b}[1;31mred\u{1b}[0m \u{1b}[2J\u{1b}]0;x\u{7}\u{1b}";
        let shown = harmless_but_colored(text);
        assert_eq!(shown, "\u{1b}[1;31mred\u{1b}[0m ␛[2J␛]0;x␇␛");
    }

    #[test]
    fn json_stays_the_same_value() {
        let value = serde_json::json!({"a\u{7f}": "\u{1b}\u{9b}2J\u{202e}\u{2028}é"});
        let text = harmless_json(&value.to_string()).into_owned();
        assert!(!text.contains(super::super::steers), "{text}");
        let back: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(back, value);
    }
}
