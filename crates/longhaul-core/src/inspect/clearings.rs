//! Clearings of tool results: those that replace a result by a marker, and those that ask the provider to leave results
//! out of its cache (U4). A record of the latter kind names all results that are left out, so only the new ones in it
//! count.

use super::economy::EconomyReport;
use super::report::{ClearingReport, ClearingWay};
use crate::hash::Set;
use crate::message::{Id, Subtype};
use crate::transcript::{BoundaryNote, ResolvedConversation, TranscriptTable};

pub(super) fn clearings(
    table: &TranscriptTable,
    conversation: &ResolvedConversation,
) -> Vec<ClearingReport> {
    let measured = MeasuredDeletions::of(table, conversation);
    let mut left_out: Set<Id> = Set::default();
    let mut clearings = Vec::new();
    let notes = table.boundaries().iter();
    for note in notes.filter(|note| conversation.is_main(note.row)) {
        let row = &table.rows()[note.row as usize];
        let (results, way, tokens_saved) = match (row.subtype, &note.cache_edits) {
            (Subtype::MicrocompactBoundary, Some(edits)) => {
                let new = edits.iter().filter(|id| !left_out.contains(id)).count();
                left_out = edits.iter().copied().collect();
                // A record without new results only ends earlier requests; it clears nothing.
                if new == 0 {
                    continue;
                }
                let saved = measured.freed(note).or(note.tokens_saved);
                (new, ClearingWay::CacheEdits, saved)
            }
            (Subtype::MicrocompactBoundary, None) => {
                left_out.clear();
                let cleared = note.cleared.len();
                (cleared, ClearingWay::Replaced, note.tokens_saved)
            }
            // Anything else that changes the view begins a new rendering, of which nothing is in the cache.
            _ => {
                left_out.clear();
                continue;
            }
        };
        clearings.push(ClearingReport {
            line: row.line,
            timestamp: note.timestamp,
            trigger: note.trigger.clone(),
            pre_tokens: note.pre_tokens,
            tokens_saved,
            results: results as u64,
            way,
            economy: EconomyReport::of(table, conversation, note),
        });
    }
    clearings
}

/// The tokens that replies report as left out of the cached prompt, by row.
struct MeasuredDeletions(Vec<(u32, u64)>);

impl MeasuredDeletions {
    fn of(table: &TranscriptTable, conversation: &ResolvedConversation) -> Self {
        let rows = (0..).zip(table.rows());
        let replies = rows.filter(|(at, row)| row.is_reply() && conversation.is_main(*at));
        let measured = replies.filter_map(|(at, row)| {
            let deleted = table.usage(row)?.cache_deleted?;
            Some((at, deleted))
        });
        Self(measured.collect())
    }

    /// How much more the first reply after a record left out than the last one before it. `None` if replies do not say.
    fn freed(&self, note: &BoundaryNote) -> Option<u64> {
        let after = self.0.partition_point(|(row, _)| *row < note.row);
        let before = after.checked_sub(1).and_then(|at| self.0.get(at));
        let before = before.map_or(0, |(_, deleted)| *deleted);
        let (_, now) = self.0.get(after)?;
        Some(now.saturating_sub(before))
    }
}
