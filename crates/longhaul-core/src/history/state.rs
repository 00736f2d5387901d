//! What is remembered of one history between its requests: how full its window was when it was last answered, how fast it
//! fills, what failed, and until when nothing is to be made ahead.

use jiff::Timestamp;

use crate::engine::WindowGrowth;
use crate::models::Tokenizer;
use crate::plan::{Breaker, CompactionWorth, least_freed, worth};
use crate::window::WindowStatus;

/// Failures in a row after which no model is asked any more (O2), and how often extracts do without one before it is tried
/// again: behind a gateway nobody can ask for it by hand.
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

/// What the newest answer of a history measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MeasuredReply {
    /// Tokens in the window with the answer; nothing was measured if that is zero.
    pub used: u64,
    /// The rolling hash after the last message of the request that it answered.
    pub at: u128,
    /// What stood for the beginning of that request.
    pub beginning: Option<u128>,
    /// Bytes that stood beside its messages.
    pub beside: usize,
    /// How its model counts.
    pub tokenizer: Tokenizer,
    /// When it ended.
    pub answered: Option<Timestamp>,
}

/// Something that an attempt learnt about a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryChange {
    /// Nothing is worth making ahead until the window holds so many tokens.
    RestUntil(u64),
    /// A summary of a window of so many tokens would leave so many, where that is known: too few are freed.
    GainedTooLittle {
        /// Tokens in the window.
        used: u64,
        /// Tokens that it would leave.
        after: Option<u64>,
    },
    /// A model was asked, and wrote nothing that could be used.
    ModelFailed,
    /// The window was made smaller, to so many tokens.
    Shrunk {
        /// Tokens that are left.
        after: u64,
        /// Who wrote what stands there now; none if results were only cleared.
        by: Option<super::HistoryAuthor>,
        /// How long that took.
        millis: u64,
    },
}

/// See the module.
#[derive(Debug, Clone, Default)]
pub struct HistoryState {
    /// Its newest answer.
    pub measured: MeasuredReply,
    growth: WindowGrowth,
    answers: u32,
    failures: u32,
    /// How often something was made without a model since the breaker opened.
    unaided: u32,
    /// Nothing is made ahead before the window holds so much: what was made last is worth its price by then.
    rest: u64,
    /// What the last summary left in the window, or would have left: the next one leaves no less.
    summary_leaves: Option<u64>,
    /// Summaries in a row that were paid for and would have freed too little.
    too_little: u32,
}

impl HistoryState {
    /// Takes what an answer measured.
    pub fn answered(&mut self, measured: MeasuredReply, now: Timestamp) {
        self.growth.replied(measured.used, now);
        self.answers = self.answers.saturating_add(1);
        self.measured = MeasuredReply {
            answered: Some(now),
            ..measured
        };
    }

    /// Takes what an attempt learnt.
    pub fn apply(&mut self, change: HistoryChange, window: &WindowStatus) {
        match change {
            HistoryChange::RestUntil(used) => self.rest = used,
            HistoryChange::GainedTooLittle { used, after } => {
                self.summary_leaves = after.or(self.summary_leaves);
                let least = least_freed(window);
                // Each time in a row it takes twice as much that is new.
                let new = least.checked_shl(self.too_little).unwrap_or(least);
                self.too_little = (self.too_little + 1).min(MOST_DOUBLED);
                self.rest = used.saturating_add(new);
            }
            HistoryChange::ModelFailed => self.failures += 1,
            HistoryChange::Shrunk { after, by, millis } => self.shrunk(after, by, millis, window),
        }
    }

    fn shrunk(
        &mut self,
        after: u64,
        by: Option<super::HistoryAuthor>,
        millis: u64,
        window: &WindowStatus,
    ) {
        self.growth.shrunk();
        self.rest = after.saturating_add(least_freed(window));
        if by.is_some() {
            self.summary_leaves = Some(after);
            self.too_little = 0;
        }
        if by == Some(super::HistoryAuthor::Model) {
            self.growth.summary_took(millis);
            (self.failures, self.unaided) = (0, 0);
        } else if self.breaker() == Breaker::Open {
            self.unaided += 1;
            if self.unaided >= UNAIDED {
                // Half open: one more failure closes the way again.
                (self.unaided, self.failures) = (0, MOST_FAILURES - 1);
            }
        }
    }

    /// Whether a model may be asked for summaries (O2).
    pub fn breaker(&self) -> Breaker {
        if self.failures < MOST_FAILURES {
            Breaker::Closed
        } else {
            Breaker::Open
        }
    }

    /// The same history, where no model is to be asked.
    #[must_use]
    pub fn unaided(self) -> Self {
        Self {
            failures: MOST_FAILURES,
            ..self
        }
    }

    /// What the last summary left in the window, or would have left.
    pub fn summary_leaves(&self) -> Option<u64> {
        self.summary_leaves
    }

    /// Whether a summary of a window of so many tokens can free enough, going by what the last one left.
    pub(crate) fn may_free_enough(&self, used: u64, window: &WindowStatus) -> bool {
        (self.summary_leaves)
            .is_none_or(|left| worth(window, used, left) == CompactionWorth::Enough)
    }

    /// The fewest tokens that are to be freed ahead of the threshold: what is worth a summary's price, and no less than a
    /// few turns bring, or the next is due right after it.
    pub fn least_freed_ahead(&self, window: &WindowStatus) -> u64 {
        let turns = self.growth.typical().saturating_mul(TURNS_FREED);
        least_freed(window).max(turns.min(window.auto_compact / 2))
    }

    /// Whether it is time to make the history smaller, so that it is done when it must be.
    pub fn is_due(&self, window: &WindowStatus) -> bool {
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

    /// The same where that takes no time, because notes stand for what is old: nearly at the threshold.
    pub fn is_due_with_notes(&self, window: &WindowStatus) -> bool {
        let limit = window.auto_compact;
        let used = self.measured.used;
        used >= self.rest && used >= limit - limit / NEAR
    }

    /// Whether the next turn may reach the threshold: where making room takes no time, that is early enough.
    pub(crate) fn is_near(&self, window: &WindowStatus) -> bool {
        self.measured.used >= self.nearly(window)
    }

    /// From where on the next turn may reach the threshold.
    pub fn nearly(&self, window: &WindowStatus) -> u64 {
        let limit = window.auto_compact;
        let turn = self.growth.largest().unwrap_or(limit / NEAR);
        limit.saturating_sub(turn)
    }
}
