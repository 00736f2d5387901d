//! What a compaction by notes keeps (S6): all that the notes do not cover yet, and enough before it to go on from.

use super::plan::NotesPlanInput;
use crate::message::{BlockKind, EntryView, Id, Sent};
use crate::rounds::PieceKind;
use crate::summary::{PivotDirection, safe_cut};
use crate::tokens::Estimate;
use crate::window::WindowScale;

/// How much is kept at least, and where widening ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeepWindow {
    /// Tokens to keep at least.
    pub tokens: u64,
    /// Entries with text to keep at least.
    pub spoken: usize,
    /// Tokens at which nothing more is added, whatever is missing. What the notes do not cover is kept even so.
    pub most: u64,
}

impl KeepWindow {
    /// The window at a scale (H7).
    pub fn at(scale: WindowScale) -> Self {
        Self {
            tokens: scale.apply(10_000),
            spoken: 5,
            most: scale.apply(40_000),
        }
    }
}

/// What the choice needs to know of an entry beside its [`Piece`](crate::rounds::Piece).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WeighedEntry {
    /// Its uuid.
    pub uuid: Option<Id>,
    /// What it weighs in a request.
    pub weight: Estimate,
    /// Whether it says something.
    pub spoken: EntryWords,
}

/// Whether an entry says something in words, rather than only calling tools or answering calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryWords {
    /// It has text.
    Words,
    /// It has none.
    Nothing,
}

impl WeighedEntry {
    /// What an entry is here; `weight` is that of the ledger, nothing for what is never sent.
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

/// The first entry that is kept: from `unsummarised` widened backward, never past the boundary, then to a safe cut (P3).
pub(super) fn keep_from(planning: &NotesPlanInput<'_>, unsummarised: usize) -> usize {
    let NotesPlanInput {
        pieces, entries, ..
    } = planning;
    let window = planning.keep;
    let boundary = pieces
        .iter()
        .rposition(|piece| piece.part == PieceKind::Boundary);
    let floor = boundary.map_or(0, |at| at + 1);
    let mut start = unsummarised.max(floor).min(entries.len());
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
