//! One attempt to make a history smaller: clear old results, use the session's notes, or summarize, whichever is
//! enough.
//!
//! The state machine returns the next effect to perform and takes its result, until it says which draft is kept or
//! gives up. A model's output is paid for, so a model is asked last, never twice for the same thing, and only where a
//! summary can free enough. What follows when a model does not answer, or its summary is too large, is decided here and
//! nowhere else: a host performs one effect, and reports the sizes of the draft or why there is none.

use std::collections::VecDeque;

use super::aim_search::AimSearch;
use super::effect::{
    AppendedRequestWay, AttemptEffect, AttemptInput, ClearingReason, DiscardReason, DraftSizes,
    FailureTransience, KeptDraft, NoSummaryReason, SummarySource,
};
use super::occasion::{AttemptOccasion, OverflowEvidence, OversizedRequest};
use super::state::{HistoryChange, HistoryState};
use crate::plan::{Breaker, CompactionWorth, worth};
use crate::window::{SwitchVerdict, SwitchableAction, Switches, WindowStatus};

/// The fewest tokens that a summary must free, in a large window, if it is made because it pays: the rule has compared
/// what it frees with its price, so this only keeps one that turns out to be of no use from being made again and again.
const LEAST_BY_PRICE: u64 = 5_000;
/// The most tokens that a plain request for a summary adds to the conversation.
const INSTRUCTIONS: u64 = 4_000;
/// The percentage of the free part of the window that a draft may fill to put in more of the user's words: the summary's
/// fifth and the words' two fifths, as in every compaction.
const MOST_FILLED: u64 = 60;
/// How many times as large as it is a draft may have been expected to be: letters that have three tokens each are counted
/// as a third of one.
const MOST_OVERSTATED: u64 = 12;
/// A request whose answer is limited to this many tokens or fewer has no room for a summary.
pub const SHORTEST_ANSWER: u64 = 4_000;

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

/// The state machine of one attempt to make a history smaller.
#[derive(Debug)]
pub struct CompactionAttempt<'a> {
    setting: AttemptContext<'a>,
    has_begun: bool,
    cleared: Option<DraftSizes>,
    model: ModelProgress,
    time: TimeForModel,
    /// The summary that is being drafted.
    drafting: Option<(SummarySource, u64)>,
    /// The search for a smaller draft of the same text, where it was too large.
    search: Option<AimSearch>,
    outbox: VecDeque<AttemptEffect>,
}

/// How far a model is with a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ModelProgress {
    NotAsked,
    /// It is being asked, or did not answer the first request.
    Asked,
    Wrote,
    /// It was asked in vain, and that is recorded.
    Failed,
}

/// Whether there is time to ask a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TimeForModel {
    Enough,
    Over,
}

impl<'a> CompactionAttempt<'a> {
    /// Prepares an attempt, which begins when its first effect is asked for: until then, there may be no time for a model.
    pub fn new(setting: AttemptContext<'a>) -> Self {
        Self {
            setting,
            has_begun: false,
            cleared: None,
            model: ModelProgress::NotAsked,
            time: TimeForModel::Enough,
            drafting: None,
            search: None,
            outbox: VecDeque::new(),
        }
    }

    /// The next effect to perform. `None` if an input is awaited, or the attempt is finished.
    pub fn poll(&mut self) -> Option<AttemptEffect> {
        if !self.has_begun {
            self.has_begun = true;
            self.begin();
        }
        self.outbox.pop_front()
    }

    fn begin(&mut self) {
        match self.setting.occasion {
            AttemptOccasion::Idle => self.perform(AttemptEffect::Clear(ClearingReason::Idle)),
            // Clearing was weighed before, and a summary was found to be the better of the two.
            AttemptOccasion::Price => self.perform(AttemptEffect::EstimateSummary),
            _ if self.may(SwitchableAction::Micro) => {
                self.perform(AttemptEffect::Clear(ClearingReason::Pressure));
            }
            _ => self.not_enough_cleared(),
        }
    }

    /// Takes the result of an effect.
    pub fn handle(&mut self, input: AttemptInput) {
        match input {
            AttemptInput::Cleared(draft) => self.take_cleared(draft),
            AttemptInput::SummaryLeaves(least) => self.take_estimate(least),
            AttemptInput::Noted(Some(draft))
                if draft.after < self.setting.window.warning && self.useless(draft).is_none() =>
            {
                self.take_draft(KeptDraft::Notes, draft);
            }
            AttemptInput::Noted(_) => self.ask(),
            AttemptInput::Answered => {
                self.model = ModelProgress::Wrote;
                self.draft(SummarySource::Answer, self.most_left());
            }
            AttemptInput::NotAnswered { passes } => self.take_failure(passes),
            AttemptInput::Summarized(draft) => self.take_summary(draft),
            AttemptInput::NotSummarized(reason) => self.take_no_summary(reason),
            AttemptInput::TimedOut => {
                self.time = TimeForModel::Over;
                if self.model == ModelProgress::Asked {
                    self.extract(DiscardReason::NoDraft);
                }
            }
        }
    }

    fn perform(&mut self, effect: AttemptEffect) {
        self.outbox.push_back(effect);
    }

    fn change(&mut self, change: HistoryChange) {
        self.perform(AttemptEffect::Change(change));
    }

    fn draft(&mut self, source: SummarySource, most_left: u64) {
        self.drafting = Some((source, most_left));
        self.perform(AttemptEffect::Summarize { source, most_left });
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
        let DraftSizes { before, after, .. } = draft;
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

    /// The most tokens that the attempt should leave in the window.
    fn most_left(&self) -> u64 {
        let AttemptContext {
            occasion,
            window,
            counted,
            ..
        } = &self.setting;
        match occasion {
            AttemptOccasion::Full(pressing) => pressing.most_left(window, *counted),
            _ => window.auto_compact,
        }
    }

    /// Why a draft cannot be used, whoever waits.
    fn useless(&self, draft: DraftSizes) -> Option<DiscardReason> {
        let (after, threshold) = (draft.after, self.setting.window.auto_compact);
        if after >= threshold {
            Some(DiscardReason::TooLarge { after, threshold })
        } else if after >= draft.before {
            Some(DiscardReason::WouldNotShrink)
        } else {
            None
        }
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
        let most = self.most_left().min(window.warning);
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
        let has_time = self.time == TimeForModel::Enough;
        state.breaker() == Breaker::Closed && is_first && is_enough && has_time
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
        if !self.may_ask() {
            return self.extract(DiscardReason::NoDraft);
        }
        match self.behind() {
            AppendedRequestWay::No(reason) => self.ask_plainly(reason),
            way => {
                self.model = ModelProgress::Asked;
                self.perform(AttemptEffect::AskBehind(way));
            }
        }
    }

    fn ask_plainly(&mut self, reason: &'static str) {
        let AttemptContext { window, asking, .. } = &self.setting;
        let plain = asking.counted.saturating_sub(asking.before_messages) + INSTRUCTIONS;
        if asking.plain == PlainRequestSupport::Possible && plain <= window.size {
            self.model = ModelProgress::Asked;
            self.draft(SummarySource::PlainRequest(reason), self.most_left());
        } else {
            self.extract(DiscardReason::NoDraft);
        }
    }

    fn take_failure(&mut self, passes: FailureTransience) {
        let has_room = self.setting.asking.used < self.setting.window.auto_compact;
        if self.is_ahead() && passes == FailureTransience::Passes && has_room {
            // There is room for another try after the next answer.
            self.change(HistoryChange::ModelFailed);
            self.model = ModelProgress::Failed;
            return self.perform(AttemptEffect::GiveUp);
        }
        self.ask_plainly("asking after the client's own messages failed");
    }

    /// Goes on without a model, for this reason: extracts become the summary. Where a summary is made because it pays,
    /// there is room, so nothing is worth extracts.
    fn extract(&mut self, reason: DiscardReason) {
        let was_asked = self.model != ModelProgress::NotAsked;
        if self.model == ModelProgress::Asked {
            self.model = ModelProgress::Failed;
            self.change(HistoryChange::ModelFailed);
        }
        self.search = None;
        match (self.pays(), was_asked) {
            (false, _) => self.draft(SummarySource::Extracts, self.most_left()),
            (true, true) => self.give_up_summary(KeptDraft::Summary, reason, None),
            (true, false) => self.perform(AttemptEffect::GiveUp),
        }
    }

    fn take_summary(&mut self, draft: DraftSizes) {
        self.has_written();
        match self.useless(draft) {
            None if self.draft_fuller(draft) => {}
            None => self.take_draft(KeptDraft::Summary, draft),
            Some(reason) => self.try_next(reason),
        }
    }

    fn take_no_summary(&mut self, reason: NoSummaryReason) {
        match reason {
            NoSummaryReason::Impossible => self.not_summarized(DiscardReason::NoDraft),
            NoSummaryReason::WouldNotShrink => {
                self.has_written();
                self.try_next(DiscardReason::WouldNotShrink);
            }
            NoSummaryReason::NotWritten if self.model == ModelProgress::Asked => {
                self.extract(DiscardReason::NoDraft);
            }
            NoSummaryReason::NotWritten => self.try_next(DiscardReason::NoDraft),
        }
    }

    /// Remembers that a model that was asked has written a summary, whatever becomes of it.
    fn has_written(&mut self) {
        if self.model == ModelProgress::Asked {
            self.model = ModelProgress::Wrote;
        }
    }

    /// Tries what comes after a summary that cannot be used. One that was paid for is not discarded for extracts that are
    /// a little shorter, so it may first leave as much as the threshold allows; a model that is asked again would not
    /// answer shorter, and would be paid twice. Where the same text leaves too much, less is put beside it.
    fn try_next(&mut self, reason: DiscardReason) {
        let is_too_large = matches!(reason, DiscardReason::TooLarge { .. });
        if (is_too_large || self.search.is_some()) && self.draft_smaller() {
            return;
        }
        let threshold = self.setting.window.auto_compact;
        match self.drafting {
            Some((SummarySource::Answer, most_left))
                if self.search.is_none() && most_left < threshold =>
            {
                self.draft(SummarySource::Answer, threshold);
            }
            Some((SummarySource::Answer | SummarySource::PlainRequest(_), _)) => {
                self.extract(reason);
            }
            Some((SummarySource::Extracts, _)) | None => self.not_summarized(reason),
        }
    }

    /// Drafts the same text again with less beside it, after a draft that was too large. Returns whether there is less to
    /// aim at.
    fn draft_smaller(&mut self) -> bool {
        let Some((source, aim)) = self.drafting.filter(|_| !self.pays()) else {
            return false;
        };
        let least = self.setting.asking.before_messages;
        let threshold = self.setting.window.auto_compact;
        let search = (self.search).get_or_insert_with(|| AimSearch::new(least, aim.min(threshold)));
        search.is_too_large(aim);
        let next = search.next_after(aim);
        self.draft_again(source, next)
    }

    /// Drafts the same text again with more beside it, after a draft that is smaller than it has to be: one that was
    /// made smaller step by step, or for which the user's words were left out although there is room for them. Returns
    /// whether there is more to aim at.
    fn draft_fuller(&mut self, draft: DraftSizes) -> bool {
        let Some((source, aim)) = self.drafting.filter(|_| !self.pays()) else {
            return false;
        };
        let most = self.most_left();
        let stays = self.setting.asking.before_messages;
        let free = most.saturating_sub(stays);
        let search = match &mut self.search {
            Some(search) => search,
            None if draft.misses_words => {
                let fullest = stays.saturating_add(free.saturating_mul(MOST_OVERSTATED));
                (self.search).insert(AimSearch::new(aim, fullest.max(aim)))
            }
            None => return false,
        };
        // Where half of the window stays in any case, that is new results, which the next summary takes in.
        let may_fill = match stays >= most / 2 {
            true => most,
            false => stays + free / 100 * MOST_FILLED,
        };
        match aim > most {
            true if draft.after > may_fill => search.is_too_large(aim),
            true if !draft.misses_words => return false,
            _ => search.fits(aim),
        }
        let next = search.next_after(aim);
        self.draft_again(source, next)
    }

    fn draft_again(&mut self, source: SummarySource, aim: Option<u64>) -> bool {
        let source = match source {
            SummarySource::PlainRequest(_) => SummarySource::Answer,
            source => source,
        };
        aim.inspect(|aim| self.draft(source, *aim)).is_some()
    }

    /// Ends an attempt for which there is no summary at all.
    fn not_summarized(&mut self, reason: DiscardReason) {
        self.perform(AttemptEffect::Discard(KeptDraft::Summary, reason));
        let used = self.setting.state.measured.used;
        self.change(HistoryChange::GainedTooLittle { used, after: None });
        self.without_summary();
    }

    fn take_draft(&mut self, kept: KeptDraft, draft: DraftSizes) {
        if !self.is_ahead() || self.is_worth_it(draft) {
            return self.perform(AttemptEffect::Keep(kept));
        }
        self.give_up_summary(kept, DiscardReason::FreesTooLittle, Some(draft.after));
    }

    /// Ends an attempt whose summary is of no use.
    fn give_up_summary(&mut self, kept: KeptDraft, reason: DiscardReason, after: Option<u64>) {
        self.perform(AttemptEffect::Discard(kept, reason));
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
