//! Compacted prefixes as the prefix store keeps them: the bytes that replace the first messages of a history.

use bytes::Bytes;
use jiff::Timestamp;
use longhaul_core::economy::EconomyRecord;
use longhaul_core::money::Usd;
use serde::{Deserialize, Serialize};

use super::PrefixReport;
use crate::branch::{BranchId, GatewaySessionId, Tenant};

/// How a compacted prefix was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactedPrefixKind {
    /// Old tool results were cleared.
    Cleared,
    /// The session notes are used as the summary.
    Noted,
    /// A model wrote a summary. Stores and programs have it in its older spelling.
    #[serde(rename = "summarised")]
    Summarized,
    /// Extracts from the messages are used as the summary: no model was asked, or none gave a usable answer.
    Extracted,
    /// Earlier thinking was left out, because it is bound to messages that an earlier prefix replaces (N2).
    Settled,
}

impl CompactedPrefixKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [
        Self::Cleared,
        Self::Noted,
        Self::Summarized,
        Self::Extracted,
        Self::Settled,
    ];

    /// The name of the kind in the usage log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cleared => "cleared",
            Self::Noted => "noted",
            Self::Summarized => "summarised",
            Self::Extracted => "extracted",
            Self::Settled => "settled",
        }
    }

    /// The kind with this name, if there is one.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

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

/// How, when and at what cost a compacted prefix was made.
#[derive(Debug, Clone, PartialEq)]
pub struct PrefixProvenance {
    /// The session in which the prefix was made.
    pub session: GatewaySessionId,
    /// The branch on which the prefix was made.
    pub line: BranchId,
    /// When the prefix was made.
    pub at: Timestamp,
    /// The kind of prefix.
    pub kind: CompactedPrefixKind,
    /// Tokens before the compaction.
    pub before: u64,
    /// Estimated tokens after the compaction.
    pub after: u64,
    /// How long the compaction took, in milliseconds.
    pub millis: u64,
    /// How long a request waited for the prefix, in milliseconds; `None` if no request waited.
    pub waited: Option<u64>,
    /// The cost of the model requests for the prefix, if there were any and prices are known.
    pub cost: Option<Usd>,
    /// What is reported of it.
    pub report: PrefixReport,
}

/// Identifies how a prefix was made: written as `BRANCH.MILLISECONDS.KIND` in addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PrefixMakingId {
    /// The session in which it was made.
    pub session: GatewaySessionId,
    /// The branch on which it was made.
    pub line: BranchId,
    /// When it was made, in milliseconds since 1970: stores keep no more.
    pub millis: i64,
    /// Its kind.
    pub kind: CompactedPrefixKind,
}

impl PrefixMakingId {
    /// Reads the part of an address; `None` if it is none.
    pub fn read(session: GatewaySessionId, text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let (line, millis, kind) = (parts.next()?, parts.next()?, parts.next()?);
        parts.next().is_none().then_some(())?;
        Some(Self {
            session,
            line: line.parse().ok()?,
            millis: millis.parse().ok()?,
            kind: CompactedPrefixKind::of(kind)?,
        })
    }
}

impl std::fmt::Display for PrefixMakingId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.line, self.millis, self.kind.name())
    }
}

impl PrefixProvenance {
    /// What identifies how the prefix was made.
    pub fn making(&self) -> PrefixMakingId {
        PrefixMakingId {
            session: self.session,
            line: self.line,
            millis: self.at.as_millisecond(),
            kind: self.kind,
        }
    }

    /// The kind of the prefix that this one settles; `None` if it settles none.
    pub fn settles(&self) -> Option<CompactedPrefixKind> {
        let is_settled = self.kind == CompactedPrefixKind::Settled;
        let former = is_settled.then(|| self.kind_before_settling());
        former.filter(|kind| *kind != CompactedPrefixKind::Settled)
    }

    /// The name of the action that made the prefix. For a settled prefix, this is the action before it was settled.
    pub fn action(&self) -> &'static str {
        self.kind_before_settling().name()
    }

    /// Says in words what the gateway did, to explain a cache break.
    pub fn in_words(&self) -> &'static str {
        match self.kind_before_settling() {
            CompactedPrefixKind::Cleared => "the gateway cleared old tool results",
            CompactedPrefixKind::Noted => {
                "the gateway put the session's notes in place of older messages"
            }
            CompactedPrefixKind::Summarized => {
                "the gateway put a summary in place of older messages"
            }
            CompactedPrefixKind::Extracted => "the gateway put extracts in place of older messages",
            CompactedPrefixKind::Settled => "the gateway left out earlier thinking",
        }
    }

    /// The kind of the prefix, or, if it was settled, its kind before that, if its report holds one.
    fn kind_before_settling(&self) -> CompactedPrefixKind {
        if self.kind != CompactedPrefixKind::Settled {
            return self.kind;
        }
        self.report.settled.unwrap_or(CompactedPrefixKind::Settled)
    }

    /// The decision by price that led to the prefix, if one did (V6).
    pub fn economy(&self) -> Option<&EconomyRecord> {
        self.report.economy.as_ref()
    }

    /// The report for the prefix that settling this one results in: the same report, with the kind of this prefix and
    /// without the list of what went, which is in the report of this one.
    pub fn settled_report(&self) -> PrefixReport {
        match self.kind_before_settling() {
            CompactedPrefixKind::Settled => self.report.clone(),
            former => PrefixReport {
                settled: Some(former),
                went: None,
                ..self.report.clone()
            },
        }
    }
}
