//! What is remembered of each line between its requests. What plans go by is the core's `history::HistoryState`.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use longhaul_core::history::{HistoryChange, HistoryState, MeasuredReply};
use longhaul_core::message::Usage;
use longhaul_core::window::WindowStatus;

use crate::branch::{GenerationalCache, LineId};
use crate::breakpoints::BreakpointHistory;

/// Lines that are remembered: of others it is learnt again with their next answer.
const LINES: usize = 100_000;
/// One line.
#[derive(Debug, Clone, Default)]
pub(crate) struct BranchState {
    /// What plans for it go by.
    pub(crate) history: HistoryState,
    /// What is remembered of the cache markers of its newest answered request.
    pub(crate) trail: Option<Arc<BreakpointHistory>>,
    /// What stood for the beginning of its newest request.
    pub(crate) beginning: Option<u128>,
    /// What asking in vain has used since something was last made.
    pub(crate) in_vain: Usage,
    /// How many tokens what stands for the beginning leaves out, and which beginning that is.
    pub(crate) left_out: Option<(u128, u64)>,
    /// The client sets no cache markers: they are set for it from then on.
    pub(crate) unmarked: bool,
}

/// All lines.
pub(crate) struct BranchStates(Mutex<GenerationalCache<LineId, BranchState>>);

impl Default for BranchStates {
    fn default() -> Self {
        Self(Mutex::new(GenerationalCache::new(LINES)))
    }
}

impl BranchStates {
    /// What its newest answer measured.
    pub(crate) fn measured(&self, line: LineId) -> MeasuredReply {
        self.change(line, |standing| standing.history.measured)
    }

    /// What is remembered of its cache markers.
    pub(crate) fn trail(&self, line: LineId) -> Option<Arc<BreakpointHistory>> {
        self.change(line, |standing| standing.trail.clone())
    }

    /// Where a line stands.
    pub(crate) fn of(&self, line: LineId) -> BranchState {
        self.change(line, |standing| standing.clone())
    }

    /// What an answer measured. Gives what follows from where the line stands now.
    pub(crate) fn answered<T>(
        &self,
        line: LineId,
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

    /// What stands for the beginning of the request that is sent now. Gives whether that is something else than before:
    /// on this line, or on the one that it branched from.
    pub(crate) fn sends(
        &self,
        line: LineId,
        from: Option<LineId>,
        beginning: Option<u128>,
    ) -> bool {
        let parent = from.map(|from| self.of(from));
        let parent = parent.filter(|parent| parent.history.measured.used > 0);
        self.change(line, |standing| {
            let before = std::mem::replace(&mut standing.beginning, beginning);
            // The first request of a line has nothing before it to break.
            let (before, known) = match parent {
                Some(parent) if standing.history.measured.used == 0 => (parent.beginning, true),
                _ => (before, standing.history.measured.used > 0),
            };
            before != beginning && known
        })
    }

    /// What plans for a line go by.
    pub(crate) fn history(&self, line: LineId) -> HistoryState {
        self.change(line, |standing| standing.history.clone())
    }

    /// Something was learnt of a line's history.
    pub(crate) fn apply(&self, line: LineId, change: HistoryChange, window: &WindowStatus) {
        self.change(line, |standing| standing.history.apply(change, window));
    }

    /// So much was used for nothing.
    pub(crate) fn used_in_vain(&self, line: LineId, usage: &Usage) {
        self.change(line, |standing| standing.in_vain.add(usage));
    }

    /// What was used for nothing, which is now written down.
    pub(crate) fn take_in_vain(&self, line: LineId) -> Usage {
        self.change(line, |standing| std::mem::take(&mut standing.in_vain))
    }

    /// Whether its client sets no cache markers.
    pub(crate) fn is_unmarked(&self, line: LineId) -> bool {
        self.change(line, |standing| standing.unmarked)
    }

    /// Its client sets no cache markers. That is not asked again: markers that come and go would break the cache.
    pub(crate) fn unmarked(&self, line: LineId) {
        self.change(line, |standing| standing.unmarked = true);
    }

    /// How many tokens what stands for the beginning leaves out, where that is known.
    pub(crate) fn left_out(&self, line: LineId, beginning: u128) -> Option<u64> {
        self.change(line, |standing| {
            let known = standing.left_out.filter(|(of, _)| *of == beginning);
            known.map(|(_, tokens)| tokens)
        })
    }

    /// Remembers it.
    pub(crate) fn leaves_out(&self, line: LineId, beginning: u128, tokens: u64) {
        self.change(line, |standing| {
            standing.left_out = Some((beginning, tokens));
        });
    }

    /// Forgets a line.
    pub(crate) fn forget(&self, line: LineId) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.forget(&line);
    }

    fn change<T>(&self, line: LineId, change: impl FnOnce(&mut BranchState) -> T) -> T {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        change(all.or_default(line))
    }
}
