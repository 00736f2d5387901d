//! Where each line stands: how full its window was when it was last answered, how fast it fills, what failed.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use longhaul_core::engine::Growth;
use longhaul_core::message::Usage;
use longhaul_core::models::Tokenizer;
use longhaul_core::plan::{Worth, least_freed, worth};
use longhaul_core::window::WindowStatus;

use crate::line::{Generations, LineId};
use crate::marks::Trail;
use crate::store::Kind;

/// Lines that are remembered: of others it is learnt again with their next answer.
const LINES: usize = 100_000;
/// Failures in a row after which no model is asked any more (O2), and how often extracts do without one before it is tried
/// again: here nobody can ask for it by hand.
const MOST_FAILURES: u32 = 3;
const UNAIDED: u32 = 5;
/// How often what has to be new is doubled: then it is most of a window.
const MOST_DOUBLED: u32 = 3;
/// Turns for which a summary that is made ahead is to make room.
const TURNS_FREED: u64 = 2;
/// A summary is asked for at most this share ahead of the threshold, in percent of what lies between the threshold and what
/// a summary leaves, and this much where it is not known yet how fast the window fills. Where a summary leaves much, one that
/// is made early frees little, and the next is due soon.
const LONGEST_LEAD: u64 = 30;
const FIRST_LEAD: u64 = 20;
/// Notes are used within this share of the threshold: one answer may take so much, and if they turn out to be of no use a
/// summary is not late.
const NEAR: u64 = 8;

/// The newest answer of a line.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Measured {
    /// Tokens in the window behind it, its own included; none were measured if that is nothing.
    pub(crate) used: u64,
    /// The rolling hash behind the last message of the request that it answered.
    pub(crate) at: u128,
    /// What stood for the beginning of that request.
    pub(crate) beginning: Option<u128>,
    /// Bytes that stood beside its messages.
    pub(crate) beside: usize,
    /// How its model counts.
    pub(crate) tokenizer: Tokenizer,
    /// When it ended.
    pub(crate) answered: Option<Timestamp>,
}

/// One line.
#[derive(Debug, Clone, Default)]
pub(crate) struct Standing {
    /// Its newest answer.
    pub(crate) measured: Measured,
    /// What is remembered of the cache markers of its newest answered request.
    pub(crate) trail: Option<Arc<Trail>>,
    /// What stood for the beginning of its newest request.
    pub(crate) beginning: Option<u128>,
    growth: Growth,
    answers: u32,
    failures: u32,
    /// How often something was made since then.
    unaided: u32,
    /// Nothing is made ahead before the window holds so much: what was made last is worth its price by then.
    rest: u64,
    /// What the last summary left in the window, or would have left: the next one leaves no less.
    pub(crate) summary_leaves: Option<u64>,
    /// Summaries in a row that were paid for and would have freed too little.
    too_little: u32,
    /// What asking in vain has used since something was last made.
    pub(crate) in_vain: Usage,
    /// How many tokens what stands for the beginning leaves out, and which beginning that is.
    pub(crate) left_out: Option<(u128, u64)>,
    /// The client sets no cache markers: they are set for it from then on.
    pub(crate) unmarked: bool,
}

impl Standing {
    /// Whether a model may be asked for summaries.
    pub(crate) fn may_ask(&self) -> bool {
        self.failures < MOST_FAILURES
    }

    /// Whether a summary of a window of so many tokens can free enough, going by what the last one left.
    pub(crate) fn may_free_enough(&self, used: u64, window: &WindowStatus) -> bool {
        (self.summary_leaves).is_none_or(|left| worth(window, used, left) == Worth::Enough)
    }

    /// The fewest tokens that are to be freed ahead of the threshold: what is worth a summary's price, and no less than a
    /// few turns bring, or the next is due right after it.
    pub(crate) fn least_freed_ahead(&self, window: &WindowStatus) -> u64 {
        let turns = self.growth.typical().saturating_mul(TURNS_FREED);
        least_freed(window).max(turns.min(window.auto_compact / 2))
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
        let fills = limit.saturating_sub(self.summary_leaves.unwrap_or(0));
        let most = match self.answers {
            // How fast it fills is not known yet.
            0 | 1 => fills / 100 * FIRST_LEAD,
            _ => fills / 100 * LONGEST_LEAD,
        };
        let used = self.measured.used;
        used >= self.rest && used.saturating_add(self.growth.lead(most)) >= limit
    }

    /// Whether the next turn may reach the threshold: where making room takes no time, that is early enough.
    pub(crate) fn is_near(&self, window: &WindowStatus) -> bool {
        self.measured.used >= self.nearly(window)
    }

    /// From where on the next turn may reach the threshold.
    pub(crate) fn nearly(&self, window: &WindowStatus) -> u64 {
        let limit = window.auto_compact;
        let turn = self.growth.largest().unwrap_or(limit / NEAR);
        limit.saturating_sub(turn)
    }

    /// The same where that takes no time, because notes stand for what is old: nearly at the threshold.
    pub(crate) fn is_due_with_notes(&self, window: &WindowStatus) -> bool {
        let limit = window.auto_compact;
        let used = self.measured.used;
        used >= self.rest && used >= limit - limit / NEAR
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

    /// What an answer measured. Gives what follows from where the line stands now.
    pub(crate) fn answered<T>(
        &self,
        line: LineId,
        measured: Measured,
        trail: Option<Arc<Trail>>,
        now: Timestamp,
        follow: impl FnOnce(&Standing) -> T,
    ) -> T {
        self.change(line, |standing| {
            standing.growth.replied(measured.used, now);
            standing.answers = standing.answers.saturating_add(1);
            standing.measured = Measured {
                answered: Some(now),
                ..measured
            };
            standing.trail = trail;
            follow(standing)
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
        let parent = parent.filter(|parent| parent.measured.used > 0);
        self.change(line, |standing| {
            let before = std::mem::replace(&mut standing.beginning, beginning);
            // The first request of a line has nothing before it to break.
            let (before, known) = match parent {
                Some(parent) if standing.measured.used == 0 => (parent.beginning, true),
                _ => (before, standing.measured.used > 0),
            };
            before != beginning && known
        })
    }

    /// Its window was made smaller, to so many tokens. Where a model was asked, that took so many milliseconds.
    pub(crate) fn shrunk(
        &self,
        line: LineId,
        kind: Kind,
        after: u64,
        millis: u64,
        window: &WindowStatus,
    ) {
        self.change(line, |standing| {
            standing.growth.shrunk();
            standing.rest = after.saturating_add(least_freed(window));
            if kind != Kind::Cleared {
                standing.summary_leaves = Some(after);
                standing.too_little = 0;
            }
            if kind == Kind::Summarised {
                standing.growth.summed_up(millis);
                (standing.failures, standing.unaided) = (0, 0);
            } else if !standing.may_ask() {
                standing.unaided += 1;
                if standing.unaided >= UNAIDED {
                    (standing.unaided, standing.failures) = (0, MOST_FAILURES - 1);
                }
            }
        });
    }

    /// A summary of a window of so many tokens was paid for and would leave so much of them, if that is known: too little
    /// is freed. Nothing is made ahead before enough is new, and each time in a row that takes twice as much.
    pub(crate) fn gained_too_little(
        &self,
        line: LineId,
        used: u64,
        after: Option<u64>,
        window: &WindowStatus,
    ) {
        self.change(line, |standing| {
            standing.summary_leaves = after.or(standing.summary_leaves);
            let least = least_freed(window);
            let new = least.checked_shl(standing.too_little).unwrap_or(least);
            standing.too_little = (standing.too_little + 1).min(MOST_DOUBLED);
            standing.rest = used.saturating_add(new);
        });
    }

    /// Nothing is made ahead until the window holds so many tokens.
    pub(crate) fn rests_until(&self, line: LineId, used: u64) {
        self.change(line, |standing| standing.rest = used);
    }

    /// A model was asked, and what it wrote is of no use.
    pub(crate) fn failed(&self, line: LineId) -> u32 {
        self.change(line, |standing| {
            standing.failures += 1;
            standing.failures
        })
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

    fn change<T>(&self, line: LineId, change: impl FnOnce(&mut Standing) -> T) -> T {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        change(all.or_default(line))
    }
}
