//! How, when and at what cost a compacted prefix was made, and what identifies that.

use jiff::Timestamp;
use longhaul_core::economy::EconomyRecord;
use longhaul_core::money::Usd;

use super::{CompactedPrefixKind, PrefixReport};
use crate::branch::{BranchId, GatewaySessionId};

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
