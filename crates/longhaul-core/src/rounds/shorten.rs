//! Drops the oldest rounds of a request to summarize that is itself too long (L1–L3).
//!
//! Nothing is dropped from the conversation, only from this one request. The marker that may have to come first is
//! never part of the pieces, so a retry groups the conversation alone and cannot mistake the marker for progress.

use super::{Rounds, ViewPiece};
use crate::tokens::Estimate;

/// The maximum number of retries after the first request.
pub const MOST_RETRIES: u32 = 3;

/// The text of the user message that replaces the dropped part.
pub const MARKER: &str = include_str!("marker.txt");

/// How the shortened request begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestLead {
    /// The request begins with an entry of the user, which can be sent as it is.
    Own,
    /// A user message with [`MARKER`] goes first, because the rest begins with a response.
    Marker,
}

/// A request after its oldest rounds were dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShortenedRequest {
    /// The number of rounds that this step dropped.
    pub rounds: usize,
    /// The weight of the dropped rounds.
    pub weight: Estimate,
    /// The index of the first piece that is still sent, together with all pieces after it.
    pub from: usize,
    /// How the request begins.
    pub lead: RequestLead,
}

/// Why a request cannot be made shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShorteningExhausted {
    /// Only one round is left.
    #[error("the newest part of the conversation alone is too long to be summarized by this model")]
    NothingLeft,
    /// The maximum number of retries was reached.
    #[error(
        "the conversation was still too long to be summarized after {MOST_RETRIES} attempts to shorten it"
    )]
    TooManyRetries,
}

/// Drops the oldest rounds of a view.
///
/// `gap` is the number of the provider's tokens by which the request was too long, if its error says so: rounds are
/// dropped until their padded estimate covers it. Without `gap`, a fifth of the rounds is dropped. At least one round
/// is dropped, and at least one is kept.
///
/// # Errors
/// Fails if only one round is left: nothing can be dropped without losing the newest part.
pub fn drop_oldest(
    pieces: &[ViewPiece],
    weights: &[Estimate],
    gap: Option<u64>,
) -> Result<ShortenedRequest, ShorteningExhausted> {
    let rounds = Rounds::of(pieces);
    let most = rounds.len().saturating_sub(1);
    if most == 0 {
        return Err(ShorteningExhausted::NothingLeft);
    }
    let unmeasured = (rounds.len() / 5).max(1);
    let (mut dropped, mut weight) = (0, Estimate::ZERO);
    while dropped < most {
        let pieces = rounds.pieces(dropped);
        weight += weights
            .get(pieces)
            .unwrap_or_default()
            .iter()
            .copied()
            .sum();
        dropped += 1;
        let enough = match gap {
            Some(gap) => weight.padded() >= gap,
            None => dropped >= unmeasured,
        };
        if enough {
            break;
        }
    }
    let from = rounds.start(dropped);
    let first = pieces[from..].iter().find(|piece| piece.part.is_sent());
    Ok(ShortenedRequest {
        rounds: dropped,
        weight,
        from,
        lead: if first.is_some_and(|piece| piece.part.is_response()) {
            RequestLead::Marker
        } else {
            RequestLead::Own
        },
    })
}

/// The retries of one request.
#[derive(Debug, Clone)]
pub struct RequestShortening<'a> {
    pieces: &'a [ViewPiece],
    weights: &'a [Estimate],
    from: usize,
    retries: u32,
}

impl<'a> RequestShortening<'a> {
    /// Creates the retries for a request with all these pieces; `weights` are theirs, in order.
    pub fn new(pieces: &'a [ViewPiece], weights: &'a [Estimate]) -> Self {
        Self {
            pieces,
            weights,
            from: 0,
            retries: 0,
        }
    }

    /// Returns what to send instead of a request that was too long, by this many tokens if that is known. Indices are
    /// those of the whole view, whatever was dropped before.
    ///
    /// # Errors
    /// Fails if only one round is left, or after too many retries. The conversation cannot be summarized by this model
    /// then.
    pub fn retry(&mut self, gap: Option<u64>) -> Result<ShortenedRequest, ShorteningExhausted> {
        if self.retries == MOST_RETRIES {
            return Err(ShorteningExhausted::TooManyRetries);
        }
        let weights = self.weights.get(self.from..).unwrap_or_default();
        let dropped = drop_oldest(&self.pieces[self.from..], weights, gap)?;
        self.retries += 1;
        self.from += dropped.from;
        Ok(ShortenedRequest {
            from: self.from,
            ..dropped
        })
    }
}
