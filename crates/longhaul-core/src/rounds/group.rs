//! Groups a view into rounds.

use std::ops::Range;

use super::{Seams, ViewPiece};

/// The rounds of a view. Each is a range of its pieces, in order and without gaps.
///
/// The pieces before the first response are a round of their own if the model sees any of them. Everything else belongs
/// to the response before it: its results, and also the prompt that the user wrote next. Responses that are entangled
/// (lines of one inside the other, a result that arrived late) are one round, so a round never holds half a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rounds {
    starts: Vec<usize>,
    len: usize,
}

impl Rounds {
    /// Groups a view.
    pub fn of(pieces: &[ViewPiece]) -> Self {
        let seams = Seams::of(pieces);
        let begins = |at: &usize| pieces[*at].part.is_response() && seams.is_safe(*at);
        let mut starts: Vec<usize> = (0..pieces.len()).filter(begins).collect();
        let before = &pieces[..starts.first().copied().unwrap_or(pieces.len())];
        if before.iter().any(|piece| piece.part.is_sent()) {
            starts.insert(0, 0);
        } else if let Some(first) = starts.first_mut() {
            *first = 0;
        }
        Self {
            starts,
            len: pieces.len(),
        }
    }

    /// The number of rounds.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are no rounds because the model sees nothing of the view.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Returns the range of a round's pieces; empty after the last round.
    pub fn pieces(&self, round: usize) -> Range<usize> {
        self.start(round)..self.start(round + 1)
    }

    /// Returns the index at which a round begins; after the last round, the end of the view.
    pub(super) fn start(&self, round: usize) -> usize {
        self.starts.get(round).copied().unwrap_or(self.len)
    }
}
