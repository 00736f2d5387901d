//! Decodes the content of a string literal that has been validated.
//!
//! A lone surrogate, which JSON can write and text cannot hold, becomes U+FFFD here; the entry's own bytes keep it.

use std::borrow::Cow;

use super::string::hex4;

/// Decodes a literal's content (quotes excluded). The text is borrowed where nothing is escaped.
pub fn decode(content: &[u8]) -> Cow<'_, str> {
    if memchr::memchr(b'\\', content).is_none() {
        return String::from_utf8_lossy(content);
    }
    let mut text = String::with_capacity(content.len());
    let mut rest = content;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        text.push_str(&String::from_utf8_lossy(&rest[..at]));
        let (character, length) = escape(&rest[at..]);
        text.push(character);
        rest = rest.get(at + length..).unwrap_or_default();
    }
    text.push_str(&String::from_utf8_lossy(rest));
    Cow::Owned(text)
}

/// The character that an escape encodes, and the number of bytes it takes.
fn escape(bytes: &[u8]) -> (char, usize) {
    match bytes.get(1) {
        Some(b'b') => ('\u{8}', 2),
        Some(b'f') => ('\u{c}', 2),
        Some(b'n') => ('\n', 2),
        Some(b'r') => ('\r', 2),
        Some(b't') => ('\t', 2),
        Some(b'u') => match (hex4(bytes, 2), hex4(bytes, 8)) {
            (Ok(high @ 0xD800..=0xDBFF), Ok(low @ 0xDC00..=0xDFFF)) if bytes[6..8] == *b"\\u" => {
                let scalar = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                (char::from_u32(scalar).unwrap_or('\u{FFFD}'), 12)
            }
            (Ok(unit), _) => (char::from_u32(unit).unwrap_or('\u{FFFD}'), 6),
            (Err(_), _) => ('\u{FFFD}', 2),
        },
        Some(other) => (char::from(*other), 2),
        None => ('\u{FFFD}', 1),
    }
}
