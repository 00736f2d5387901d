//! What the detector found, and the one place that words it.

use std::fmt::{self, Write};

use jiff::Timestamp;

use super::cause::CacheMissCause;
use super::change::RequestChange;
use crate::figures::grouped;
use crate::money::Usd;

/// Less was read from the cache than could have been.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheFinding {
    /// A break, or something less severe.
    pub kind: CacheFindingKind,
    /// The query source.
    pub source: String,
    /// The requested model.
    pub model: String,
    /// When the request started.
    pub at: Timestamp,
    /// For a break: tokens that the last request read. Otherwise: tokens that it left in the cache.
    pub from: u64,
    /// Tokens that this request read.
    pub to: u64,
    /// Tokens that were in the cache, were not read, and had to be computed again.
    pub missed: u64,
    /// The cost of the missed tokens. `None` if the model's prices are not known.
    pub cost: Option<Usd>,
    /// The cause of the miss.
    pub cause: CacheMissCause,
    /// Everything that differs and may matter, in the order of the prompt.
    pub changes: Vec<RequestChange>,
    /// Seconds from the start of the last request to the start of this one.
    pub idle_seconds: i64,
    /// The changes as a readable diff, for a file.
    pub diff: String,
}

/// How severe a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheFindingKind {
    /// Clearly less was read than last time (D2).
    Break,
    /// No less was read than last time, but the part that the last request wrote was not read.
    Unread,
}

impl CacheFinding {
    /// Lost tokens: those that were read before and are not read now.
    pub fn lost(&self) -> u64 {
        self.from.saturating_sub(self.to)
    }

    /// The finding in one sentence. `diff` says where the diff can be opened.
    pub fn sentence(&self, diff: Option<&str>) -> String {
        let mut text = self.to_string();
        let others = self.changes.iter().filter(|change| match &self.cause {
            CacheMissCause::Changed(cause) => cause != *change,
            _ => true,
        });
        let others: Vec<String> = others.map(ToString::to_string).collect();
        if !others.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(text, "; also {}", others.join("; "));
        }
        if let Some(diff) = diff {
            let _ = write!(text, "; diff: {diff}");
        }
        text
    }
}

impl fmt::Display for CacheFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = (grouped(self.from), grouped(self.to));
        match self.kind {
            CacheFindingKind::Break => {
                write!(f, "cache broke: {from} tokens read last time, {to} now")?
            }
            CacheFindingKind::Unread => {
                write!(f, "cache not used: {from} tokens were in it, {to} read")?
            }
        }
        let percent = (self.lost() * 100).checked_div(self.from).unwrap_or(0);
        write!(f, " (−{percent}%")?;
        if let Some(cost) = self.cost {
            write!(f, ", cost {cost}")?;
        }
        write!(f, "): {}", self.cause)
    }
}
