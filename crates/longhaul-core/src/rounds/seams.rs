//! Finds where a conversation may be cut: never between a call and its result, never inside a response, never between
//! reasoning and what it led to (P3, M6).

use super::{PieceKind, ViewPiece};
use crate::hash::Map;
use crate::message::Id;

/// The positions between the pieces of a view.
#[derive(Debug)]
pub(crate) struct Seams {
    /// Whether the piece at an index must stay with the one before it.
    glued: Vec<bool>,
}

impl Seams {
    pub(crate) fn of(pieces: &[ViewPiece]) -> Self {
        let mut spans = UnbrokenSpans::new(pieces.len());
        responses(pieces, &mut spans);
        pairs(pieces, &mut spans);
        reasoning(pieces, &mut spans);
        Self {
            glued: spans.glued(),
        }
    }

    /// Whether the view may be cut before the piece at this index. The end of the view is a valid index too.
    pub(crate) fn is_safe(&self, at: usize) -> bool {
        !self.glued.get(at).copied().unwrap_or(false)
    }
}

/// Spans that must stay whole, each recorded at its two ends.
struct UnbrokenSpans {
    opens: Vec<u32>,
    closes: Vec<u32>,
}

impl UnbrokenSpans {
    fn new(len: usize) -> Self {
        Self {
            opens: vec![0; len],
            closes: vec![0; len],
        }
    }

    /// Joins the pieces from one index to the other, in either order.
    fn join(&mut self, one: usize, other: usize) {
        if one != other {
            self.opens[one.min(other)] += 1;
            self.closes[one.max(other)] += 1;
        }
    }

    fn glued(self) -> Vec<bool> {
        let mut open = 0;
        let ends = self.opens.into_iter().zip(self.closes);
        ends.map(|(opens, closes)| {
            let glued = open > 0;
            open = open + opens - closes;
            glued
        })
        .collect()
    }
}

/// Joins the lines of a response and everything between them.
fn responses(pieces: &[ViewPiece], spans: &mut UnbrokenSpans) {
    let mut last: Map<Id, usize> = Map::default();
    for (at, piece) in pieces.iter().enumerate() {
        if let Some(message) = piece.part.message()
            && let Some(before) = last.insert(message, at)
        {
            spans.join(before, at);
        }
    }
}

/// Joins calls and their results. A result answers the newest call with its id before it, because some programs reuse
/// ids. If there is none, it answers the first such call after it, because damaged files may have them in the wrong
/// order.
fn pairs(pieces: &[ViewPiece], spans: &mut UnbrokenSpans) {
    let mut calls: Map<Id, usize> = Map::default();
    let mut early: Map<Id, usize> = Map::default();
    for (at, piece) in pieces.iter().enumerate() {
        for call in &piece.calls {
            calls.insert(*call, at);
            if let Some(result) = early.remove(call) {
                spans.join(result, at);
            }
        }
        for call in &piece.answers {
            match calls.get(call) {
                Some(made) => spans.join(*made, at),
                None => {
                    early.entry(*call).or_insert(at);
                }
            }
        }
    }
}

/// Joins reasoning on a line of its own to the line after it, even if neither has a message id.
fn reasoning(pieces: &[ViewPiece], spans: &mut UnbrokenSpans) {
    let mut waiting = None;
    for (at, piece) in pieces.iter().enumerate() {
        match piece.part {
            PieceKind::Boundary | PieceKind::Unsent => {}
            PieceKind::Input => waiting = None,
            PieceKind::Response(_) | PieceKind::Reasoning(_) => {
                if let Some(before) = waiting {
                    spans.join(before, at);
                }
                waiting = matches!(piece.part, PieceKind::Reasoning(_)).then_some(at);
            }
        }
    }
}
