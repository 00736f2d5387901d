//! Dropping the oldest rounds of a request to summarise that is itself too long (L1–L3).
//!
//! Nothing is dropped from the conversation, only from this one request. The marker that may have to stand first is
//! never part of the pieces, so a retry groups the conversation alone and cannot mistake the marker for progress.

use super::{Rounds, ViewPiece};
use crate::tokens::Estimate;

/// Retries after the first request.
pub const MOST_RETRIES: u32 = 3;

/// What stands for the part that was left out, as the text of a user message.
pub const MARKER: &str = include_str!("marker.txt");

/// What the shortened request begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestLead {
    /// An entry of the user: it can be sent as it is.
    Own,
    /// A user message with [`MARKER`] goes first, since the rest begins with a response.
    Marker,
}

/// A request after its oldest rounds were dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShortenedRequest {
    /// How many rounds were dropped by this step.
    pub rounds: usize,
    /// What they weighed.
    pub weight: Estimate,
    /// The first piece that is still sent: all behind it are too.
    pub from: usize,
    /// What goes before it.
    pub lead: RequestLead,
}

/// Why a request cannot be made shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ShorteningExhausted {
    /// A single round is left.
    #[error("the newest part of the conversation alone is too long to be summarised by this model")]
    NothingLeft,
    /// It was tried often enough.
    #[error(
        "the conversation was still too long to be summarised after {MOST_RETRIES} attempts to shorten it"
    )]
    TooManyRetries,
}

/// Drops the oldest rounds of a view.
///
/// `gap` is by how many of the provider's tokens the request was too long, where its error says so: rounds are dropped
/// until their padded estimate covers it. Without it a fifth of the rounds goes. At least one round is dropped, and at
/// least one is kept.
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
    /// A request for all these pieces was sent; `weights` are theirs, in order.
    pub fn new(pieces: &'a [ViewPiece], weights: &'a [Estimate]) -> Self {
        Self {
            pieces,
            weights,
            from: 0,
            retries: 0,
        }
    }

    /// The request was too long, by this much where that is known: what to send instead. Indices are those of the
    /// whole view, whatever was dropped before.
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
