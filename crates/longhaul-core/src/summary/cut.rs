//! What a compaction sums up, what it keeps and what it sends (F2, P1–P3).

use std::ops::Range;

use crate::rounds::{PieceKind, Seams, ViewPiece};

/// Which side of the pivot is summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PivotDirection {
    /// What lies before it; the rest is kept.
    UpTo,
    /// What lies from it on; the part before is kept.
    From,
}

/// The safe cut for a pivot: an index of the view before which it may be cut without parting a call from its result,
/// the lines of a response from each other, or reasoning from what it led to.
///
/// The cut moves so that more is kept, never less: backward where the part behind the pivot is kept, forward where the
/// part before it is. It never lies before the view's first entry behind its boundary, nor behind its end.
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

/// The first entry behind the last boundary.
fn after_boundary(view: &[ViewPiece]) -> usize {
    let boundary = view
        .iter()
        .rposition(|piece| piece.part == PieceKind::Boundary);
    boundary.map_or(0, |at| at + 1)
}

/// The parts that a compaction makes of a view, as ranges of its entries. The view's own boundary is in none of them:
/// the new one takes its place. An earlier summary is an entry like any other, so summaries chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactionScope {
    /// What the summariser is shown.
    pub sent: Range<usize>,
    /// What the summary replaces.
    pub summarised: Range<usize>,
    /// What stays word for word.
    pub kept: Range<usize>,
}

impl CompactionScope {
    /// Everything is summed up.
    pub fn whole(view: &[ViewPiece]) -> Self {
        let all = after_boundary(view)..view.len();
        Self {
            sent: all.clone(),
            summarised: all,
            kept: view.len()..view.len(),
        }
    }

    /// One side of a pivot is summed up, from the nearest safe cut that keeps no less.
    pub fn partial(view: &[ViewPiece], pivot: usize, direction: PivotDirection) -> Self {
        let (start, end) = (after_boundary(view), view.len());
        let cut = safe_cut(view, pivot, direction);
        match direction {
            PivotDirection::UpTo => Self {
                sent: start..cut,
                summarised: start..cut,
                kept: cut..end,
            },
            // The part that is kept is sent too: it is cached, and the rest makes sense only with it.
            PivotDirection::From => Self {
                sent: start..end,
                summarised: cut..end,
                kept: start..cut,
            },
        }
    }

    /// How many entries that the model saw are summed up. With none there is nothing to do.
    pub fn messages(&self, view: &[ViewPiece]) -> usize {
        let summarised = view.get(self.summarised.clone()).unwrap_or_default();
        summarised
            .iter()
            .filter(|piece| piece.part.is_sent())
            .count()
    }
}
