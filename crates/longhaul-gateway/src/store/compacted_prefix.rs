//! Compacted prefixes as the prefix store keeps them: the bytes that replace the first messages of a history.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{PrefixProvenance, Sealable};
use crate::branch::{Seal, SealKey, Tenant};

/// The bytes that are sent in place of the beginning of a history: `text` replaces all messages up to the one after
/// which the history's rolling hash is `at`.
#[derive(Debug, Clone, PartialEq)]
pub struct CompactedPrefix {
    /// The tenant that owns the history.
    pub tenant: Tenant,
    /// The rolling hash after the last replaced message.
    pub at: u128,
    /// How many messages are replaced.
    pub messages: u32,
    /// The replacement: elements for the request's `messages` array, separated by commas.
    pub text: Bytes,
    /// The rolling hash after the last summarized message; `None` if the prefix has no summary.
    pub root: Option<u128>,
    /// How many bytes at the beginning of `text` are the summary.
    pub summary: usize,
    /// The transcript lines from which the summary was made.
    pub lines: Bytes,
    /// The ids of the tool calls with cleared results in the rest of `text`.
    pub cleared: Vec<String>,
    /// How the messages after the summary are made from the client's; `None` if `text` has them. A store has only the
    /// summary of a derived prefix.
    pub derived: Option<DerivedRest>,
    /// Whether the prefix is settled: it leaves out the thinking that is bound to the replaced messages (N2).
    pub settled: bool,
    /// How the prefix was made.
    pub made: PrefixProvenance,
}

impl CompactedPrefix {
    /// The part of it that is stored: a derived one without the messages after its summary.
    pub(crate) fn as_stored(&self) -> Self {
        let mut stored = self.clone();
        if stored.derived.is_some() {
            stored.text = stored.text.slice(..stored.summary);
        }
        stored
    }

    /// The value of `derived` in a column of a store.
    pub(crate) fn derived_column(&self) -> Option<String> {
        let derived = self.derived.as_ref()?;
        serde_json::to_string(derived).ok()
    }
}

impl Sealable for CompactedPrefix {
    fn seal(&self, key: &SealKey) -> Seal {
        let root = self.root.map(u128::to_le_bytes).unwrap_or_default();
        let rooted = [u8::from(self.root.is_some()), u8::from(self.settled)];
        let cleared = self.cleared.iter().map(String::as_bytes);
        let mut parts: Vec<&[u8]> = cleared.collect();
        let (at, messages) = (self.at.to_le_bytes(), self.messages.to_le_bytes());
        let summary = (self.summary as u64).to_le_bytes();
        parts.extend([
            &b"rewrite"[..],
            &at,
            &messages,
            &self.text,
            &rooted,
            &root,
            &summary,
            &self.lines,
            self.made.kind.name().as_bytes(),
        ]);
        // An earlier version would send a derived prefix without its messages: to that, the seal is broken.
        let derived = self.derived_column();
        if let Some(derived) = &derived {
            parts.push(derived.as_bytes());
        }
        key.seal(&parts)
    }
}

/// How the part of a prefix after its summary is made from the client's own messages: with the results cleared that
/// [`CompactedPrefix::cleared`] names, and without the thinking in some spans.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DerivedRest {
    /// The rolling hash after the first message that differs from what was sent before this prefix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_from: Option<HistoryHash>,
    /// The spans of messages without thinking (N2), in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stripped: Vec<StrippedSpan>,
}

impl DerivedRest {
    /// The rest after another span of messages lost its thinking.
    pub(crate) fn stripping(&self, span: StrippedSpan) -> Self {
        let mut stripped = self.stripped.clone();
        stripped.push(span);
        Self {
            changed_from: None,
            stripped,
        }
    }
}

/// A span of messages, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StrippedSpan {
    /// The rolling hash after its first message.
    pub from: HistoryHash,
    /// The rolling hash after its last message.
    pub to: HistoryHash,
}

/// A rolling hash, written as hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct HistoryHash(pub u128);

impl From<HistoryHash> for String {
    fn from(hash: HistoryHash) -> Self {
        format!("{:032x}", hash.0)
    }
}

impl TryFrom<String> for HistoryHash {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        u128::from_str_radix(&text, 16).map(Self)
    }
}
