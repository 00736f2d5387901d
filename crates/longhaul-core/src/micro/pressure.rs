//! Clearing under pressure (U5): the window fills up, and tool results are the cheapest content to drop.

use super::situation::{CacheState, MicroSituation, MicroStep, PressureOwner};
use super::{MicroClearingReason, PlannedClearing, ToolResults};
use crate::tokens::Estimate;
use crate::window::{WindowLevel, WindowScale};

/// The number of newest results that stay.
pub(crate) const KEPT: usize = 3;
/// The maximum number of tokens of results that may stay.
pub(crate) const MOST: u64 = 40_000;
/// The minimum number of saved tokens: less is not worth a cold cache.
pub(crate) const WORTH: u64 = 20_000;

/// Clears under pressure as planned, if the window fills up (U5).
pub(crate) fn under_pressure(
    situation: &MicroSituation<'_>,
    plan: impl FnOnce() -> Option<PlannedClearing>,
) -> MicroStep {
    let status = situation.status;
    if status.used < status.warning || situation.pressure == PressureOwner::Providers {
        return MicroStep::Nothing;
    }
    let Some(clearing) = plan() else {
        return MicroStep::Nothing;
    };
    let can_wait = situation.cache == CacheState::Warm && status.level <= WindowLevel::Warning;
    if can_wait {
        MicroStep::Wait(clearing)
    } else {
        MicroStep::Clear(clearing)
    }
}

/// Clears the oldest results until the rest is small enough, if that saves enough.
pub(super) fn clear(results: &ToolResults, scale: WindowScale) -> Option<PlannedClearing> {
    let most = scale.apply(MOST);
    let mut left = results.tokens();
    let mut count = 0;
    for result in results.iter().take(results.len().saturating_sub(KEPT)) {
        if left.unpadded() <= most {
            break;
        }
        left = left.less(result.weight);
        count += 1;
    }
    if count == 0 {
        return None;
    }
    let clearing = results.oldest(count, MicroClearingReason::Pressure);
    let cleared: Estimate = clearing.results.iter().map(|result| result.weight).sum();
    let saved = cleared.less(results.growth_without(&clearing.results));
    (saved.unpadded() >= scale.apply(WORTH)).then_some(clearing)
}
