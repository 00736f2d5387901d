//! Decides what a compaction by notes keeps (S6): everything that the notes do not cover yet, and enough before it to
//! continue from.

use crate::message::{BlockKind, EntryView, Id, Sent};
use crate::rounds::{PieceKind, ViewPiece};
use crate::summary::{PivotDirection, safe_cut};
use crate::tokens::Estimate;
use crate::window::WindowScale;

/// The minimum to keep, and the limit of widening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeepWindow {
    /// The minimum number of tokens to keep.
    pub tokens: u64,
    /// The minimum number of entries with text to keep.
    pub spoken: usize,
    /// The number of tokens at which nothing more is added, whatever is missing. Entries that the notes do not cover
    /// are kept even so.
    pub most: u64,
}

impl KeepWindow {
    /// Returns the window at a scale (H7).
    pub fn at(scale: WindowScale) -> Self {
        Self {
            tokens: scale.apply(10_000),
            spoken: 5,
            most: scale.apply(40_000),
        }
    }
}

/// The facts about an entry that the choice needs beside its [`ViewPiece`](crate::rounds::ViewPiece).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WeighedEntry {
    /// The entry's uuid.
    pub uuid: Option<Id>,
    /// The entry's weight in a request.
    pub weight: Estimate,
    /// Whether the entry has text.
    pub spoken: EntryWords,
}

/// Whether an entry has text, rather than only tool calls or results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryWords {
    /// The entry has text.
    Words,
    /// The entry has no text.
    Nothing,
}

impl WeighedEntry {
    /// Creates the facts about an entry. `weight` is its weight in the ledger; it is zero for an entry that is never
    /// sent.
    pub fn of_view(entry: EntryView<'_>, weight: Estimate) -> Self {
        let speaks = matches!(entry.sent(), Some(Sent::Input | Sent::Reply));
        let mut blocks = entry.facets.blocks.iter();
        let text =
            blocks.any(|block| block.kind == BlockKind::Text && !block.inner && !block.blank);
        Self {
            uuid: entry.uuid(),
            weight,
            spoken: if speaks && text {
                EntryWords::Words
            } else {
                EntryWords::Nothing
            },
        }
    }
}

/// Returns the first entry that is kept: widened backward from `unsummarized`, never past the boundary, then to a safe
/// cut (P3).
pub(super) fn keep_from(
    pieces: &[ViewPiece],
    entries: &[WeighedEntry],
    window: KeepWindow,
    unsummarized: usize,
) -> usize {
    let boundary = pieces
        .iter()
        .rposition(|piece| piece.part == PieceKind::Boundary);
    let floor = boundary.map_or(0, |at| at + 1);
    let mut start = unsummarized.max(floor).min(entries.len());
    let mut weight: Estimate = entries[start..].iter().map(|entry| entry.weight).sum();
    let spoken = |entry: &&WeighedEntry| entry.spoken == EntryWords::Words;
    let mut words = entries[start..].iter().filter(spoken).count();
    while start > floor {
        let tokens = weight.padded();
        if tokens >= window.most || tokens >= window.tokens && words >= window.spoken {
            break;
        }
        start -= 1;
        weight += entries[start].weight;
        words += usize::from(entries[start].spoken == EntryWords::Words);
    }
    safe_cut(pieces, start, PivotDirection::UpTo)
}
