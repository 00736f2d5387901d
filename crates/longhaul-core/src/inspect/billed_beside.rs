//! Entries outside the conversation that record what was billed besides it: runs of the agent that takes session notes,
//! and replies that were lost.

use super::report::{LostRepliesReport, NotesReport, UsageReport};
use crate::engine::LOST_REPLY;
use crate::message::{EntryKind, EntryView, Usage};
use crate::report::dollars;

/// The type of an entry that records a run.
const TAKEN: &str = "notes-taken";

/// What was billed besides the conversation, added up line by line.
#[derive(Debug, Default)]
pub(super) struct BilledBeside {
    notes: BillBeside,
    lost: BillBeside,
}

#[derive(Debug, Default)]
struct BillBeside {
    records: u64,
    usage: Usage,
    cost_usd: f64,
}

impl BilledBeside {
    /// Counts an entry if it records a bill.
    pub(super) fn note(&mut self, entry: EntryView<'_>) {
        if entry.facets.kind != EntryKind::Other || entry.uuid().is_some() {
            return;
        }
        let fields = crate::json::ObjectReader::new(entry.line);
        let bill = match fields.string("type").as_deref() {
            Some(TAKEN) => &mut self.notes,
            Some(LOST_REPLY) => &mut self.lost,
            _ => return,
        };
        bill.records += 1;
        if let Some(usage) = fields.get("usage").and_then(Usage::read) {
            bill.usage.add_billed(&usage);
        }
        bill.cost_usd += fields.get("costUsd").and_then(dollars).unwrap_or_default();
    }

    pub(super) fn notes(&self) -> NotesReport {
        NotesReport {
            runs: self.notes.records,
            usage: UsageReport::from(&self.notes.usage),
            cost_usd: self.notes.cost_usd,
        }
    }

    pub(super) fn lost_replies(&self) -> LostRepliesReport {
        LostRepliesReport {
            replies: self.lost.records,
            usage: UsageReport::from(&self.lost.usage),
            cost_usd: self.lost.cost_usd,
        }
    }
}
