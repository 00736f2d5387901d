//! The facts that are remembered about each branch between its requests. Plans are based on the core's
//! `history::HistoryState`.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use longhaul_core::history::{HistoryChange, HistoryState, MeasuredReply};
use longhaul_core::message::Usage;
use longhaul_core::models::Tokenizer;
use longhaul_core::tokens::MeasuredTokens;
use longhaul_core::tokens::calibrated::{CalibratedCounter, UnscaledTokens};
use longhaul_core::window::WindowStatus;

use crate::branch::{BranchId, GenerationalCache};
use crate::breakpoints::BreakpointHistory;

/// How many branches are remembered. The state of others is learned again from their next response.
const LINES: usize = 100_000;
/// The state of one branch.
#[derive(Debug, Clone, Default)]
pub(crate) struct BranchState {
    /// The state on which plans are based.
    pub(crate) history: HistoryState,
    /// The cache breakpoints of its newest answered request.
    pub(crate) trail: Option<Arc<BreakpointHistory>>,
    /// The compacted prefix of its newest request.
    pub(crate) beginning: Option<u128>,
    /// The usage of unsuccessful summary requests since the last compacted prefix was made.
    pub(crate) in_vain: Usage,
    /// How many tokens a compacted prefix saves, and which prefix that is.
    pub(crate) left_out: Option<(u128, u64)>,
    /// Whether the client sets no cache breakpoints: the gateway sets them from then on.
    pub(crate) unmarked: bool,
    /// When its newest request was sent.
    pub(crate) started: Option<Timestamp>,
    /// How the provider counts this conversation, as far as its replies have shown (X4).
    pub(crate) counter: CalibratedCounter,
}

/// The states of all branches.
pub(crate) struct BranchStates(Mutex<GenerationalCache<BranchId, BranchState>>);

impl Default for BranchStates {
    fn default() -> Self {
        Self(Mutex::new(GenerationalCache::new(LINES)))
    }
}

impl BranchStates {
    /// What the newest response of a branch measured.
    pub(crate) fn measured(&self, line: BranchId) -> MeasuredReply {
        self.change(line, |standing| standing.history.measured)
    }

    /// The facts that are remembered about a branch's cache breakpoints.
    pub(crate) fn trail(&self, line: BranchId) -> Option<Arc<BreakpointHistory>> {
        self.change(line, |standing| standing.trail.clone())
    }

    /// The state of a branch.
    pub(crate) fn of(&self, line: BranchId) -> BranchState {
        self.change(line, |standing| standing.clone())
    }

    /// When the newest request of a branch was sent.
    pub(crate) fn last_started(&self, line: BranchId) -> Option<Timestamp> {
        self.change(line, |standing| standing.started)
    }

    /// Records when a request is sent.
    pub(crate) fn started(&self, line: BranchId, at: Timestamp) {
        self.change(line, |standing| standing.started = Some(at));
    }

    /// The counter of a branch, for a tokenizer.
    pub(crate) fn counter(&self, line: BranchId, tokenizer: Tokenizer) -> CalibratedCounter {
        self.change(line, |standing| {
            standing.counter.use_tokenizer(tokenizer);
            standing.counter.clone()
        })
    }

    /// Learns how the provider counts what came since the last measurement.
    pub(crate) fn additions_measured(
        &self,
        line: BranchId,
        tokenizer: Tokenizer,
        prompt: u64,
        additions: UnscaledTokens,
    ) {
        self.change(line, |standing| {
            if let Some(measured) = prompt.checked_sub(standing.history.measured.used) {
                standing.counter.use_tokenizer(tokenizer);
                let measured = MeasuredTokens::new(measured);
                standing.counter.observe(measured, additions);
            }
        });
    }

    /// Records what a response measured. Returns what `follow` makes of the new state.
    pub(crate) fn answered<T>(
        &self,
        line: BranchId,
        measured: MeasuredReply,
        trail: Option<Arc<BreakpointHistory>>,
        now: Timestamp,
        follow: impl FnOnce(&HistoryState) -> T,
    ) -> T {
        self.change(line, |standing| {
            standing.history.answered(measured, now);
            standing.trail = trail;
            follow(&standing.history)
        })
    }

    /// Records the compacted prefix of the request that is sent now. Returns whether it differs from the one before, on
    /// this branch or on the one that it forked from.
    pub(crate) fn sends(
        &self,
        line: BranchId,
        from: Option<BranchId>,
        beginning: Option<u128>,
    ) -> bool {
        let parent = from.map(|from| self.of(from));
        let parent = parent.filter(|parent| parent.history.measured.used > 0);
        self.change(line, |standing| {
            let before = std::mem::replace(&mut standing.beginning, beginning);
            // The first request of a branch has no cached prefix to break.
            let (before, known) = match parent {
                Some(parent) if standing.history.measured.used == 0 => (parent.beginning, true),
                _ => (before, standing.history.measured.used > 0),
            };
            before != beginning && known
        })
    }

    /// The state on which plans for a branch are based.
    pub(crate) fn history(&self, line: BranchId) -> HistoryState {
        self.change(line, |standing| standing.history.clone())
    }

    /// Records a change of a branch's history state.
    pub(crate) fn apply(&self, line: BranchId, change: HistoryChange, window: &WindowStatus) {
        self.change(line, |standing| standing.history.apply(change, window));
    }

    /// Adds usage that led to nothing.
    pub(crate) fn used_in_vain(&self, line: BranchId, usage: &Usage) {
        self.change(line, |standing| standing.in_vain.add(usage));
    }

    /// Takes the usage that led to nothing, which is now recorded.
    pub(crate) fn take_in_vain(&self, line: BranchId) -> Usage {
        self.change(line, |standing| std::mem::take(&mut standing.in_vain))
    }

    /// Whether the client sets no cache breakpoints.
    pub(crate) fn is_unmarked(&self, line: BranchId) -> bool {
        self.change(line, |standing| standing.unmarked)
    }

    /// Records that the client sets no cache breakpoints. This is final: breakpoints that come and go would break the
    /// cache.
    pub(crate) fn unmarked(&self, line: BranchId) {
        self.change(line, |standing| standing.unmarked = true);
    }

    /// How many tokens a compacted prefix saves, if that is known.
    pub(crate) fn left_out(&self, line: BranchId, beginning: u128) -> Option<u64> {
        self.change(line, |standing| {
            let known = standing.left_out.filter(|(of, _)| *of == beginning);
            known.map(|(_, tokens)| tokens)
        })
    }

    /// Remembers how many tokens a compacted prefix saves.
    pub(crate) fn leaves_out(&self, line: BranchId, beginning: u128, tokens: u64) {
        self.change(line, |standing| {
            standing.left_out = Some((beginning, tokens));
        });
    }

    /// Drops the state of a branch.
    pub(crate) fn forget(&self, line: BranchId) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.forget(&line);
    }

    fn change<T>(&self, line: BranchId, change: impl FnOnce(&mut BranchState) -> T) -> T {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        change(all.or_default(line))
    }
}
