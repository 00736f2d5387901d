//! The price of each action, in exact money (V1).
//!
//! A price is what the action adds to the bill of the next request, compared with sending the conversation as it is; so
//! it is negative where the action makes that request cheaper. The savings of later requests are not part of it: they
//! are what the price is compared with (`rent.rs`).

use super::{PrefixWarmth, TokenRates};
use crate::money::Usd;

/// The sizes that a clearing depends on, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClearingSizes {
    /// What leaves the view.
    pub removed: u64,
    /// What stays after the first removed block and was sent before.
    pub kept_after: u64,
    /// Thinking since the last prompt of the user that becomes invalid: the model has to think it again.
    pub thinking_lost: u64,
}

/// The price of clearing by sending the conversation anew from the first removed block on.
pub fn clearing(rates: &TokenRates, warmth: PrefixWarmth, sizes: ClearingSizes) -> Usd {
    let lost = rates.output.of(sizes.thinking_lost);
    match warmth {
        PrefixWarmth::Hot => {
            rates.write.of(sizes.kept_after) - rates.read.of(sizes.kept_after) + lost
        }
        PrefixWarmth::Cold => lost - rates.write.of(sizes.removed),
        PrefixWarmth::Uncached => lost,
    }
}

/// The price of clearing by cache edits: nothing is written again.
pub(crate) fn clearing_by_cache_edits() -> Usd {
    Usd::ZERO
}

/// The sizes that a summary depends on, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SummarySizes {
    /// The view that is read for it, request prefix included.
    pub view: u64,
    /// What the model writes.
    pub output: u64,
    /// What follows the request prefix in the new view.
    pub written: u64,
    /// What follows the request prefix in the view that is replaced.
    pub replaced: u64,
    /// Thinking since the last prompt of the user that becomes invalid.
    pub thinking_lost: u64,
}

/// The price of a summary: reading the view, writing the summary, and writing what follows the request prefix, which
/// stays hot. On a cold cache the view is read at the price of input, and what it replaces need not be written.
pub fn summary(rates: &TokenRates, warmth: PrefixWarmth, sizes: SummarySizes) -> Usd {
    let made = reading(rates, warmth, sizes.view)
        + rates.output.of(sizes.output)
        + rates.output.of(sizes.thinking_lost);
    match warmth {
        PrefixWarmth::Hot => made + rates.write.of(sizes.written),
        PrefixWarmth::Cold => made + rates.write.of(sizes.written) - rates.write.of(sizes.replaced),
        PrefixWarmth::Uncached => {
            made + rates.input.of(sizes.written) - rates.input.of(sizes.replaced)
        }
    }
}

/// The price of a run that takes notes: reading the view, and what the model writes.
pub(crate) fn notes_run(rates: &TokenRates, warmth: PrefixWarmth, view: u64, output: u64) -> Usd {
    reading(rates, warmth, view) + rates.output.of(output)
}

/// A fork reads the cache and does not write it, so on a cold cache all of it is input.
fn reading(rates: &TokenRates, warmth: PrefixWarmth, view: u64) -> Usd {
    match warmth {
        PrefixWarmth::Hot => rates.read.of(view),
        PrefixWarmth::Cold | PrefixWarmth::Uncached => rates.input.of(view),
    }
}
