//! Turns the fixed model's count into tokens of a provider, with the scale that a session has learned.

use std::ops::Add;

use super::{CalibratedClass, LearnedScale, TextShape, UnscaledTokens, unscaled};
use crate::models::Tokenizer;
use crate::tokens::MeasuredTokens;

/// The error in frames and single words that even a short text has.
const SMALL_ERROR: u64 = 25;

/// An estimate, and how far it may be off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CalibratedEstimate {
    /// The tokens.
    pub tokens: u64,
    /// In nine of ten cases, the measurement differs from the tokens by at most this.
    pub bound: u64,
}

impl Add for CalibratedEstimate {
    type Output = Self;

    /// The bounds are added, too, as the errors of one session often have the same sign.
    fn add(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            bound: self.bound.saturating_add(other.bound),
        }
    }
}

/// The counter of a session. It has a scale for each tokenizer family that the session has used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalibratedCounter {
    tokenizer: Tokenizer,
    old: LearnedScale,
    new: LearnedScale,
    unknown: LearnedScale,
}

impl Default for CalibratedCounter {
    fn default() -> Self {
        Self::new(Tokenizer::default())
    }
}

impl CalibratedCounter {
    /// A counter that has learned nothing yet.
    pub fn new(tokenizer: Tokenizer) -> Self {
        Self {
            tokenizer,
            old: LearnedScale::new(Tokenizer::Old),
            new: LearnedScale::new(Tokenizer::New),
            unknown: LearnedScale::new(Tokenizer::Unknown),
        }
    }

    /// Counts with another tokenizer from now on. What was learned for the earlier one is kept.
    pub fn use_tokenizer(&mut self, tokenizer: Tokenizer) {
        self.tokenizer = tokenizer;
    }

    /// The tokenizer that is counted with.
    pub fn tokenizer(&self) -> Tokenizer {
        self.tokenizer
    }

    /// Estimates one block.
    pub fn estimate(&self, class: CalibratedClass, shape: &TextShape) -> CalibratedEstimate {
        self.scaled(unscaled(class, shape))
    }

    /// Estimates what the fixed model has counted.
    pub fn scaled(&self, tokens: UnscaledTokens) -> CalibratedEstimate {
        if tokens == UnscaledTokens::ZERO {
            return CalibratedEstimate::default();
        }
        let scale = self.scale();
        let share = |tokens: u64, thousandths: u64| {
            let share = u128::from(tokens) * u128::from(thousandths) / 1_000;
            u64::try_from(share).unwrap_or(u64::MAX)
        };
        let tokens = share(tokens.rounded(), scale.thousandths());
        CalibratedEstimate {
            tokens,
            bound: share(tokens, scale.spread()).saturating_add(SMALL_ERROR),
        }
    }

    /// Learns from a part of the conversation that the fixed model counted and the provider then measured.
    pub fn observe(&mut self, measured: MeasuredTokens, estimated: UnscaledTokens) {
        let scale = match self.tokenizer {
            Tokenizer::Old => &mut self.old,
            Tokenizer::New => &mut self.new,
            Tokenizer::Unknown => &mut self.unknown,
        };
        scale.observe(measured, estimated);
    }

    /// The scale of the tokenizer that is counted with.
    pub fn scale(&self) -> &LearnedScale {
        match self.tokenizer {
            Tokenizer::Old => &self.old,
            Tokenizer::New => &self.new,
            Tokenizer::Unknown => &self.unknown,
        }
    }
}
