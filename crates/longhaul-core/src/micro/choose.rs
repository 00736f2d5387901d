//! Which way of clearing applies before a request (O1): after a rest the idle one; while the cache is warm by cache
//! edits where the provider takes them; else under pressure.

use jiff::Timestamp;

use super::{
    CacheDeletions, CacheEditState, MicroLimits, PlannedClearing, ToolResults, idle, pressure,
};
use crate::window::{WindowLevel, WindowStatus};

/// Whether the provider still holds what the last request wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheState {
    /// It does, as far as its lifetime tells.
    Warm,
    /// It does not: there is nothing to lose by changing what was sent.
    Cold,
}

/// What the choice depends on.
#[derive(Debug, Clone, Copy)]
pub struct MicroSituation<'a> {
    /// What may be cleared.
    pub results: &'a ToolResults,
    /// The window now.
    pub status: &'a WindowStatus,
    /// When the last reply came.
    pub last_reply: Option<Timestamp>,
    /// Now.
    pub now: Timestamp,
    /// The cache now.
    pub cache: CacheState,
    /// What was deleted by reference; none if the provider does not take cache edits.
    pub cached: Option<&'a CacheEditState>,
    /// Who clears under pressure.
    pub pressure: PressureOwner,
    /// When results are cleared and how many stay.
    pub limits: &'a MicroLimits,
}

/// Who clears when the window fills up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PressureOwner {
    /// We do (U5).
    #[default]
    Ours,
    /// The provider does, as every request asks it to (U7).
    Providers,
}

/// What to do before the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MicroStep {
    /// Nothing.
    Nothing,
    /// Clear these, which begins a new rendering.
    Clear(PlannedClearing),
    /// Ask the provider to drop these from its cache.
    Delete(CacheDeletions),
    /// Pressure clearing applies, but the cache is warm and there is room: better at the next cold request (Y5).
    Wait(PlannedClearing),
}

/// Takes the first way that applies.
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
    let status = situation.status;
    if status.used < status.warning || situation.pressure == PressureOwner::Providers {
        return MicroStep::Nothing;
    }
    let Some(clearing) = pressure::clear(results, status.scale()) else {
        return MicroStep::Nothing;
    };
    let can_wait = situation.cache == CacheState::Warm && status.level <= WindowLevel::Warning;
    if can_wait {
        MicroStep::Wait(clearing)
    } else {
        MicroStep::Clear(clearing)
    }
}
