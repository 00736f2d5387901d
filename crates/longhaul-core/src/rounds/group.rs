//! Groups a view into rounds.

use std::ops::Range;

use super::{Seams, ViewPiece};

/// The rounds of a view. Each is a range of its pieces, in order and without gaps.
///
/// The pieces before the first response are a round of their own if the model sees any of them. Everything else belongs
/// to the response before it: its results, and also the prompt that the user wrote next. Responses that are entangled
/// (lines of one inside the other, a result that arrived late) are one round, so a round never holds half a pair.
///
/// ```
/// use bytes::Bytes;
/// use longhaul_core::message::Entry;
/// use longhaul_core::rounds::{Rounds, ViewPiece};
///
/// let lines = [
///     r#"{"type":"user","uuid":"1","message":{"role":"user","content":"Look"}}"#,
///     r#"{"type":"assistant","uuid":"2","message":{"id":"a","role":"assistant","content":[
///         {"type":"tool_use","id":"t","name":"Read","input":{}}]}}"#,
///     r#"{"type":"user","uuid":"3","message":{"role":"user","content":[
///         {"type":"tool_result","tool_use_id":"t","content":"text"}]}}"#,
///     r#"{"type":"assistant","uuid":"4","message":{"id":"b","role":"assistant","content":[{"type":"text","text":"Done"}]}}"#,
/// ];
/// let mut pieces = Vec::new();
/// for line in lines {
///     pieces.push(ViewPiece::of_view(Entry::read(Bytes::from(line))?.view()));
/// }
/// let rounds = Rounds::of(&pieces);
/// assert_eq!(rounds.len(), 3);
/// assert_eq!(rounds.pieces(1), 1..3, "a call and its result stay together");
/// # Ok::<(), longhaul_core::message::LineDamage>(())
/// ```
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
