//! What the compactions of some conversations lost, added up from their reports.

use std::collections::HashMap;

use longhaul_core::report::LossReport;
use serde::{Deserialize, Serialize};

use crate::branch::BranchId;
use crate::store::{CompactedPrefixKind, PrefixProvenance};

/// What is no longer sent word for word. The client still has all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LossTotals {
    /// Tool results; one that was first cleared and then summarized may count twice.
    pub results: u64,
    /// Messages of the user that were shortened.
    pub messages_shortened: u64,
    /// Messages of the user that were left out.
    pub messages_omitted: u64,
    /// Rules of the user that are not there word for word.
    pub rules: u64,
    /// Files that were neither restored nor named.
    pub files: u64,
}

impl LossTotals {
    /// Adds up the reports of compactions, given oldest first. Each compaction clears results of its own; what it says of
    /// messages, rules and files holds for the whole branch, so the last one counts.
    pub fn of<'m>(made: impl IntoIterator<Item = &'m PrefixProvenance>) -> Self {
        let mut total = Self::default();
        let mut newest: HashMap<BranchId, &LossReport> = HashMap::new();
        for made in made {
            if made.kind == CompactedPrefixKind::Settled {
                continue;
            }
            let Some(report) = &made.report.loss else {
                continue;
            };
            total.results += report.results.cleared;
            // A clearing says nothing of messages.
            if made.kind != CompactedPrefixKind::Cleared {
                newest.insert(made.line, report);
            }
        }
        for report in newest.values() {
            total.messages_shortened += report.user_messages.shortened;
            total.messages_omitted += report.user_messages.omitted;
            total.rules += report.rules.total.saturating_sub(report.rules.verbatim);
            total.files += report.files.left_out;
        }
        total
    }

    /// Adds what another gateway's compactions lost.
    pub fn add(&mut self, other: &Self) {
        self.results += other.results;
        self.messages_shortened += other.messages_shortened;
        self.messages_omitted += other.messages_omitted;
        self.rules += other.rules;
        self.files += other.files;
    }

    /// Whether nothing was lost.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}
