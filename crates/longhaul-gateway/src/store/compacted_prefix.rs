//! What stands for the beginning of a history, as it is kept.

use bytes::Bytes;
use jiff::Timestamp;
use longhaul_core::json::ObjectReader;
use longhaul_core::money::Usd;
use serde::Serialize;
use serde_json::Value;

use crate::branch::{LineId, SessionId, Tenant};

/// How a rewrite was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactedPrefixKind {
    /// Old tool results were cleared.
    Cleared,
    /// The session's notes became its summary.
    Noted,
    /// A model summed up.
    Summarised,
    /// Extracts became the summary: no model was asked, or none answered well.
    Extracted,
    /// Thinking was left out behind an earlier rewrite, when that came into use.
    Settled,
}

impl CompactedPrefixKind {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Cleared,
        Self::Noted,
        Self::Summarised,
        Self::Extracted,
        Self::Settled,
    ];

    /// Its name in the books.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cleared => "cleared",
            Self::Noted => "noted",
            Self::Summarised => "summarised",
            Self::Extracted => "extracted",
            Self::Settled => "settled",
        }
    }

    /// By its name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Behind the message where the rolling hash is `at`, `text` stands for all messages up to it.
#[derive(Debug, Clone, PartialEq)]
pub struct CompactedPrefix {
    /// Whose.
    pub tenant: Tenant,
    /// The rolling hash behind the last message that it stands for.
    pub at: u128,
    /// How many messages those are.
    pub messages: u32,
    /// What is sent for them: elements of `messages`, with commas between them.
    pub text: Bytes,
    /// The rolling hash behind the last message that is summed up in it; none if it only leaves things out.
    pub root: Option<u128>,
    /// How much of `text` stands for those.
    pub summary: usize,
    /// Transcript lines that the summary was made of.
    pub lines: Bytes,
    /// Calls whose results are cleared in the rest of `text`.
    pub cleared: Vec<String>,
    /// Whether replies that came before its first use need no more care: no thinking bound to what was replaced follows.
    pub settled: bool,
    /// How it came about.
    pub made: PrefixProvenance,
}

/// How a rewrite came about: for people.
#[derive(Debug, Clone, PartialEq)]
pub struct PrefixProvenance {
    /// In which session.
    pub session: SessionId,
    /// On which line.
    pub line: LineId,
    /// When.
    pub at: Timestamp,
    /// How.
    pub kind: CompactedPrefixKind,
    /// Tokens before.
    pub before: u64,
    /// Tokens after, estimated.
    pub after: u64,
    /// How long it took, in milliseconds.
    pub millis: u64,
    /// For how long a request waited for it, in milliseconds.
    pub waited: Option<u64>,
    /// What asking for it cost, where prices are known.
    pub cost: Option<Usd>,
    /// What was lost, as JSON.
    pub report: String,
}

/// In the report of what was settled: what that was before.
const SETTLED: &str = "settled";

impl PrefixProvenance {
    /// As the stores have it: zero says that nobody waited.
    pub(crate) fn waited_column(&self) -> u64 {
        self.waited.map_or(0, |millis| millis.max(1))
    }

    /// Read from that.
    pub(crate) fn waited_of(column: u64) -> Option<u64> {
        (column > 0).then_some(column)
    }

    /// What stands for the beginning, in the words of its kind. What was settled is what it was before.
    pub fn action(&self) -> &'static str {
        self.kind_in_use().name()
    }

    /// What the gateway has done, as the reason of a cache that breaks.
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

    /// The report of what is settled now: this one, and what it was before.
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
