//! What a choice of a clearing depends on, and its outcome.

use jiff::Timestamp;

use super::{CacheDeletions, CacheEditState, MicroLimits, PlannedClearing, ToolResults};
use crate::window::WindowStatus;

/// Whether the provider's cache still holds what the last request wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheState {
    /// The cache still holds it, judging by its lifetime.
    Warm,
    /// The cache has expired, so changing the sent messages costs nothing.
    Cold,
}

/// The inputs of the choice.
#[derive(Debug, Clone, Copy)]
pub struct MicroSituation<'a> {
    /// The results that may be cleared.
    pub results: &'a ToolResults,
    /// The current state of the window.
    pub status: &'a WindowStatus,
    /// The time of the last reply.
    pub last_reply: Option<Timestamp>,
    /// The current time.
    pub now: Timestamp,
    /// The current state of the cache.
    pub cache: CacheState,
    /// The deletions by reference; `None` if the provider does not support cache edits.
    pub cached: Option<&'a CacheEditState>,
    /// Who clears under pressure.
    pub pressure: PressureOwner,
    /// When results are cleared and how many stay.
    pub limits: &'a MicroLimits,
}

/// Who clears results when the window fills up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PressureOwner {
    /// Longhaul clears (U5).
    #[default]
    Ours,
    /// The provider clears, as every request asks it to (U7).
    Providers,
}

/// The clearing to do before the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MicroStep {
    /// Clear nothing.
    Nothing,
    /// Clear these results, which begins a new rendering.
    Clear(PlannedClearing),
    /// Ask the provider to drop these results from its cache.
    Delete(CacheDeletions),
    /// Clearing under pressure applies, but the cache is warm and there is room, so it is better to wait for the next
    /// cold request (Y5).
    Wait(PlannedClearing),
}
