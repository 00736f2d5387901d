//! What a gateway does about its window besides decisions by price: it makes the conversation smaller ahead of the
//! threshold, holds that back until the threshold is reached, and makes room where a request would not fit.
//!
//! The decisions are the gateway's own (`history/`): the state of the conversation says when an attempt is due, and an
//! attempt says what is made. Here the drafts are made by their sizes alone.

use jiff::{SignedDuration, Timestamp};

use super::{ActionReason, Simulation, SummaryShape};
use crate::economy::{
    EconomyPolicy, PrefixWarmth, SubjectEffect, SummaryForecast, VERBATIM_PROMPTS,
};
use crate::engine::SummaryTiming;
use crate::history::{
    AnsweredRequest, AppendedRequestWay, AttemptContext, AttemptEffect, AttemptInput,
    AttemptOccasion, CompactionAttempt, DraftSizes, HistoryAuthor, HistoryChange, HistoryState,
    KeptDraft, MeasuredReply, MessagesAtHand, NotesAtHand, OverflowEvidence, OversizedRequest,
    PlainRequestSupport, ReplyFollowUp, RoomNeed, SummaryPrice, SummaryRequestFacts, room_need,
};
use crate::message::Id;
use crate::rehydrate::{MOST_RESTORED_FILES, RESTORED_TOKENS_OF_A_FILE};
use crate::replay::session::ItemKind;
use crate::window::Switches;

/// How long a model takes for a summary, in milliseconds.
const SUMMARY_TAKES: u64 = 45_000;
/// How long a request takes whose time is not recorded, in seconds.
const REQUEST_TAKES: i64 = 10;
/// The tokens of the request for a summary.
const QUESTION: u64 = 1_000;

/// What a gateway remembers of a conversation that is replayed.
#[derive(Debug, Default)]
pub(super) struct GatewayWindow {
    history: HistoryState,
    /// What was made ahead, and waits for the threshold.
    prepared: Option<PreparedView>,
    /// When the last request was made.
    now: Timestamp,
}

/// A smaller view that was made ahead.
#[derive(Debug)]
enum PreparedView {
    /// These results are cleared, by their items.
    Cleared(Vec<u64>),
    /// Everything before an item is summarized.
    Summary(AheadSummary),
}

/// A summary that was made ahead.
#[derive(Debug, Clone, Copy)]
struct AheadSummary {
    /// The first item that it keeps.
    cut: usize,
    /// The tokens of the view before that item.
    kept_from: u64,
    /// The tokens of the summary, with the user's messages and the restored files.
    tokens: u64,
}

/// Whether a view that was made ahead is still held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PreparedStanding {
    HeldBack,
    None,
}

impl Simulation<'_> {
    /// Puts a view in place that was made ahead, once the threshold is reached. One that was paid for comes into use
    /// soon, so nothing is decided by price while it is held back.
    pub(super) fn at_threshold(
        &mut self,
        request: usize,
        warmth: PrefixWarmth,
        reused: &mut u64,
    ) -> PreparedStanding {
        let window = self.conversation.requests[request].window;
        if self.gateway.prepared.is_none() {
            return PreparedStanding::None;
        }
        if self.view.view() < window.auto_compact {
            return PreparedStanding::HeldBack;
        }
        match self.gateway.prepared.take() {
            Some(PreparedView::Cleared(keys)) => {
                let results = self.view.results().enumerate();
                let chosen: Vec<usize> = results
                    .filter(|(_, result)| keys.contains(&result.key))
                    .map(|(index, _)| index)
                    .collect();
                self.clear(request, &chosen, ActionReason::Threshold, reused);
            }
            Some(PreparedView::Summary(summary)) => {
                let shape = SummaryShape {
                    cut: summary.cut,
                    kept: self.view.sent_view().saturating_sub(summary.kept_from),
                    summary: summary.tokens,
                };
                self.replace(request, shape, warmth, ActionReason::Threshold, reused);
            }
            None => {}
        }
        PreparedStanding::None
    }

    /// Makes room for a request that would not fit.
    pub(super) fn make_room(&mut self, request: usize, warmth: PrefixWarmth, reused: &mut u64) {
        let window = self.conversation.requests[request].window;
        let expected = self.view.view();
        let switches = Switches::default();
        if room_need(expected, &window, SummaryTiming::Ahead, &switches) == RoomNeed::None {
            return;
        }
        let occasion = AttemptOccasion::Full(OversizedRequest {
            refused: OverflowEvidence::Expected,
            tries: 0,
            limit: None,
        });
        self.attempt(request, warmth, (occasion, EconomyPolicy::Clear));
        if self.gateway.prepared.is_some() {
            // The request waited for it.
            self.at_threshold(request, warmth, reused);
        }
    }

    /// Notes that something was done because it pays.
    pub(super) fn shrunk_by_price(&mut self, request: usize, by: Option<HistoryAuthor>) {
        let window = self.conversation.requests[request].window;
        let change = HistoryChange::Shrunk {
            after: self.view.view(),
            by,
            millis: by.map_or(0, |_| SUMMARY_TAKES),
        };
        self.gateway.history.apply(change, &window);
    }

    /// What follows the answer to a request: an attempt to make the conversation smaller, if the threshold is near.
    pub(super) fn answered(&mut self, request: usize, policy: EconomyPolicy) {
        let priced = &self.conversation.requests[request];
        let window = priced.window;
        let later = SignedDuration::from_secs(REQUEST_TAKES);
        let estimated = self.gateway.now.checked_add(later);
        let now = (priced.start).or(estimated.ok());
        self.gateway.now = now.unwrap_or(self.gateway.now);
        let measured = MeasuredReply {
            used: self.view.view() + priced.written,
            ..MeasuredReply::default()
        };
        self.gateway.history.answered(measured, self.gateway.now);
        if self.gateway.prepared.is_some() || self.made.is_some() {
            return;
        }
        let follows = self.gateway.history.after_reply(&AnsweredRequest {
            window: Some(&window),
            switches: &Switches::default(),
            timing: SummaryTiming::Ahead,
            messages: MessagesAtHand::Kept,
            notes: NotesAtHand::Off,
            price: SummaryPrice::NotEarned,
        });
        if follows == ReplyFollowUp::CompactAhead {
            // What was sent is in the cache now.
            let warmth = match self.conversation.warmth(request, self.view.view()) {
                PrefixWarmth::Cold => PrefixWarmth::Hot,
                warmth => warmth,
            };
            self.attempt(request, warmth, (AttemptOccasion::Ahead, policy));
        }
    }

    /// One attempt to make the conversation smaller. What it makes is prepared.
    fn attempt(
        &mut self,
        request: usize,
        warmth: PrefixWarmth,
        (occasion, policy): (AttemptOccasion, EconomyPolicy),
    ) {
        let window = self.conversation.requests[request].window;
        let switches = Switches::default();
        let before = self.view.view();
        let used = match occasion {
            AttemptOccasion::Ahead | AttemptOccasion::Price => self.gateway.history.measured.used,
            AttemptOccasion::Idle | AttemptOccasion::Full(_) => before,
        };
        let mut attempt = CompactionAttempt::new(AttemptContext {
            occasion,
            window,
            switches: &switches,
            state: self.gateway.history.clone(),
            counted: before,
            asking: SummaryRequestFacts {
                used,
                counted: before,
                before_messages: self.view.prefix(),
                question: QUESTION,
                behind: AppendedRequestWay::AsItIs,
                plain: PlainRequestSupport::Possible,
            },
        });
        let mut cleared = (Vec::new(), before);
        let summary = self.summary_of_sent(request);
        let kept = self.view.view().saturating_sub(summary.kept_from);
        let left = self.view.prefix() + summary.tokens + kept;
        while let Some(effect) = attempt.poll() {
            let input = match effect {
                AttemptEffect::Clear(_) => {
                    cleared = self.cleared_draft(request, policy);
                    let sizes = DraftSizes {
                        before,
                        after: cleared.1,
                        misses_words: false,
                    };
                    AttemptInput::Cleared((!cleared.0.is_empty()).then_some(sizes))
                }
                AttemptEffect::EstimateSummary => {
                    AttemptInput::SummaryLeaves(self.least_after(request))
                }
                AttemptEffect::UseNotes => AttemptInput::Noted(None),
                AttemptEffect::AskBehind(_) => {
                    self.pay_for_summary(request, warmth);
                    AttemptInput::Answered
                }
                AttemptEffect::Summarize { .. } => AttemptInput::Summarized(DraftSizes {
                    before,
                    after: left,
                    misses_words: false,
                }),
                AttemptEffect::Change(change) => {
                    self.gateway.history.apply(change, &window);
                    continue;
                }
                AttemptEffect::Discard(..) => continue,
                AttemptEffect::Keep(kept) => {
                    let (prepared, after, by) = match kept {
                        KeptDraft::Cleared => (PreparedView::Cleared(cleared.0), cleared.1, None),
                        KeptDraft::Notes | KeptDraft::Summary => {
                            let by = Some(HistoryAuthor::Model);
                            (PreparedView::Summary(summary), left, by)
                        }
                    };
                    let change = HistoryChange::Shrunk {
                        after,
                        by,
                        millis: by.map_or(0, |_| SUMMARY_TAKES),
                    };
                    self.gateway.history.apply(change, &window);
                    self.gateway.prepared = Some(prepared);
                    return;
                }
                AttemptEffect::GiveUp => return,
            };
            attempt.handle(input);
        }
    }

    /// The results that clearing under pressure removes, and the view that it leaves.
    fn cleared_draft(&self, request: usize, policy: EconomyPolicy) -> (Vec<u64>, u64) {
        let window = &self.conversation.requests[request].window;
        let chosen = self.under_pressure(window, policy);
        let results = chosen.iter().filter_map(|at| self.view.results().nth(*at));
        let (keys, freed): (Vec<u64>, Vec<u64>) =
            results.map(|result| (result.key, result.freed)).unzip();
        let left = self.view.view().saturating_sub(freed.iter().sum());
        (keys, left)
    }

    /// A summary of everything that was sent.
    fn summary_of_sent(&self, request: usize) -> AheadSummary {
        let added = self.conversation.added(request);
        let cut = match self.run.steps.len() > request {
            true => added.end,
            // The request is only about to be sent.
            false => added.start,
        };
        let scale = self.conversation.requests[request].window.scale();
        let prompts = self.prompts[cut].min(scale.apply(VERBATIM_PROMPTS));
        let text = SummaryForecast::FIRST_OUTPUT + SummaryForecast::BESIDE;
        AheadSummary {
            cut,
            kept_from: self.view.sent_view(),
            tokens: text + prompts + self.restored_files(request, cut),
        }
    }

    /// The fewest tokens that a summary is likely to leave.
    fn least_after(&self, request: usize) -> u64 {
        let priced = &self.conversation.requests[request];
        let most = priced.window.scale().apply(VERBATIM_PROMPTS);
        let prompts = self.prompts[priced.items_end].min(most);
        self.view.prefix() + prompts + SummaryForecast::BESIDE
    }

    /// The tokens of the files that a summary at a threshold restores: the newest ones, as far as a whole reading shows
    /// their text.
    fn restored_files(&self, request: usize, cut: usize) -> u64 {
        let scale = self.conversation.requests[request].window.scale();
        let each = scale.apply(RESTORED_TOKENS_OF_A_FILE);
        let items = self.conversation.items[..cut].iter().rev();
        let results = items.filter(|item| item.kind == ItemKind::Result);
        let mut files: Vec<(Id, Option<u64>)> = Vec::new();
        for (subject, tokens) in results.filter_map(|item| Some((item.subject?, item.tokens))) {
            if subject.effect == SubjectEffect::Runs {
                continue;
            }
            let at = files.iter().position(|(file, _)| *file == subject.target);
            if at.is_none() && files.len() < MOST_RESTORED_FILES {
                files.push((subject.target, None));
            }
            let at = at.or(files.len().checked_sub(1));
            let known = at.and_then(|at| files.get_mut(at));
            let is_whole = subject.effect == SubjectEffect::Reads && subject.part.is_none();
            if let Some((_, size @ None)) =
                known.filter(|(file, _)| is_whole && *file == subject.target)
            {
                *size = Some(tokens.min(each));
            }
        }
        files.into_iter().filter_map(|(_, size)| size).sum()
    }
}
