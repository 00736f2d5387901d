//! Text on its way out, made harmless for a terminal: what a model or a file says is shown, never obeyed. Ordinary text comes
//! out as it went in, lines and tabs included.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Whether a character steers a terminal or turns the reading direction round so that a text reads as another.
fn deceives(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text of lines. Control characters become their visible signs (`␛`), those that have none and marks that turn the
/// reading direction round become `\u{fffd}`; a carriage return before a line break stays.
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

/// What is seen in place of a character.
fn sign(c: char) -> char {
    match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        _ => '\u{fffd}',
    }
}

/// A page that sets colours of its own: those stay, all else that steers is made harmless.
pub fn harmless_but_coloured(text: &str) -> Cow<'_, str> {
    if !text.contains(deceives) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        let (before, from) = rest.split_at(at);
        out.push_str(&harmless(before));
        let length = colour(from).unwrap_or_default();
        if length == 0 {
            out.push(sign('\u{1b}'));
        }
        out.push_str(&from[..length]);
        rest = &from[length.max(1)..];
    }
    out.push_str(&harmless(rest));
    Cow::Owned(out)
}

/// The length of a sequence that only sets a colour, if the text begins with one.
fn colour(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let end = parameters.find(|c: char| !matches!(c, '0'..='9' | ';' | ':'))?;
    parameters[end..].starts_with('m').then_some(end + 3)
}

/// A JSON text, or a part of one that splits no character: the same value, with everything that [`steers`](super::steers)
/// escaped. Writers of JSON escape only what the grammar asks for, and leave the rest of the control characters raw.
pub fn harmless_json(json: &str) -> Cow<'_, str> {
    let is_raw = |c: char| c > '\u{7e}' && super::steers(c);
    if !json.contains(is_raw) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match is_raw(c) {
            // All of them take one unit of UTF-16. Writing to a string cannot fail.
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
            assert_eq!(harmless_but_coloured(text), text);
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
    fn a_page_keeps_its_colours_and_nothing_else() {
        let text = "\u{1b}[1;31mred\u{1b}[0m \u{1b}[2J\u{1b}]0;x\u{7}\u{1b}";
        let shown = harmless_but_coloured(text);
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
