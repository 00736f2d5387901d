//! JSON string literals as bytes: reads their content and their text, and makes literals from either of the two.

use std::borrow::Cow;

use super::decode::decode;

/// The bytes between the quotes of a JSON string, still escaped; `None` if the JSON value is not a string.
pub fn content(raw: &[u8]) -> Option<&[u8]> {
    raw.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

/// The decoded text of a JSON string; `None` if the JSON value is not a string.
pub fn text(raw: &[u8]) -> Option<Cow<'_, str>> {
    content(raw).map(decode)
}

/// The text of a JSON value: what a string says, and any other value as it is written, with its escapes decoded.
pub fn text_of(raw: &[u8]) -> Cow<'_, str> {
    decode(content(raw).unwrap_or(raw))
}

/// Writes a text as a JSON string, with quotes and escapes.
pub fn quote(text: &str) -> Vec<u8> {
    serde_json::Value::from(text).to_string().into_bytes()
}

/// Puts quotes around content that is already escaped.
pub fn enclose(content: &[u8]) -> Vec<u8> {
    [b"\"", content, b"\""].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_literal_is_taken_apart_and_put_together_again() {
        let literal = quote("a \"b\"\n");
        assert_eq!(literal, br#""a \"b\"\n""#);
        assert_eq!(text(&literal).as_deref(), Some("a \"b\"\n"));
        let inside = content(&literal).unwrap_or_default();
        assert_eq!(enclose(inside), literal);
        assert_eq!(text_of(&literal), "a \"b\"\n");
        assert_eq!(text_of(br#"["a\nb"]"#), "[\"a\nb\"]");
        for other in [&b"\""[..], b"", b"12", b"\"open"] {
            assert_eq!(content(other), None);
        }
    }
}
