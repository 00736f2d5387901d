//! One attempt to make a history smaller: clear old results, use the session's notes, or summarize, whichever is
//! enough.
//!
//! The state machine returns the next effect to perform and takes its result, until it says which draft is kept or
//! gives up. A model's output is paid for, so a model is asked last, never twice for the same thing, and only where a
//! summary can free enough.

use std::collections::VecDeque;

use super::state::{HistoryChange, HistoryState};
use crate::plan::{Breaker, CompactionWorth, least_freed, worth};
use crate::window::{SwitchVerdict, SwitchableAction, Switches, WindowStatus};

/// The fewest tokens that a summary must free, in a large window, if it is made because it pays: the rule has compared
/// what it frees with its price, so this only keeps one that turns out to be of no use from being made again and again.
const LEAST_BY_PRICE: u64 = 5_000;
/// The most tokens that a plain request for a summary adds to the conversation.
const INSTRUCTIONS: u64 = 4_000;
/// A request whose answer is limited to this many tokens or fewer has no room for a summary.
pub const SHORTEST_ANSWER: u64 = 4_000;

/// Why a history is to become smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptOccasion {
    /// The window will be full soon; nobody waits.
    Ahead,
    /// A summary pays (V3), although the window has room; nobody waits.
    Price,
    /// The conversation was idle for long, and a request waits.
    Idle,
    /// The window is full, and a request waits.
    Full(OversizedRequest),
}

/// The known facts about a request that does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OversizedRequest {
    /// Whether the provider has refused it, or it is only expected not to fit.
    pub refused: OverflowEvidence,
    /// How often a smaller request was tried without success.
    pub tries: u32,
    /// The provider's window, where that is smaller than the known one.
    pub limit: Option<u64>,
}

impl OversizedRequest {
    /// The most tokens that may be left of a window with `before` tokens: less with each attempt that was still too
    /// long, and few enough to be worth it.
    pub fn most_left(&self, window: &WindowStatus, before: u64) -> u64 {
        let worth = before.saturating_sub(least_freed(window));
        // The same share of the window, whatever its size.
        let limit = self.limit.map_or(u64::MAX, |limit| {
            let share = u128::from(limit) * u128::from(window.auto_compact);
            u64::try_from(share / u128::from(window.size.max(1))).unwrap_or(u64::MAX)
        });
        let most = window.auto_compact.min(worth).min(limit);
        most.checked_shr(self.tries).unwrap_or(1).max(1)
    }
}

/// The evidence that a request does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverflowEvidence {
    /// Our own estimate says so.
    Expected,
    /// The provider has refused the request, against our estimate.
    ByProvider,
}

/// Why results are cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClearingReason {
    /// The conversation has been idle so long that the provider's cache is cold (U3).
    Idle,
    /// The window fills up (U5).
    Pressure,
}

/// Who wrote the replacement of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryAuthor {
    /// A model.
    Model,
    /// The session's notes.
    Notes,
    /// Extracts, without a model.
    Extracts,
}

/// The outcome of asking a model for a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SummaryRequestOutcome {
    /// No model was asked.
    #[default]
    NotAsked,
    /// The model wrote a summary, whether that was used or not.
    Summary,
    /// The model wrote no summary.
    Nothing,
}

/// The sizes of a conversation before and after a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DraftSizes {
    /// Tokens before the change.
    pub before: u64,
    /// Estimated tokens after the change.
    pub after: u64,
}

/// How a summary can be requested after the client's own bytes, where everything before the question is in the
/// provider's cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppendedRequestWay {
    /// The client's request is used unchanged.
    AsItIs,
    /// The limit for the answer is raised.
    Raised,
    /// It is impossible, for this reason.
    No(&'static str),
}

/// The facts about a request that asking for a summary depends on.
#[derive(Debug, Clone, Copy)]
pub struct SummaryRequestFacts {
    /// Tokens in the window when the summary is asked for.
    pub used: u64,
    /// Tokens of the conversation that is summarized, as they were counted.
    pub counted: u64,
    /// Tokens of the request prefix.
    pub before_messages: u64,
    /// Tokens of the request for the summary.
    pub question: u64,
    /// Whether the summary can be requested after the client's own bytes.
    pub behind: AppendedRequestWay,
    /// Whether the gateway can make its own request in this API.
    pub plain: PlainRequestSupport,
}

/// Whether a plain request is possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainRequestSupport {
    /// A plain request is possible.
    Possible,
    /// A plain request is impossible.
    Impossible,
}

/// The conditions of an attempt.
#[derive(Debug, Clone)]
pub struct AttemptContext<'a> {
    /// Why the attempt is made.
    pub occasion: AttemptOccasion,
    /// The window and its thresholds.
    pub window: WindowStatus,
    /// The user's switches.
    pub switches: &'a Switches,
    /// The remembered state of the history.
    pub state: HistoryState,
    /// Tokens in the window, counted or estimated.
    pub counted: u64,
    /// How a summary can be requested.
    pub asking: SummaryRequestFacts,
}

/// The result of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptInput {
    /// Results were cleared in a draft. None means that nothing is worth clearing.
    Cleared(Option<DraftSizes>),
    /// The fewest tokens that a summary is likely to leave.
    SummaryLeaves(u64),
    /// The session's notes replace the history in a draft. None means that they cannot.
    Noted(Option<DraftSizes>),
    /// The model answered the request after the client's own bytes.
    Answered,
    /// The model did not answer. A transient failure may be someone else's fault.
    NotAnswered {
        /// Whether the same request may succeed later.
        passes: FailureTransience,
    },
    /// A summary was drafted, by a model or from extracts.
    Summarized(DraftSizes, SummaryRequestOutcome),
    /// There is no replacement for the history.
    NotSummarized,
}

/// Whether a failure is transient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureTransience {
    /// The same request may succeed later.
    Passes,
    /// The same request will fail again.
    Stays,
}

/// Which draft is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptDraft {
    /// The draft with results cleared.
    Cleared,
    /// The draft with the session's notes.
    Notes,
    /// The draft with the summary.
    Summary,
}

/// An effect for the caller to perform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptEffect {
    /// Draft the history with old results cleared.
    Clear(ClearingReason),
    /// Estimate how many tokens a summary is likely to leave at the least.
    EstimateSummary,
    /// Draft the history with the session's notes in its place.
    UseNotes,
    /// Request a summary after the client's own bytes.
    AskBehind(AppendedRequestWay),
    /// Draft a summary from the answer, by a plain request, or from extracts.
    Summarize(PlainRequestPermission),
    /// Apply this change to the history's state.
    Change(HistoryChange),
    /// Discard the last draft of this kind: it is useless.
    Discard(KeptDraft),
    /// Keep this draft: it replaces the history from now on.
    Keep(KeptDraft),
    /// Change nothing.
    GiveUp,
}

/// Whether a plain request for a summary may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainRequestPermission {
    /// A plain request is allowed; the reason says why the summary was not requested after the client's own bytes.
    May(&'static str),
    /// A plain request is not allowed: the existing answer is used, or extracts.
    MayNot,
}

/// The state machine of one attempt to make a history smaller.
#[derive(Debug)]
pub struct CompactionAttempt<'a> {
    setting: AttemptContext<'a>,
    cleared: Option<DraftSizes>,
    /// Whether a model was asked, or may be asked by the draft in progress.
    could_ask: ModelAsked,
    outbox: VecDeque<AttemptEffect>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ModelAsked {
    No,
    Yes,
}

impl<'a> CompactionAttempt<'a> {
    /// Starts an attempt.
    pub fn new(setting: AttemptContext<'a>) -> Self {
        let mut attempt = Self {
            setting,
            cleared: None,
            could_ask: ModelAsked::No,
            outbox: VecDeque::new(),
        };
        match attempt.setting.occasion {
            AttemptOccasion::Idle => attempt.perform(AttemptEffect::Clear(ClearingReason::Idle)),
            // Clearing was weighed before, and a summary was found to be the better of the two.
            AttemptOccasion::Price => attempt.perform(AttemptEffect::EstimateSummary),
            _ if attempt.may(SwitchableAction::Micro) => {
                attempt.perform(AttemptEffect::Clear(ClearingReason::Pressure));
            }
            _ => attempt.not_enough_cleared(),
        }
        attempt
    }

    /// The next effect to perform. `None` if an input is awaited, or the attempt is finished.
    pub fn poll(&mut self) -> Option<AttemptEffect> {
        self.outbox.pop_front()
    }

    /// Takes the result of an effect.
    pub fn handle(&mut self, input: AttemptInput) {
        match input {
            AttemptInput::Cleared(draft) => self.take_cleared(draft),
            AttemptInput::SummaryLeaves(least) => self.take_estimate(least),
            AttemptInput::Noted(Some(draft)) if draft.after < self.setting.window.warning => {
                self.take_draft(KeptDraft::Notes, draft);
            }
            AttemptInput::Noted(_) => self.ask(),
            AttemptInput::Answered => {
                self.perform(AttemptEffect::Summarize(PlainRequestPermission::MayNot));
            }
            AttemptInput::NotAnswered { passes } => self.take_failure(passes),
            AttemptInput::Summarized(draft, answer) => {
                // A summary that gains too little is not the model's fault.
                if self.could_ask == ModelAsked::Yes && answer == SummaryRequestOutcome::Nothing {
                    self.change(HistoryChange::ModelFailed);
                    if self.pays() {
                        // There is room, so nothing is worth extracts.
                        return self.give_up_summary(KeptDraft::Summary, None);
                    }
                }
                self.take_draft(KeptDraft::Summary, draft);
            }
            AttemptInput::NotSummarized => {
                self.perform(AttemptEffect::Discard(KeptDraft::Summary));
                let used = self.setting.state.measured.used;
                self.change(HistoryChange::GainedTooLittle { used, after: None });
                self.without_summary();
            }
        }
    }

    fn perform(&mut self, effect: AttemptEffect) {
        self.outbox.push_back(effect);
    }

    fn change(&mut self, change: HistoryChange) {
        self.perform(AttemptEffect::Change(change));
    }

    fn may(&self, action: SwitchableAction) -> bool {
        self.setting.switches.decide(action) == SwitchVerdict::Allowed
    }

    /// Whether there is still room, and no request waits.
    fn is_ahead(&self) -> bool {
        matches!(
            self.setting.occasion,
            AttemptOccasion::Ahead | AttemptOccasion::Price
        )
    }

    fn is_refused(&self) -> bool {
        matches!(
            self.setting.occasion,
            AttemptOccasion::Full(OversizedRequest {
                refused: OverflowEvidence::ByProvider,
                ..
            })
        )
    }

    fn is_worth_it(&self, draft: DraftSizes) -> bool {
        let DraftSizes { before, after } = draft;
        if self.pays() {
            return before.saturating_sub(after) >= self.least_freed_by_price();
        }
        worth(&self.setting.window, before, after) == CompactionWorth::Enough
    }

    /// Whether a summary is made because it pays.
    fn pays(&self) -> bool {
        self.setting.occasion == AttemptOccasion::Price
    }

    fn least_freed_by_price(&self) -> u64 {
        self.setting.window.scale().apply(LEAST_BY_PRICE)
    }

    fn take_cleared(&mut self, draft: Option<DraftSizes>) {
        self.cleared = draft;
        if self.setting.occasion == AttemptOccasion::Idle {
            return self.perform(match draft {
                Some(_) => AttemptEffect::Keep(KeptDraft::Cleared),
                None => AttemptEffect::GiveUp,
            });
        }
        let window = &self.setting.window;
        let most = match self.setting.occasion {
            AttemptOccasion::Full(pressing) => pressing.most_left(window, self.setting.counted),
            _ => u64::MAX,
        };
        let most = most.min(window.warning);
        let is_enough = draft.is_some_and(|draft| draft.after < most && self.is_worth_it(draft));
        if !is_enough {
            return self.not_enough_cleared();
        }
        let state = &self.setting.state;
        if self.is_ahead() && !state.is_near(window) {
            // Clearing takes no time: the later it happens, the more there is to clear at once.
            let nearly = state.nearly(window);
            self.change(HistoryChange::RestUntil(nearly));
            return self.perform(AttemptEffect::GiveUp);
        }
        self.perform(AttemptEffect::Keep(KeptDraft::Cleared));
    }

    fn not_enough_cleared(&mut self) {
        if self.is_ahead() {
            return self.perform(AttemptEffect::EstimateSummary);
        }
        self.summarize_if_allowed();
    }

    fn take_estimate(&mut self, least: u64) {
        let (state, window) = (&self.setting.state, &self.setting.window);
        if self.pays() {
            let used = state.measured.used;
            if used.saturating_sub(least) < self.least_freed_by_price() {
                self.change(HistoryChange::GainedTooLittle { used, after: None });
                return self.perform(AttemptEffect::GiveUp);
            }
            return self.summarize_if_allowed();
        }
        // Summaries seldom become shorter from one to the next.
        let least = least.max(state.summary_leaves().unwrap_or(0));
        let used = state.measured.used;
        let missing = state
            .least_freed_ahead(window)
            .saturating_sub(used.saturating_sub(least));
        if missing > 0 {
            // A summary would be paid for and free too little, so wait until there is more to summarize.
            self.change(HistoryChange::RestUntil(used.saturating_add(missing)));
            return self.perform(AttemptEffect::GiveUp);
        }
        self.summarize_if_allowed();
    }

    fn summarize_if_allowed(&mut self) {
        let action = if self.is_refused() {
            SwitchableAction::Reactive
        } else {
            SwitchableAction::Automatic
        };
        if !self.may(action) {
            self.without_summary();
        } else if self.is_refused() {
            // Where the provider has disproved our count, we cannot judge how much the notes would keep.
            self.ask();
        } else {
            self.perform(AttemptEffect::UseNotes);
        }
    }

    /// Whether a model may be asked at all.
    fn may_ask(&self) -> bool {
        let AttemptContext {
            occasion,
            window,
            state,
            asking,
            ..
        } = &self.setting;
        // If a summary was too long, the next try does without a model, because each one is paid for. So does a try
        // that can free too little, judging by the last one: extracts make the request fit until there is enough new
        // content.
        let is_first = !matches!(occasion, AttemptOccasion::Full(pressing) if pressing.tries > 0);
        // Whoever decided by price knows what the last one left.
        let is_enough = self.pays() || state.may_free_enough(asking.used, window);
        state.breaker() == Breaker::Closed && is_first && is_enough
    }

    /// How the summary can be requested after the client's own bytes.
    fn behind(&self) -> AppendedRequestWay {
        let AttemptContext { window, asking, .. } = &self.setting;
        // The request itself must not be too long, and must leave room for the answer: a truncated answer is paid for
        // in vain.
        let asked = asking.used + asking.question;
        let fits = asked <= window.effective && asked + SHORTEST_ANSWER <= window.size;
        if fits && !self.is_refused() {
            asking.behind
        } else {
            AppendedRequestWay::No("the request is too long already")
        }
    }

    fn ask(&mut self) {
        if self.pays() && !self.may_ask() {
            return self.perform(AttemptEffect::GiveUp);
        }
        match self.behind() {
            AppendedRequestWay::No(reason) => self.ask_plainly(reason),
            way if self.may_ask() => {
                self.could_ask = ModelAsked::Yes;
                self.perform(AttemptEffect::AskBehind(way));
            }
            _ => self.ask_plainly(""),
        }
    }

    fn ask_plainly(&mut self, reason: &'static str) {
        let AttemptContext { window, asking, .. } = &self.setting;
        let plain = asking.counted.saturating_sub(asking.before_messages) + INSTRUCTIONS;
        let is_possible = asking.plain == PlainRequestSupport::Possible && plain <= window.size;
        if self.may_ask() && is_possible {
            self.could_ask = ModelAsked::Yes;
            self.perform(AttemptEffect::Summarize(PlainRequestPermission::May(
                reason,
            )));
        } else {
            self.perform(AttemptEffect::Summarize(PlainRequestPermission::MayNot));
        }
    }

    fn take_failure(&mut self, passes: FailureTransience) {
        let has_room = self.setting.asking.used < self.setting.window.auto_compact;
        if self.is_ahead() && passes == FailureTransience::Passes && has_room {
            // There is room for another try after the next answer.
            self.change(HistoryChange::ModelFailed);
            return self.perform(AttemptEffect::GiveUp);
        }
        self.ask_plainly("asking after the client's own messages failed");
    }

    fn take_draft(&mut self, kept: KeptDraft, draft: DraftSizes) {
        if !self.is_ahead() || self.is_worth_it(draft) {
            return self.perform(AttemptEffect::Keep(kept));
        }
        self.give_up_summary(kept, Some(draft.after));
    }

    /// Ends an attempt whose summary is of no use.
    fn give_up_summary(&mut self, kept: KeptDraft, after: Option<u64>) {
        self.perform(AttemptEffect::Discard(kept));
        let used = self.setting.state.measured.used;
        self.change(HistoryChange::GainedTooLittle { used, after });
        self.perform(AttemptEffect::GiveUp);
    }

    /// Ends an attempt without a summary: where something must be done, a clearing is better than nothing.
    fn without_summary(&mut self) {
        let limit = self.setting.window.auto_compact;
        let fits = self.cleared.is_some_and(|draft| draft.after < limit);
        self.perform(if fits && !self.is_ahead() {
            AttemptEffect::Keep(KeptDraft::Cleared)
        } else {
            AttemptEffect::GiveUp
        });
    }
}
