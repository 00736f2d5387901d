//! Runs of the agent that takes session notes: entries outside the conversation that record what each run cost.

use super::report::{NotesReport, UsageReport};
use crate::message::{EntryKind, EntryView, Usage};
use crate::report::dollars;

/// The type of an entry that records a run.
const TAKEN: &str = "notes-taken";

/// The cost of the runs, added up line by line.
#[derive(Debug, Default)]
pub(super) struct NotesBill {
    runs: u64,
    usage: Usage,
    cost_usd: f64,
}

impl NotesBill {
    /// Counts an entry if it records a run.
    pub(super) fn note(&mut self, entry: EntryView<'_>) {
        if entry.facets.kind != EntryKind::Other || entry.uuid().is_some() {
            return;
        }
        let fields = crate::json::ObjectReader::new(entry.line);
        if fields.string("type").as_deref() != Some(TAKEN) {
            return;
        }
        self.runs += 1;
        if let Some(usage) = fields.get("usage").and_then(Usage::read) {
            self.usage.add_billed(&usage);
        }
        self.cost_usd += fields.get("costUsd").and_then(dollars).unwrap_or_default();
    }

    pub(super) fn report(&self) -> NotesReport {
        NotesReport {
            runs: self.runs,
            usage: UsageReport::from(&self.usage),
            cost_usd: self.cost_usd,
        }
    }
}
