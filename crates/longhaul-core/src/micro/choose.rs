//! Chooses by thresholds how to clear before a request (O1): after an idle gap by the idle way; while the cache is warm by
//! cache edits, if the provider supports them; otherwise under pressure. Where prices decide, the engine does not ask here.

use super::situation::{CacheState, MicroSituation, MicroStep};
use super::{idle, pressure};

/// Chooses the first way that applies.
pub fn choose(situation: &MicroSituation<'_>) -> MicroStep {
    let MicroSituation {
        results, limits, ..
    } = *situation;
    if let Some(clearing) = idle::clear(results, limits, situation.last_reply, situation.now) {
        return MicroStep::Clear(clearing);
    }
    if let Some(cached) = situation.cached
        && situation.cache == CacheState::Warm
    {
        return cached
            .plan(results, limits)
            .map_or(MicroStep::Nothing, MicroStep::Delete);
    }
    pressure::under_pressure(situation, || {
        pressure::clear(results, situation.status.scale())
    })
}
