//! Decides what a compaction summarizes, keeps and sends (F2, P1–P3).

use std::ops::Range;

use crate::rounds::{PieceKind, Seams, ViewPiece};

/// Which side of the pivot is summarized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PivotDirection {
    /// The part before the pivot is summarized, and the rest is kept.
    UpTo,
    /// The part from the pivot on is summarized, and the part before it is kept.
    From,
}

/// Returns the safe cut for a pivot: an index before which the view may be cut without separating a call from its
/// result, the lines of a response from each other, or reasoning from what it led to.
///
/// The cut moves so that more is kept, never less: backward if the part after the pivot is kept, forward if the part
/// before it is kept. It never lies before the first entry after the view's boundary, nor after the view's end.
pub fn safe_cut(view: &[ViewPiece], pivot: usize, direction: PivotDirection) -> usize {
    let seams = Seams::of(view);
    let floor = after_boundary(view);
    let pivot = pivot.clamp(floor, view.len());
    match direction {
        PivotDirection::UpTo => (floor..=pivot)
            .rev()
            .find(|at| seams.is_safe(*at))
            .unwrap_or(floor),
        PivotDirection::From => (pivot..=view.len())
            .find(|at| seams.is_safe(*at))
            .unwrap_or(view.len()),
    }
}

/// Returns the first entry after the last boundary.
fn after_boundary(view: &[ViewPiece]) -> usize {
    let boundary = view
        .iter()
        .rposition(|piece| piece.part == PieceKind::Boundary);
    boundary.map_or(0, |at| at + 1)
}

/// The parts into which a compaction divides a view, as ranges of its entries. The view's own boundary is in none of
/// them, because the new one replaces it. An earlier summary is an entry like any other, so summaries chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactionScope {
    /// The entries that the summarizer sees.
    pub sent: Range<usize>,
    /// The entries that the summary replaces.
    pub summarized: Range<usize>,
    /// The entries that stay word for word.
    pub kept: Range<usize>,
}

impl CompactionScope {
    /// Summarizes everything.
    pub fn whole(view: &[ViewPiece]) -> Self {
        let all = after_boundary(view)..view.len();
        Self {
            sent: all.clone(),
            summarized: all,
            kept: view.len()..view.len(),
        }
    }

    /// Summarizes one side of a pivot, from the nearest safe cut that keeps no less.
    pub fn partial(view: &[ViewPiece], pivot: usize, direction: PivotDirection) -> Self {
        let (start, end) = (after_boundary(view), view.len());
        let cut = safe_cut(view, pivot, direction);
        match direction {
            PivotDirection::UpTo => Self {
                sent: start..cut,
                summarized: start..cut,
                kept: cut..end,
            },
            // The kept part is sent too: it is cached, and the rest makes sense only with it.
            PivotDirection::From => Self {
                sent: start..end,
                summarized: cut..end,
                kept: start..cut,
            },
        }
    }

    /// Returns how many of the entries that the model saw are summarized. If there are none, there is nothing to do.
    pub fn messages(&self, view: &[ViewPiece]) -> usize {
        let summarized = view.get(self.summarized.clone()).unwrap_or_default();
        summarized
            .iter()
            .filter(|piece| piece.part.is_sent())
            .count()
    }
}
