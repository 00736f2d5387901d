//! Compacted prefixes, as they are stored.

use bytes::Bytes;
use jiff::Timestamp;
use longhaul_core::json::ObjectReader;
use longhaul_core::money::Usd;
use serde::Serialize;
use serde_json::Value;

use crate::branch::{BranchId, GatewaySessionId, Tenant};

/// How a compacted prefix was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactedPrefixKind {
    /// Old tool results were cleared.
    Cleared,
    /// The session's notes became its summary.
    Noted,
    /// A model wrote a summary.
    Summarised,
    /// Extracts became the summary: no model was asked, or none gave a good answer.
    Extracted,
    /// Thinking was left out after an earlier prefix, when that came into use.
    Settled,
}

impl CompactedPrefixKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [
        Self::Cleared,
        Self::Noted,
        Self::Summarised,
        Self::Extracted,
        Self::Settled,
    ];

    /// The name of the kind in the usage log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cleared => "cleared",
            Self::Noted => "noted",
            Self::Summarised => "summarised",
            Self::Extracted => "extracted",
            Self::Settled => "settled",
        }
    }

    /// The kind with this name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Up to the message where the rolling hash is `at`, `text` replaces all messages.
#[derive(Debug, Clone, PartialEq)]
pub struct CompactedPrefix {
    /// The tenant that owns the history.
    pub tenant: Tenant,
    /// The rolling hash after the last replaced message.
    pub at: u128,
    /// How many messages are replaced.
    pub messages: u32,
    /// What is sent instead: elements of `messages`, separated by commas.
    pub text: Bytes,
    /// The rolling hash after the last summarized message; `None` if the prefix only leaves things out.
    pub root: Option<u128>,
    /// How many bytes of `text` are the summary.
    pub summary: usize,
    /// Transcript lines from which the summary was made.
    pub lines: Bytes,
    /// The ids of the calls whose results are cleared in the rest of `text`.
    pub cleared: Vec<String>,
    /// Whether the replies before its first use are settled: no thinking follows that is bound to what was replaced.
    pub settled: bool,
    /// How the prefix was made.
    pub made: PrefixProvenance,
}

/// How a compacted prefix was made, in a form for people.
#[derive(Debug, Clone, PartialEq)]
pub struct PrefixProvenance {
    /// The session in which it was made.
    pub session: GatewaySessionId,
    /// The branch on which it was made.
    pub line: BranchId,
    /// When it was made.
    pub at: Timestamp,
    /// The kind of prefix.
    pub kind: CompactedPrefixKind,
    /// Tokens before the compaction.
    pub before: u64,
    /// Estimated tokens after the compaction.
    pub after: u64,
    /// How long it took, in milliseconds.
    pub millis: u64,
    /// How long a request waited for it, in milliseconds.
    pub waited: Option<u64>,
    /// The cost of requesting it, if prices are known.
    pub cost: Option<Usd>,
    /// The report of what was lost, as JSON.
    pub report: String,
}

/// The field in the report of a settled prefix that holds its former kind.
const SETTLED: &str = "settled";

impl PrefixProvenance {
    /// The value in the stores: zero means that no request waited.
    pub(crate) fn waited_column(&self) -> u64 {
        self.waited.map_or(0, |millis| millis.max(1))
    }

    /// Reads the value from the stores.
    pub(crate) fn waited_of(column: u64) -> Option<u64> {
        (column > 0).then_some(column)
    }

    /// The name of the action that made the prefix. A settled prefix counts as its former kind.
    pub fn action(&self) -> &'static str {
        self.kind_in_use().name()
    }

    /// What the gateway has done, as the reason for a cache break.
    pub fn in_words(&self) -> &'static str {
        match self.kind_in_use() {
            CompactedPrefixKind::Cleared => "the gateway cleared old tool results",
            CompactedPrefixKind::Noted => {
                "the gateway put the session's notes in place of older messages"
            }
            CompactedPrefixKind::Summarised => {
                "the gateway put a summary in place of older messages"
            }
            CompactedPrefixKind::Extracted => "the gateway put extracts in place of older messages",
            CompactedPrefixKind::Settled => "the gateway left out earlier thinking",
        }
    }

    fn kind_in_use(&self) -> CompactedPrefixKind {
        if self.kind != CompactedPrefixKind::Settled {
            return self.kind;
        }
        let report = ObjectReader::new(self.report.as_bytes());
        let before = report
            .string(SETTLED)
            .and_then(|name| CompactedPrefixKind::of(&name));
        before.unwrap_or(CompactedPrefixKind::Settled)
    }

    /// The report of the settled prefix: this one, with its former kind.
    pub fn settled_report(&self) -> String {
        let name = self.action();
        match serde_json::from_str(&self.report) {
            Ok(Value::Object(mut report)) if name != CompactedPrefixKind::Settled.name() => {
                report.insert(SETTLED.to_owned(), name.into());
                Value::Object(report).to_string()
            }
            _ => self.report.clone(),
        }
    }
}
