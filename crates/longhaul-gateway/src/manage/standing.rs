//! Where each line stands: how full its window was when it was last answered, how fast it fills, what failed.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use longhaul_core::engine::Growth;
use longhaul_core::window::WindowStatus;

use crate::line::{Generations, LineId};
use crate::marks::Trail;

/// Lines that are remembered: of others it is learnt again with their next answer.
const LINES: usize = 100_000;
/// Failures in a row after which no model is asked any more (O2).
const MOST_FAILURES: u32 = 3;
/// A summary is asked for no earlier than at this share of the threshold.
const EARLIEST: u64 = 2;
/// Notes are used within this share of the threshold: one answer may take so much, and if they turn out to be of no use a
/// summary is not late.
const NEAR: u64 = 8;

/// The newest answer of a line.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Measured {
    /// Tokens in the window behind it.
    pub(crate) used: u64,
    /// How many bytes of body were sent for them.
    pub(crate) bytes: usize,
    /// When it ended.
    pub(crate) answered: Option<Timestamp>,
}

impl Measured {
    /// Tokens in the window if so many bytes are sent now: what was measured, and the rest at a careful estimate. Fewer
    /// bytes than were measured are taken for as dense as those.
    pub(crate) fn expected(&self, bytes: usize) -> Option<u64> {
        let expected = match bytes.checked_sub(self.bytes) {
            Some(more) => self.used + self.tokens_of(more as u64),
            None => self.as_dense(bytes as u64),
        };
        (self.used > 0).then_some(expected)
    }

    /// A careful estimate for so many bytes: three for a token, or fewer if so it was measured, but not fewer than two, since
    /// a long answer to a short request would look dense.
    pub(crate) fn tokens_of(&self, bytes: u64) -> u64 {
        self.as_dense(bytes).clamp(bytes / 3, bytes / 2)
    }

    fn as_dense(&self, bytes: u64) -> u64 {
        let tokens = u128::from(self.used) * u128::from(bytes) / self.bytes.max(1) as u128;
        u64::try_from(tokens).unwrap_or(u64::MAX)
    }
}

/// One line.
#[derive(Debug, Clone, Default)]
pub(crate) struct Standing {
    /// Its newest answer.
    pub(crate) measured: Measured,
    /// What is remembered of the cache markers of its newest answered request.
    pub(crate) trail: Option<Arc<Trail>>,
    /// What stood for the beginning of its newest request.
    beginning: Option<u128>,
    growth: Growth,
    answers: u32,
    failures: u32,
}

impl Standing {
    /// Whether a model may be asked for summaries.
    pub(crate) fn may_ask(&self) -> bool {
        self.failures < MOST_FAILURES
    }

    /// The same line, where no model is to be asked.
    pub(crate) fn unaided(self) -> Self {
        Self {
            failures: MOST_FAILURES,
            ..self
        }
    }

    /// Whether it is time to make the conversation smaller, so that it is done when it must be.
    pub(crate) fn is_due(&self, window: &WindowStatus) -> bool {
        let limit = window.auto_compact;
        let most = match self.answers {
            // How fast it fills is not known yet.
            0 | 1 => limit / 5,
            _ => limit - limit / EARLIEST,
        };
        let lead = self.growth.lead(most);
        window.auto_compact_enabled && self.measured.used.saturating_add(lead) >= limit
    }

    /// The same where that takes no time, because notes stand for what is old: nearly at the threshold.
    pub(crate) fn is_due_with_notes(&self, window: &WindowStatus) -> bool {
        let limit = window.auto_compact;
        window.auto_compact_enabled && self.measured.used >= limit - limit / NEAR
    }
}

/// All lines.
pub(crate) struct Standings(Mutex<Generations<LineId, Standing>>);

impl Default for Standings {
    fn default() -> Self {
        Self(Mutex::new(Generations::new(LINES)))
    }
}

impl Standings {
    /// What its newest answer measured.
    pub(crate) fn measured(&self, line: LineId) -> Measured {
        self.change(line, |standing| standing.measured)
    }

    /// What is remembered of its cache markers.
    pub(crate) fn trail(&self, line: LineId) -> Option<Arc<Trail>> {
        self.change(line, |standing| standing.trail.clone())
    }

    /// Where a line stands.
    pub(crate) fn of(&self, line: LineId) -> Standing {
        self.change(line, |standing| standing.clone())
    }

    /// An answer measured so many tokens behind so many bytes. Gives what follows from where the line stands now.
    pub(crate) fn answered<T>(
        &self,
        line: LineId,
        used: u64,
        bytes: usize,
        trail: Option<Arc<Trail>>,
        now: Timestamp,
        follow: impl FnOnce(&Standing) -> T,
    ) -> T {
        self.change(line, |standing| {
            standing.growth.replied(used, now);
            standing.answers = standing.answers.saturating_add(1);
            standing.measured = Measured {
                used,
                bytes,
                answered: Some(now),
            };
            standing.trail = trail;
            follow(standing)
        })
    }

    /// What stands for the beginning of the request that is sent now. Gives whether that is something else than before.
    pub(crate) fn sends(&self, line: LineId, beginning: Option<u128>) -> bool {
        self.change(line, |standing| {
            let before = std::mem::replace(&mut standing.beginning, beginning);
            // The first request of a line has nothing before it to break.
            before != beginning && standing.measured.used > 0
        })
    }

    /// Its window was made smaller, which took so many milliseconds of asking a model, if one was asked.
    pub(crate) fn shrunk(&self, line: LineId, asking: Option<u64>) {
        self.change(line, |standing| {
            standing.growth.shrunk();
            if let Some(millis) = asking {
                standing.growth.summed_up(millis);
                standing.failures = 0;
            }
        });
    }

    /// A model was asked in vain.
    pub(crate) fn failed(&self, line: LineId) -> u32 {
        self.change(line, |standing| {
            standing.failures += 1;
            standing.failures
        })
    }

    /// Forgets a line.
    pub(crate) fn forget(&self, line: LineId) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.forget(&line);
    }

    fn change<T>(&self, line: LineId, change: impl FnOnce(&mut Standing) -> T) -> T {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        change(all.or_default(line))
    }
}
