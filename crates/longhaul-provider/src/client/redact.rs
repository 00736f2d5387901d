//! Keeps keys out of the messages of servers.

use std::fmt;

use crate::key::HIDDEN;

/// Removes secrets from texts that others wrote: servers quote keys back, completely or in part.
#[derive(Clone, Default)]
pub struct Redactor {
    secrets: Vec<String>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor")
    }
}

/// Shorter secrets are not searched for: they would be found inside ordinary words.
const SHORTEST: usize = 6;

impl Redactor {
    /// Removes these secrets, and whatever looks like a key.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let long_enough = secrets
            .into_iter()
            .filter(|secret| secret.len() >= SHORTEST);
        Self {
            secrets: long_enough.map(str::to_owned).collect(),
        }
    }

    /// The text without secrets.
    pub fn redact(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            text = text.replace(secret, HIDDEN);
        }
        hide_key_shapes(&text)
    }
}

/// Hides what looks like a key of the APIs (`sk-…`), also in the shortened forms that error messages quote.
fn hide_key_shapes(text: &str) -> String {
    let in_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '*' | '.' | '…');
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("sk-") {
        let starts_word = !rest[..at].ends_with(in_key);
        let end = rest[at..]
            .find(|c: char| !in_key(c))
            .map_or(rest.len(), |length| at + length);
        out.push_str(&rest[..at]);
        if starts_word && end - at >= 10 {
            out.push_str(HIDDEN);
        } else {
            out.push_str(&rest[at..end]);
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}
