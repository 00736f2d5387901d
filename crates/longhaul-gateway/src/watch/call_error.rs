//! Why a call failed, as the upstream says it: read from an error's body or from an event in a stream, cleaned for the
//! usage log.
//!
//! An upstream may repeat a part of the request in its message, and a part of a key. The type of an error is one of a few
//! words and is kept of every call; its message only of conversations whose text may be kept, without credentials.

use longhaul_core::json::{self, ObjectReader};

use crate::branch::Credentials;

/// The longest type that is kept, and the longest message, in characters.
const LONGEST_KIND: usize = 64;
const LONGEST: usize = 300;
/// Credentials that are shorter are not looked for: they would cut words apart.
const SHORTEST_SECRET: usize = 6;
/// How a word of this length looks that may be a key: see [`may_be_key`].
const KEY: usize = 20;
const HEXADECIMAL_KEY: usize = 32;
/// What stands for a word that may be a key.
const CUT: &str = "…";

/// An error that an upstream reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallError {
    kind: Option<String>,
    message: Option<String>,
}

/// Whether the message of an error may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorDetail {
    /// Type and message.
    Message,
    /// The type alone: nothing that was said in the conversation may be kept.
    Kind,
}

impl CallError {
    /// Reads an error in any of the usual shapes; `None` if the text is none.
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        let object = ObjectReader::new(text);
        let whole = object.get("error").filter(|error| *error != b"null")?;
        let error = ObjectReader::new(whole);
        let named = |name| error.string(name);
        let read = Self {
            kind: named("type").or_else(|| named("code")).map(Into::into),
            message: named("message")
                .or_else(|| json::text(whole))
                .map(Into::into),
        };
        (read.kind.is_some() || read.message.is_some()).then_some(read)
    }

    /// The error in one line, without credentials; `None` if nothing of it may be kept.
    pub(crate) fn told(&self, detail: ErrorDetail, secrets: &Credentials) -> Option<String> {
        let kind = self.kind.as_ref().filter(|kind| is_kind(kind));
        let message = self
            .message
            .as_ref()
            .filter(|_| detail == ErrorDetail::Message);
        let message = message.map(|message| cleaned(message, secrets));
        match (kind, message) {
            (Some(kind), Some(message)) => Some(format!("{kind}: {message}")),
            (Some(kind), None) => Some(kind.clone()),
            (None, message) => message,
        }
    }
}

/// The type of an error that [`CallError::told`] made a line of; `None` if the line has none.
pub(crate) fn kind_of_told(line: &str) -> Option<&str> {
    let kind = line.split_once(": ").map_or(line, |(kind, _)| kind);
    is_kind(kind).then_some(kind)
}

/// Whether a text is the name of a type, and no sentence.
fn is_kind(text: &str) -> bool {
    let letter = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    text.len() <= LONGEST_KIND && text.chars().all(letter)
}

/// A message in one line of bounded length, without credentials and without words that may be some.
fn cleaned(message: &str, secrets: &Credentials) -> String {
    let line = without_secrets(message, secrets);
    match line.char_indices().nth(LONGEST) {
        None => line,
        Some((end, _)) => format!("{}{CUT}", line.get(..end).unwrap_or_default()),
    }
}

/// A text in one line, without credentials and without words that may be some.
pub(crate) fn without_secrets(message: &str, secrets: &Credentials) -> String {
    let mut message = message.to_owned();
    for (_, value) in secrets.iter() {
        let value = String::from_utf8_lossy(value);
        let words = value.split_whitespace();
        for secret in words.filter(|word| word.len() >= SHORTEST_SECRET) {
            message = message.replace(secret, CUT);
        }
    }
    let words = message.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let words = words.filter(|word| !word.is_empty()).map(without_keys);
    words.collect::<Vec<_>>().join(" ")
}

/// A word whose parts that may be keys are left out.
fn without_keys(word: &str) -> String {
    let mut kept = String::new();
    let mut rest = word;
    while !rest.is_empty() {
        let end = rest.find(|letter| !is_of_key(letter)).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        kept.push_str(if may_be_key(part) { CUT } else { part });
        let next = after.chars().next();
        kept.extend(next);
        rest = after
            .get(next.map_or(0, char::len_utf8)..)
            .unwrap_or_default();
    }
    kept
}

fn is_of_key(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '*' | '+' | '/' | '=')
}

/// Whether a run of letters may be a key: it begins like one, parts of it are hidden, or it is as long and as mixed as
/// one. Names of models are in small letters.
fn may_be_key(part: &str) -> bool {
    let has = |of: fn(&char) -> bool| part.chars().any(|letter| of(&letter));
    let is_mixed =
        has(char::is_ascii_lowercase) && has(char::is_ascii_uppercase) && has(char::is_ascii_digit);
    let begins = ["sk-", "sk_", "pk_", "gsk_", "xai-", "hf_", "AIza", "eyJ"];
    let is_hexadecimal = part
        .chars()
        .all(|letter| letter.is_ascii_hexdigit() || letter == '-');
    (part.len() > SHORTEST_SECRET && begins.iter().any(|begin| part.starts_with(begin)))
        || (part.len() > SHORTEST_SECRET && part.contains("**"))
        || (part.len() >= KEY && is_mixed)
        || (part.len() >= HEXADECIMAL_KEY && is_hexadecimal)
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;

    fn told(text: &str, detail: ErrorDetail) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert("x-api-key", "my own secret-word".parse().unwrap());
        CallError::read(text.as_bytes())?.told(detail, &Credentials::of(&headers, None))
    }

    #[test]
    fn n8_an_error_is_one_line_without_anything_that_may_be_a_key() {
        for (message, said) in [
            ("Overloaded", "Overloaded"),
            (
                "model: claude-sonnet-4-5-20250929",
                "model: claude-sonnet-4-5-20250929",
            ),
            (
                "Incorrect API key provided: sk-proj-ab12.",
                "Incorrect API key provided: ….",
            ),
            ("key ab****************9Z is wrong", "key … is wrong"),
            ("not `Zm9vYmFyQmF6MTIzNDU2Nzg5`", "not `…`"),
            ("0123456789abcdef0123456789abcdef", "…"),
            (
                "the key secret-word\\n\\u001b[31mis wrong",
                "the key … [31mis wrong",
            ),
        ] {
            let text =
                format!(r#"{{"type":"error","error":{{"type":"a_error","message":"{message}"}}}}"#);
            let error = told(&text, ErrorDetail::Message).unwrap();
            assert_eq!(error, format!("a_error: {said}"));
            assert_eq!(told(&text, ErrorDetail::Kind).as_deref(), Some("a_error"));
            assert_eq!(kind_of_told(&error), Some("a_error"));
        }
        let long = format!(r#"{{"error":{{"message":"{}"}}}}"#, "word ".repeat(900));
        assert_eq!(
            told(&long, ErrorDetail::Message).unwrap().chars().count(),
            LONGEST + 1
        );
        assert_eq!(told(&long, ErrorDetail::Kind), None);
    }

    #[test]
    fn errors_are_read_in_the_usual_shapes_and_replies_are_none() {
        let of = |text: &str| told(text, ErrorDetail::Message);
        assert_eq!(
            of(r#"{"error":"no such model"}"#).as_deref(),
            Some("no such model")
        );
        assert_eq!(kind_of_told("no such model"), None);
        assert_eq!(
            of(r#"{"error":{"code":"rate_limit"}}"#).as_deref(),
            Some("rate_limit")
        );
        assert_eq!(of(r#"{"error":{"type":"what the user said"}}"#), None);
        for none in [
            r#"{"error":null}"#,
            r#"{"content":[]}"#,
            "<html>",
            "[]",
            "{\"error\":{}}",
        ] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
