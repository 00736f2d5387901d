//! Compactions, and what each removed from the view. Clearings are in `clearings.rs`.

use super::economy::EconomyReport;
use super::report::{BoundaryReport, ReplacedPart, SummaryOriginReport};
use crate::hash::Set;
use crate::message::Subtype;
use crate::tokens::Estimate;
use crate::transcript::{BoundaryNote, ResolvedConversation, TranscriptRow, TranscriptTable};

pub(super) fn compactions(
    table: &TranscriptTable,
    conversation: &ResolvedConversation,
) -> Vec<BoundaryReport> {
    let is_one = |note: &&BoundaryNote| {
        table.rows()[note.row as usize].subtype == Subtype::CompactBoundary
            && conversation.is_main(note.row)
    };
    let notes = table.boundaries().iter().filter(is_one);
    notes
        .map(|note| {
            let preserved = conversation.preserved_by(table, note);
            BoundaryReport {
                line: table.rows()[note.row as usize].line,
                uuid: note.uuid.clone(),
                timestamp: note.timestamp,
                trigger: note.trigger.clone(),
                pre_tokens: note.pre_tokens,
                messages_summarized: note.messages_summarized,
                replaced: replaced(table, conversation, note, &preserved),
                preserved: sent_rows(table, &preserved).count() as u64,
                summary_tokens: summary(table, note).unpadded(),
                folds: note.folds,
                made: note.made.as_deref().map(SummaryOriginReport::from),
                report: note.report.as_deref().cloned(),
                economy: EconomyReport::of(table, conversation, note),
            }
        })
        .collect()
}

fn replaced(
    table: &TranscriptTable,
    conversation: &ResolvedConversation,
    note: &BoundaryNote,
    preserved: &[u32],
) -> ReplacedPart {
    let view = conversation.view_before(table, note);
    let preserved: Set<u32> = preserved.iter().copied().collect();
    let mut gone = view.rows;
    gone.retain(|at| !preserved.contains(at));
    let rows = || sent_rows(table, &gone);
    ReplacedPart {
        entries: rows().count() as u64,
        tokens: rows()
            .map(|row| table.weight(row))
            .sum::<Estimate>()
            .padded(),
    }
}

/// The rows among some that the model sees.
fn sent_rows<'a>(
    table: &'a TranscriptTable,
    rows: &'a [u32],
) -> impl Iterator<Item = &'a TranscriptRow> {
    let rows = rows.iter().map(|at| &table.rows()[*at as usize]);
    rows.filter(|row| row.is_sent())
}

/// The summary that replaces the part before a boundary: the first one after it.
fn summary(table: &TranscriptTable, note: &BoundaryNote) -> Estimate {
    table.rows()[note.row as usize..]
        .iter()
        .skip(1)
        .take_while(|row| row.subtype != Subtype::CompactBoundary)
        .find(|row| row.flags.compact_summary)
        .map(|row| table.weight(row))
        .unwrap_or_default()
}
