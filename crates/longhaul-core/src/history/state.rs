//! The remembered state of one history between its requests: how full its window was at the last answer, how fast it
//! fills, what failed, and until when nothing is prepared ahead.

use jiff::Timestamp;

use super::author::HistoryAuthor;
use crate::engine::{WindowGrowth, longest_lead};
use crate::models::Tokenizer;
use crate::plan::{Breaker, CircuitBreaker, CompactionWorth, least_freed, worth};
use crate::window::WindowStatus;

/// How often a history is made smaller without a model, after the breaker has opened, before a model is tried again: a
/// user of the gateway cannot request that by hand.
const UNAIDED: u32 = 5;
/// How often the required amount of new content is doubled; after that it is most of a window.
const MOST_DOUBLED: u32 = 3;
/// A summary that is made ahead frees room for this many turns.
const TURNS_FREED: u64 = 2;
/// The lead of a summary before the threshold while it is not known yet how fast the window fills, in percent of the span
/// between the threshold and what a summary leaves: where a summary leaves much, an early one frees little, and the next
/// is due soon.
const FIRST_LEAD: u64 = 20;
/// Notes are used within this fraction of the threshold: one answer may take that much, and if the notes turn out to be
/// useless, a summary is still in time.
const NEAR: u64 = 8;

/// The measurement of a history's newest answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MeasuredReply {
    /// Tokens in the window including the answer; zero means that nothing was measured.
    pub used: u64,
    /// The rolling hash after the last message of the answered request.
    pub at: u128,
    /// The compacted prefix that replaced the beginning of that request.
    pub beginning: Option<u128>,
    /// Bytes of the request besides its messages.
    pub beside: usize,
    /// How the model counts tokens.
    pub tokenizer: Tokenizer,
    /// When the answer ended.
    pub answered: Option<Timestamp>,
}

impl MeasuredReply {
    /// Whether this is the reply to a request with this history, which is sent exactly as it was sent then, and reads its
    /// cache: what was made after the reply is for requests that contain the reply. If the reply filled the window, the
    /// request has to become smaller after all (O3).
    pub fn answers(&self, at: u128, window: &WindowStatus) -> bool {
        self.at == at && self.used > 0 && self.used < window.effective
    }
}

/// Something that an attempt learned about a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryChange {
    /// Nothing is worth preparing ahead until the window holds this many tokens.
    RestUntil(u64),
    /// A summary of the window frees too few tokens.
    GainedTooLittle {
        /// Tokens in the window.
        used: u64,
        /// Tokens that the summary would leave, if known.
        after: Option<u64>,
    },
    /// A model was asked, but wrote nothing usable.
    ModelFailed,
    /// The window was made smaller.
    Shrunk {
        /// Tokens that are left in the window.
        after: u64,
        /// Who wrote the replacement. `None` if results were only cleared.
        by: Option<HistoryAuthor>,
        /// How long it took, in milliseconds.
        millis: u64,
    },
}

/// The remembered state of one history between its requests.
#[derive(Debug, Clone, Default)]
pub struct HistoryState {
    /// The measurement of the newest answer.
    pub measured: MeasuredReply,
    growth: WindowGrowth,
    answers: u32,
    breaker: CircuitBreaker,
    /// Nothing is prepared ahead before the window holds this many tokens: by then the last compaction is worth its
    /// price.
    rest: u64,
    /// Tokens that the last summary left in the window, or would have left: the next one leaves no less.
    summary_leaves: Option<u64>,
    /// Summaries in a row that were paid for and would have freed too little.
    too_little: u32,
}

impl HistoryState {
    /// Takes the measurement of an answer.
    pub fn answered(&mut self, measured: MeasuredReply, now: Timestamp) {
        self.growth.replied(measured.used, now);
        self.answers = self.answers.saturating_add(1);
        self.measured = MeasuredReply {
            answered: Some(now),
            ..measured
        };
    }

    /// Applies what an attempt learned.
    pub fn apply(&mut self, change: HistoryChange, window: &WindowStatus) {
        match change {
            HistoryChange::RestUntil(used) => self.rest = used,
            HistoryChange::GainedTooLittle { used, after } => {
                self.summary_leaves = after.or(self.summary_leaves);
                let least = least_freed(window);
                // Each further time in a row, twice as much new content is required.
                let new = least.checked_shl(self.too_little).unwrap_or(least);
                self.too_little = (self.too_little + 1).min(MOST_DOUBLED);
                self.rest = used.saturating_add(new);
            }
            HistoryChange::ModelFailed => {
                self.breaker.failed();
            }
            HistoryChange::Shrunk { after, by, millis } => self.shrunk(after, by, millis, window),
        }
    }

    fn shrunk(
        &mut self,
        after: u64,
        by: Option<HistoryAuthor>,
        millis: u64,
        window: &WindowStatus,
    ) {
        self.growth.shrunk();
        self.rest = after.saturating_add(least_freed(window));
        if by.is_some() {
            self.summary_leaves = Some(after);
            self.too_little = 0;
        }
        if by == Some(HistoryAuthor::Model) {
            self.growth.summary_took(millis);
            self.breaker.close();
        } else {
            self.breaker.went_without(UNAIDED);
        }
    }

    /// Whether a model may be asked for summaries (O2).
    pub fn breaker(&self) -> Breaker {
        self.breaker.state()
    }

    /// Tokens that the last summary left in the window, or would have left.
    pub fn summary_leaves(&self) -> Option<u64> {
        self.summary_leaves
    }

    /// Whether a summary of a window with `used` tokens can free enough, judging by what the last one left.
    pub(crate) fn may_free_enough(&self, used: u64, window: &WindowStatus) -> bool {
        (self.summary_leaves)
            .is_none_or(|left| worth(window, used, left) == CompactionWorth::Enough)
    }

    /// The fewest tokens to free ahead of the threshold: enough to be worth a summary's price, and no less than a few
    /// turns bring, because otherwise the next summary is due right after it.
    pub fn least_freed_ahead(&self, window: &WindowStatus) -> u64 {
        let turns = self.growth.typical().saturating_mul(TURNS_FREED);
        least_freed(window).max(turns.min(window.auto_compact / 2))
    }

    /// Whether too little was added since the last attempt for another one to be worth it.
    pub fn rests(&self, used: u64) -> bool {
        used < self.rest
    }

    /// Whether a summary freed too little, and too little was added since for another one to do better. A summary that
    /// did free enough is no reason to wait: the next one has to be earned anew.
    pub fn rests_after_failure(&self, used: u64) -> bool {
        self.too_little > 0 && self.rests(used)
    }

    /// Whether it is time to make the history smaller, so that this is done in time.
    pub fn is_due(&self, window: &WindowStatus) -> bool {
        let limit = window.auto_compact;
        let fills = limit.saturating_sub(self.summary_leaves.unwrap_or(0));
        let most = match self.answers {
            // It is not known yet how fast the window fills.
            0 | 1 => fills / 100 * FIRST_LEAD,
            _ => longest_lead(fills),
        };
        let used = self.measured.used;
        used >= self.rest && used.saturating_add(self.growth.lead(most)) >= limit
    }

    /// Whether it is time to make the history smaller with notes: that takes no time, so it happens close to the
    /// threshold.
    pub fn is_due_with_notes(&self, window: &WindowStatus) -> bool {
        let limit = window.auto_compact;
        let used = self.measured.used;
        used >= self.rest && used >= limit - limit / NEAR
    }

    /// Whether the next turn may reach the threshold: where making room takes no time, that is early enough.
    pub(crate) fn is_near(&self, window: &WindowStatus) -> bool {
        self.measured.used >= self.nearly(window)
    }

    /// The number of tokens from which the next turn may reach the threshold.
    pub fn nearly(&self, window: &WindowStatus) -> u64 {
        let limit = window.auto_compact;
        let turn = self.growth.largest().unwrap_or(limit / NEAR);
        limit.saturating_sub(turn)
    }
}
