//! One history under any sequence of requests, answers, attempts, failures, cancels, switches and clocks: what is decided
//! keeps to its rules, whatever happens in between.
//!
//! The machine does what a gateway does, with tokens instead of messages: it gathers figures, asks for decisions and
//! performs them, one attempt at a time.

mod steps;

use std::iter;

use jiff::{SignedDuration, Timestamp};
use longhaul_core::economy::EconomyPolicy;
use longhaul_core::engine::SummaryTiming;
use longhaul_core::history::{
    AnsweredRequest, AppendedRequestWay, AttemptContext, AttemptEffect, AttemptInput,
    AttemptOccasion, BeginningChoice, BeginningOrigin, BeginningUse, CompactionAttempt, DraftSizes,
    FormerBeginning, FoundBeginning, HistoryAuthor, HistoryChange, HistoryState, KeptDraft,
    MeasuredContinuation, MeasuredReply, MessagesAtHand, NoSummaryReason, NotesAtHand,
    OverflowEvidence, OversizedRequest, PlainRequestSupport, PreparedPrefix, ReplyFollowUp,
    RequestStep, RoomNeed, SummaryPrice, SummaryRequestFacts, SummarySource, UnansweredRequest,
    room_need,
};
use longhaul_core::micro::MicroLimits;
use longhaul_core::models::{ModelSpec, ModelTable};
use longhaul_core::plan::{Breaker, CompactionWorth, least_freed, policy_in_effect, worth};
use longhaul_core::window::{SwitchVerdict, SwitchableAction, Switches, WindowStatus};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use steps::{Fate, How, Step, step};

/// Tokens of the system prompt and the tools.
const HEAD: u64 = 500;
/// How often a request is made smaller before it is sent.
const TRIES: u32 = 4;

/// What replaces the beginning of the history.
#[derive(Debug, Clone, Copy)]
struct Prefix {
    /// The message that ends what it replaces.
    at: u128,
    tokens: u64,
    origin: BeginningOrigin,
}

/// An attempt that runs.
struct Running {
    attempt: CompactionAttempt<'static>,
    occasion: AttemptOccasion,
    /// The conditions at its beginning.
    switches: Switches,
    breaker: Breaker,
    at: u128,
    before: u64,
    drafts: [Option<(u64, Option<SummarySource>)>; 3],
    effects: Vec<AttemptEffect>,
}

/// The end of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    Kept,
    GaveUp,
}

struct Machine {
    window: WindowStatus,
    model: ModelSpec,
    timing: SummaryTiming,
    state: HistoryState,
    switches: Switches,
    notes: NotesAtHand,
    policy: EconomyPolicy,
    now: Timestamp,
    /// The messages, each with a hash that stands for all up to it, and its tokens.
    messages: Vec<(u128, u64)>,
    said: u128,
    prefixes: Vec<Prefix>,
    /// What the beginning of the last request was replaced by.
    former: Option<u128>,
    running: Option<Running>,
    /// Failures in a row, and replacements without a model since the breaker opened.
    failures: u32,
    without: u32,
    /// Nothing ahead is begun below so many tokens.
    rest: u64,
    has_failed_to_free: bool,
    /// What was decided, for the statistics of the test.
    decided: Vec<&'static str>,
}

impl Machine {
    fn new(size: u64, timing: SummaryTiming) -> Self {
        Self {
            window: super::window(size),
            model: (*ModelTable::builtin().resolve("claude-sonnet-4-6").spec).clone(),
            timing,
            state: HistoryState::default(),
            switches: Switches::default(),
            notes: NotesAtHand::Off,
            policy: EconomyPolicy::Clear,
            now: Timestamp::constant(1_800_000_000, 0),
            messages: Vec::new(),
            said: 0,
            prefixes: Vec::new(),
            former: None,
            running: None,
            failures: 0,
            without: 0,
            rest: 0,
            has_failed_to_free: false,
            decided: Vec::new(),
        }
    }

    fn may(&self, action: SwitchableAction) -> bool {
        self.switches.decide(action) == SwitchVerdict::Allowed
    }

    fn say(&mut self, tokens: u64) {
        self.said += 1;
        self.messages.push((self.said, tokens));
    }

    fn end(&self) -> u128 {
        self.messages.last().map_or(0, |(at, _)| *at)
    }

    fn share(&self, thousandths: u16) -> u64 {
        self.window.size * u64::from(thousandths) / 1_000
    }

    fn position(&self, at: u128) -> Option<usize> {
        self.messages.iter().position(|(message, _)| *message == at)
    }

    /// The prefix that replaces most of the history.
    fn found(&self) -> Option<Prefix> {
        let known = self.prefixes.iter().enumerate();
        let known =
            known.filter_map(|(newest, prefix)| Some((self.position(prefix.at)?, newest, *prefix)));
        known
            .max_by_key(|(at, newest, _)| (*at, *newest))
            .map(|(_, _, prefix)| prefix)
    }

    fn tokens_with(&self, prefix: Option<Prefix>) -> u64 {
        let (from, replaced) = match prefix {
            Some(prefix) => (
                self.position(prefix.at).map_or(0, |at| at + 1),
                prefix.tokens,
            ),
            None => (0, 0),
        };
        let rest = self.messages.iter().skip(from).map(|(_, tokens)| tokens);
        HEAD + replaced + rest.sum::<u64>()
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Request(new, fate, how) => self.request(self.share(*new), *fate, *how),
            Step::Perform(how) => {
                if let Some(mut running) = self.running.take()
                    && self.perform(&mut running, *how).is_none()
                {
                    self.running = Some(running);
                }
            }
            Step::Cancel => self.running = None,
            Step::Later(seconds) => self.now += SignedDuration::from_secs(i64::from(*seconds)),
            Step::Back(seconds) => self.now -= SignedDuration::from_secs(i64::from(*seconds)),
            Step::Rewind(messages) => {
                let kept = self.messages.len().saturating_sub(usize::from(*messages));
                self.messages.truncate(kept);
            }
            Step::Switch(switches) => self.switches = *switches,
            Step::Notes(notes) => self.notes = *notes,
            Step::Economy(policy) => self.policy = *policy,
        }
        let breaker = if self.failures >= 3 {
            Breaker::Open
        } else {
            Breaker::Closed
        };
        assert_eq!(self.state.breaker(), breaker);
    }

    fn request(&mut self, new: u64, fate: Fate, how: How) {
        self.say(new);
        let (prepared, mut sent) = self.choose(how);
        let policy = policy_in_effect(self.policy, &self.switches, &self.model);
        let limits = MicroLimits::default();
        let step =
            (self.state).before_request(policy, prepared, (&self.switches, &limits), self.now);
        let mut price = SummaryPrice::NotEarned;
        match step {
            RequestStep::ClearAfterRest => {
                self.decided.push("rested");
                assert!(self.may(SwitchableAction::Micro));
                assert_eq!(policy, EconomyPolicy::Off);
                if self.attempt(AttemptOccasion::Idle, sent, how) == Ended::Kept {
                    sent = self.found();
                }
            }
            RequestStep::DecideByPrice(policy) => {
                assert_ne!(policy, EconomyPolicy::Off);
                assert!(self.may(SwitchableAction::Automatic));
                assert_eq!(prepared, PreparedPrefix::None);
                if policy == EconomyPolicy::Full && how.pays {
                    price = SummaryPrice::Pays;
                }
            }
            RequestStep::Nothing => {}
        }
        sent = self.make_room(sent, how);
        self.former = sent.map(|prefix| prefix.at);
        let tokens = self.tokens_with(sent);
        let messages = self.state.may_need_messages(&UnansweredRequest {
            window: Some(&self.window),
            bytes: tokens * 4,
            notes: self.notes,
            price,
        });
        match fate {
            Fate::Answered(output) => {
                let at = self.end();
                let output = self.share(output);
                self.say(output);
                let measured = MeasuredReply {
                    used: tokens + output,
                    at,
                    beginning: self.former,
                    ..MeasuredReply::default()
                };
                self.state.answered(measured, self.now);
                self.follow(price, messages, how);
            }
            Fate::Refused if self.may(SwitchableAction::Reactive) => {
                self.fits_after(sent, OverflowEvidence::ByProvider, how);
            }
            Fate::Refused | Fate::Failed => {}
        }
    }

    /// Chooses the beginning that a request is sent with.
    fn choose(&mut self, how: How) -> (PreparedPrefix, Option<Prefix>) {
        let Some(newer) = self.found() else {
            return (PreparedPrefix::None, None);
        };
        let found = FoundBeginning {
            beginning: newer.at,
            origin: newer.origin,
            used: BeginningUse::Prepared,
            sent_elsewhere: how.elsewhere,
        };
        let choice = self.state.choose_beginning(self.former, &found);
        if choice == BeginningChoice::Found {
            return (PreparedPrefix::None, Some(newer));
        }
        assert_eq!(newer.origin, BeginningOrigin::Ahead);
        let before = match self.former {
            None => None,
            Some(at) => {
                let same = |prefix: &&Prefix| prefix.at == at && self.position(prefix.at).is_some();
                let Some(before) = self.prefixes.iter().rev().find(same) else {
                    return (PreparedPrefix::None, Some(newer));
                };
                Some(*before)
            }
        };
        let expected = self.tokens_with(before);
        let former = FormerBeginning {
            beginning: self.former,
            continuation: match self.position(self.state.measured.at) {
                Some(_) => MeasuredContinuation::Continues,
                None => MeasuredContinuation::Differs,
            },
            expected,
        };
        match self.state.keeps_former(&former, &self.window) {
            PreparedPrefix::HeldBack => {
                self.decided.push("held back");
                // What is held back never makes a request wait.
                let need = room_need(expected, &self.window, self.timing, &self.switches);
                assert_eq!(need, RoomNeed::None);
                (PreparedPrefix::HeldBack, before)
            }
            PreparedPrefix::None => (PreparedPrefix::None, Some(newer)),
        }
    }

    fn make_room(&mut self, sent: Option<Prefix>, how: How) -> Option<Prefix> {
        let need = |machine: &Self, sent| {
            let expected = machine.tokens_with(sent);
            room_need(expected, &machine.window, machine.timing, &machine.switches)
        };
        if need(self, sent) == RoomNeed::None {
            return sent;
        }
        self.decided.push("room");
        assert!(self.may(SwitchableAction::Automatic) || self.may(SwitchableAction::Micro));
        // Who waits is not made to wait for a better one: what was made ahead in the meantime is taken.
        self.finish(how);
        let sent = self.found().or(sent);
        if need(self, sent) == RoomNeed::None {
            return sent;
        }
        let made = self.fits_after(sent, OverflowEvidence::Expected, how);
        if self.may(SwitchableAction::Automatic) {
            // There is always a way, without a model if need be.
            assert!(made.is_some());
        }
        if made.is_some() {
            assert_eq!(need(self, made), RoomNeed::None, "it fits now");
        }
        made.or(sent)
    }

    /// Makes a request smaller, with less in each try. A replacement that is too large for the next try is not taken.
    fn fits_after(
        &mut self,
        sent: Option<Prefix>,
        refused: OverflowEvidence,
        how: How,
    ) -> Option<Prefix> {
        for tries in 0..TRIES {
            let occasion = AttemptOccasion::Full(OversizedRequest {
                refused,
                tries,
                limit: None,
            });
            if self.attempt(occasion, sent, how) == Ended::Kept {
                return self.found();
            }
        }
        None
    }

    /// Does what follows an answer.
    fn follow(&mut self, price: SummaryPrice, messages: MessagesAtHand, how: How) {
        let used = self.state.measured.used;
        let next = self.state.after_reply(&AnsweredRequest {
            window: Some(&self.window),
            switches: &self.switches,
            timing: self.timing,
            messages,
            notes: self.notes,
            price,
        });
        let may_compact = self.timing == SummaryTiming::Ahead
            && (self.may(SwitchableAction::Automatic) || self.may(SwitchableAction::Micro));
        let is_full = used >= self.window.auto_compact && !self.state.rests(used);
        if messages == MessagesAtHand::Kept && may_compact && is_full {
            assert_eq!(
                next,
                ReplyFollowUp::CompactAhead,
                "a full window is worked on"
            );
        }
        let occasion = match next {
            ReplyFollowUp::CompactAhead => {
                self.decided.push("ahead");
                assert!(may_compact);
                assert_eq!(messages, MessagesAtHand::Kept);
                assert!(used >= self.rest, "{used} of {}", self.rest);
                AttemptOccasion::Ahead
            }
            ReplyFollowUp::SummarizeByPrice => {
                self.decided.push("pays");
                assert_eq!(
                    (price, messages),
                    (SummaryPrice::Pays, MessagesAtHand::Kept)
                );
                assert!(self.may(SwitchableAction::Automatic));
                assert!(!self.has_failed_to_free || used >= self.rest);
                AttemptOccasion::Price
            }
            ReplyFollowUp::TakeNotes => {
                self.decided.push("notes");
                assert!(self.may(SwitchableAction::Notes) && self.notes != NotesAtHand::Off);
                return;
            }
            ReplyFollowUp::Nothing => return,
        };
        // Where one runs, work that nobody waits for is left to it.
        if self.running.is_none() {
            let sent = self.former.and_then(|at| {
                let mut known = self.prefixes.iter().rev();
                known.find(|prefix| prefix.at == at).copied()
            });
            let running = self.begin(occasion, sent, how);
            self.running = Some(running);
        }
    }

    /// Waits for the attempt that runs.
    fn finish(&mut self, how: How) {
        if let Some(mut running) = self.running.take() {
            while self.perform(&mut running, how).is_none() {}
        }
    }

    /// One attempt that a request waits for.
    fn attempt(&mut self, occasion: AttemptOccasion, sent: Option<Prefix>, how: How) -> Ended {
        self.finish(how);
        let mut running = self.begin(occasion, sent, how);
        let ended = iter::from_fn(|| Some(self.perform(&mut running, how)));
        ended.flatten().next().unwrap()
    }

    fn begin(&self, occasion: AttemptOccasion, sent: Option<Prefix>, how: How) -> Running {
        assert!(self.running.is_none(), "one attempt at a time");
        let before = self.tokens_with(sent);
        let facts = SummaryRequestFacts {
            used: before,
            counted: before,
            before_messages: HEAD,
            question: 100,
            behind: match how.writes {
                true => AppendedRequestWay::AsItIs,
                false => AppendedRequestWay::No("it is impossible here"),
            },
            plain: PlainRequestSupport::Possible,
        };
        Running {
            attempt: CompactionAttempt::new(AttemptContext {
                occasion,
                window: self.window,
                switches: Box::leak(Box::new(self.switches)),
                state: self.state.clone(),
                counted: before,
                asking: facts,
            }),
            occasion,
            switches: self.switches,
            breaker: self.state.breaker(),
            at: self.end(),
            before,
            drafts: [None; 3],
            effects: Vec::new(),
        }
    }

    /// Performs the next effect of an attempt.
    fn perform(&mut self, running: &mut Running, how: How) -> Option<Ended> {
        let effect = running.attempt.poll();
        let effect = effect.expect("an attempt that has not ended waits for nothing");
        running.effects.push(effect);
        assert!(running.effects.len() < 20, "{:?}", running.effects);
        running.check(effect);
        let sizes = |after| DraftSizes {
            misses_words: after % 3 == 0,
            before: running.before,
            after,
        };
        let share = |percent: u8| running.before * u64::from(percent) / 100;
        let input = match effect {
            AttemptEffect::Clear(_) => {
                let after = how.cleared.map(share);
                running.drafts[0] = after.map(|after| (after, None));
                AttemptInput::Cleared(after.map(sizes))
            }
            AttemptEffect::EstimateSummary => AttemptInput::SummaryLeaves(share(how.estimate)),
            AttemptEffect::UseNotes => {
                let after = how.noted.map(share);
                running.drafts[1] = after.map(|after| (after, None));
                AttemptInput::Noted(after.map(sizes))
            }
            AttemptEffect::AskBehind(_) => match how.asked {
                Ok(()) => AttemptInput::Answered,
                Err(passes) => AttemptInput::NotAnswered { passes },
            },
            AttemptEffect::Summarize { source, most_left } => {
                // Where a request waits, there are always extracts, and they are as small as is asked for.
                let is_awaited = matches!(running.occasion, AttemptOccasion::Full(_));
                let after = how.summary.or(is_awaited.then_some(50)).map(share);
                let after = after.map(|after| match is_awaited {
                    true => after.min(most_left - 1),
                    false => after,
                });
                running.drafts[2] = after.map(|after| (after, Some(source)));
                match after {
                    _ if matches!(source, SummarySource::PlainRequest(_)) && !how.writes => {
                        AttemptInput::NotSummarized(NoSummaryReason::NotWritten)
                    }
                    Some(after) => AttemptInput::Summarized(sizes(after)),
                    None => AttemptInput::NotSummarized(NoSummaryReason::WouldNotShrink),
                }
            }
            AttemptEffect::Change(change) => {
                self.change(change);
                return None;
            }
            AttemptEffect::Discard(..) => return None,
            AttemptEffect::Keep(kept) => {
                self.keep(running, kept, how.millis);
                return Some(Ended::Kept);
            }
            AttemptEffect::GiveUp => return Some(Ended::GaveUp),
        };
        running.attempt.handle(input);
        None
    }

    fn keep(&mut self, running: &Running, kept: KeptDraft, millis: u64) {
        let draft = match kept {
            KeptDraft::Cleared => running.drafts[0],
            KeptDraft::Notes => running.drafts[1],
            KeptDraft::Summary => running.drafts[2],
        };
        let (after, source) = draft.expect("what is kept was drafted");
        let origin = match running.occasion {
            AttemptOccasion::Ahead => BeginningOrigin::Ahead,
            AttemptOccasion::Price => BeginningOrigin::Price,
            AttemptOccasion::Idle | AttemptOccasion::Full(_) => BeginningOrigin::Waited,
        };
        if origin == BeginningOrigin::Ahead {
            let gain = worth(&self.window, running.before, after);
            assert_eq!(gain, CompactionWorth::Enough, "{:?}", running.effects);
        }
        self.prefixes.push(Prefix {
            at: running.at,
            tokens: after.saturating_sub(HEAD),
            origin,
        });
        let by = match (kept, source) {
            (KeptDraft::Cleared, _) => None,
            (KeptDraft::Notes, _) => Some(HistoryAuthor::Notes),
            (KeptDraft::Summary, Some(SummarySource::Extracts)) => Some(HistoryAuthor::Extracts),
            (KeptDraft::Summary, _) => Some(HistoryAuthor::Model),
        };
        self.change(HistoryChange::Shrunk { after, by, millis });
    }

    /// Applies what an attempt learned, to the state and to what the test expects of it.
    fn change(&mut self, change: HistoryChange) {
        let least = least_freed(&self.window);
        match change {
            HistoryChange::RestUntil(used) => self.rest = used,
            HistoryChange::GainedTooLittle { used, .. } => {
                self.rest = used + least;
                self.has_failed_to_free = true;
            }
            HistoryChange::ModelFailed => self.failures += 1,
            HistoryChange::Shrunk { after, by, .. } => {
                self.rest = after + least;
                self.has_failed_to_free &= by.is_none();
                if by == Some(HistoryAuthor::Model) {
                    (self.failures, self.without) = (0, 0);
                } else if self.failures >= 3 {
                    self.without += 1;
                    if self.without == 5 {
                        (self.failures, self.without) = (2, 0);
                    }
                }
            }
        }
        self.state.apply(change, &self.window);
        if let HistoryChange::GainedTooLittle { used, .. } = change {
            assert!(self.state.rests(used), "a rest follows");
        }
    }
}

impl Running {
    /// Checks that an effect is permitted.
    fn check(&self, effect: AttemptEffect) {
        let may = |action| self.switches.decide(action) == SwitchVerdict::Allowed;
        let (is_refused, is_again) = match self.occasion {
            AttemptOccasion::Full(need) => {
                (need.refused == OverflowEvidence::ByProvider, need.tries > 0)
            }
            _ => (false, false),
        };
        let may_summarize = match is_refused {
            true => may(SwitchableAction::Reactive),
            false => may(SwitchableAction::Automatic),
        };
        let asks = |effect: &AttemptEffect| {
            matches!(
                effect,
                AttemptEffect::AskBehind(_)
                    | AttemptEffect::Summarize {
                        source: SummarySource::PlainRequest(_),
                        ..
                    }
            )
        };
        match effect {
            AttemptEffect::Clear(_) => assert!(may(SwitchableAction::Micro)),
            AttemptEffect::UseNotes | AttemptEffect::Summarize { .. } => {
                assert!(may_summarize, "{:?}", self.effects);
            }
            _ => {}
        }
        if asks(&effect) {
            assert!(may_summarize && !is_again, "{:?}", self.effects);
            assert_eq!(self.breaker, Breaker::Closed, "{:?}", self.effects);
            assert_ne!(self.occasion, AttemptOccasion::Idle);
            let asked = self.effects.iter().filter(|effect| asks(effect)).count();
            assert!(asked <= 2, "{:?}", self.effects);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn v9_x5_o2_whatever_happens_to_a_history_what_is_decided_keeps_to_its_rules(
        size in prop_oneof![Just(40_000_u64), Just(200_000), Just(1_000_000)],
        timing in prop_oneof![4 => Just(SummaryTiming::Ahead), 1 => Just(SummaryTiming::WhenFull)],
        steps in prop::collection::vec(step(), 1..80),
    ) {
        let mut machine = Machine::new(size, timing);
        for step in &steps {
            machine.step(step);
        }
    }
}

/// The sequences above are worth something only if every decision occurs in them.
#[test]
fn v9_every_decision_occurs_in_the_sequences() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let steps = prop::collection::vec(step(), 60..80);
    let mut decided = std::collections::BTreeSet::new();
    for _ in 0..200 {
        let steps = steps.new_tree(&mut runner).unwrap().current();
        let mut machine = Machine::new(200_000, SummaryTiming::Ahead);
        steps.iter().for_each(|step| machine.step(step));
        decided.extend(machine.decided);
    }
    let all = ["ahead", "held back", "notes", "pays", "rested", "room"];
    assert_eq!(decided.into_iter().collect::<Vec<_>>(), all);
}
