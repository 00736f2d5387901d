//! When folding is due, how far it goes and what it never touches (O6, H7).

use crate::window::WindowStatus;

/// Shares of the effective window, in percent.
const COMMIT: u64 = 90;
const WAIT: u64 = 95;
const TARGET: u64 = 60;
const KEEP: u64 = 30;
/// The weight of a span, in tokens.
const SPAN: u64 = 8_000;
/// Tokens that the folds may take together before they are condensed.
const FOLDS: u64 = 12_000;
/// The most words of a fold, and of one that condenses all earlier ones.
const WORDS: u64 = 400;
const CONDENSED_WORDS: u64 = 1_600;
/// A fold of fewer words than this is useless, however small the window.
const FEWEST_WORDS: u64 = 40;

/// The limits of folding in a window, in tokens; always `1 <= keep <= target <= commit_at <= wait_at <= blocking`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoldLimits {
    /// From this level on, folds are requested and committed.
    pub commit_at: u64,
    /// From this level on, a turn waits for the folds.
    pub wait_at: u64,
    /// Folding aims at leaving no more than this.
    pub target: u64,
    /// The newest part of the conversation that is never folded weighs at least this much.
    pub keep: u64,
    /// The weight that a span should have.
    pub span: u64,
    /// The most that all folds together should weigh; beyond it, the earlier ones are condensed into one.
    pub folds: u64,
    /// The most words of a fold.
    pub words: u64,
    /// The most words of a fold that condenses earlier ones.
    pub condensed_words: u64,
}

impl FoldLimits {
    /// Computes the limits for a window.
    pub fn of(window: &WindowStatus) -> Self {
        let scale = window.scale();
        let percent = |share: u64| {
            let tokens = u128::from(window.effective) * u128::from(share) / 100;
            u64::try_from(tokens).unwrap_or(window.effective).max(1)
        };
        // A lower blocking limit lowers all other limits with it.
        let wait_at = percent(WAIT).min(window.blocking).max(1);
        let commit_at = percent(COMMIT).min(wait_at);
        let target = percent(TARGET).min(commit_at);
        Self {
            commit_at,
            wait_at,
            target,
            keep: percent(KEEP).min(target),
            span: scale.apply(SPAN),
            folds: scale.apply(FOLDS),
            words: scale.apply(WORDS).max(FEWEST_WORDS),
            condensed_words: scale.apply(CONDENSED_WORDS).max(FEWEST_WORDS),
        }
    }

    /// The tokens that a fold takes, heading included; most folds take fewer.
    pub fn fold_weight(&self) -> u64 {
        self.words * 3 / 2 + 20
    }
}
