//! Tests the planner of histories: its rules hold whatever the outcome of its effects. `planned` tests the order of
//! steps in an attempt, `drafted` which drafts with a summary are tried, `priced` an attempt for its price, `remembered` what is
//! known of a history between its requests. `requests` tests what is decided before and after a request, and `machine` puts any
//! sequence of requests, answers and attempts to one history.

mod drafted;
mod fullest;
mod machine;
mod planned;
mod priced;
mod remembered;
mod requests;

use jiff::{SignedDuration, Timestamp};
use longhaul_core::history::{
    AppendedRequestWay, AttemptContext, AttemptEffect, AttemptInput, AttemptOccasion,
    CompactionAttempt, DraftSizes, FailureTransience, HistoryAuthor, HistoryChange, HistoryState,
    KeptDraft, MeasuredReply, NoSummaryReason, OverflowEvidence, OversizedRequest,
    PlainRequestSupport, SummaryRequestFacts, SummarySource,
};
use longhaul_core::plan::{Breaker, CompactionWorth, worth};
use longhaul_core::window::{Switches, WindowInput, WindowSettings, WindowStatus};
use proptest::prelude::*;

fn window(size: u64) -> WindowStatus {
    WindowStatus::new(&WindowInput {
        window: size,
        max_output: 8_000,
        used: 0,
        settings: WindowSettings::default(),
    })
    .unwrap()
}

/// Returns a history that was answered with so many tokens in its window, turn after turn.
fn answered(used: &[u64]) -> HistoryState {
    let mut state = HistoryState::default();
    let mut now = Timestamp::constant(1_800_000_000, 0);
    for used in used {
        now += SignedDuration::from_secs(20);
        let measured = MeasuredReply {
            used: *used,
            ..MeasuredReply::default()
        };
        state.answered(measured, now);
    }
    state
}

/// The generated answers that an attempt gets.
#[derive(Debug, Clone)]
struct Script {
    window: WindowStatus,
    occasion: AttemptOccasion,
    used: u64,
    cleared: Option<u64>,
    estimate: u64,
    noted: Option<u64>,
    answers: Result<(), FailureTransience>,
    /// What a draft with the model's summary leaves, at the first aim and at the threshold.
    written: [Result<u64, NoSummaryReason>; 2],
    /// What a draft with extracts leaves.
    extracts: Result<u64, NoSummaryReason>,
    times_out: Option<TimeOut>,
    failures: u32,
    summary_left: Option<u64>,
    behind: AppendedRequestWay,
    plain: PlainRequestSupport,
    micro: bool,
    automatic: bool,
}

/// When a request has waited long enough for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TimeOut {
    AtTheStart,
    WhileAskedBehind,
    WhileAskedPlainly,
}

const SIZE: u64 = 100_000;
/// The most drafts of one text: the first one, the smallest, five between them, and the best of these once more.
const SEARCHED: usize = 8;

fn drafted() -> impl Strategy<Value = Result<u64, NoSummaryReason>> {
    prop_oneof![
        4 => tokens().prop_map(Ok),
        1 => Just(Err(NoSummaryReason::NotWritten)),
        1 => Just(Err(NoSummaryReason::WouldNotShrink)),
        1 => Just(Err(NoSummaryReason::Impossible)),
    ]
}

fn tokens() -> impl Strategy<Value = u64> {
    0..SIZE
}

prop_compose! {
    fn script()(
        occasion in prop_oneof![
            Just(AttemptOccasion::Ahead),
            Just(AttemptOccasion::Price),
            Just(AttemptOccasion::Idle),
            (prop_oneof![Just(OverflowEvidence::Expected), Just(OverflowEvidence::ByProvider)], 0..4_u32)
                .prop_map(|(refused, tries)| AttemptOccasion::Full(OversizedRequest { refused, tries, limit: None })),
        ],
        used in tokens(),
        cleared in proptest::option::of(tokens()),
        estimate in tokens(),
        noted in proptest::option::of(tokens()),
        answers in prop_oneof![Just(Ok(())), Just(Err(FailureTransience::Passes)), Just(Err(FailureTransience::Stays))],
        (written, extracts) in ([drafted(), drafted()], drafted()),
        times_out in proptest::option::of(prop_oneof![
            Just(TimeOut::AtTheStart), Just(TimeOut::WhileAskedBehind), Just(TimeOut::WhileAskedPlainly)
        ]),
        failures in 0..5_u32,
        summary_left in proptest::option::of(tokens()),
        (behind, plain) in (
            prop_oneof![Just(AppendedRequestWay::AsItIs), Just(AppendedRequestWay::Raised), Just(AppendedRequestWay::No("x"))],
            prop_oneof![Just(PlainRequestSupport::Possible), Just(PlainRequestSupport::Impossible)],
        ),
        micro in any::<bool>(),
        automatic in any::<bool>(),
    ) -> Script {
        Script {
            window: window(SIZE), occasion, used, cleared, estimate, noted, answers, written, extracts, times_out,
            failures, summary_left, behind, plain, micro, automatic,
        }
    }
}

impl Script {
    /// What a draft with a summary should leave at first.
    fn aim(&self) -> u64 {
        match self.occasion {
            AttemptOccasion::Full(pressing) => pressing.most_left(&self.window, self.used),
            _ => self.window.auto_compact,
        }
    }

    /// The effect that drafts a summary from this source with the first aim.
    fn summarize(&self, source: SummarySource) -> AttemptEffect {
        AttemptEffect::Summarize {
            source,
            most_left: self.aim(),
        }
    }

    /// What a draft with a summary from this source leaves.
    fn drafted(&self, source: SummarySource, most_left: u64) -> Result<u64, NoSummaryReason> {
        match source {
            SummarySource::Extracts => self.extracts,
            SummarySource::PlainRequest(_) => self.written[0],
            SummarySource::Answer => {
                self.written[usize::from(most_left == self.window.auto_compact)]
            }
        }
    }
}

/// The effects of an attempt, in order, and the state that it left.
struct Performed {
    effects: Vec<AttemptEffect>,
    state: HistoryState,
    /// What the draft with the newest summary leaves.
    summary: Option<u64>,
}

fn perform(script: &Script, state: HistoryState, switches: &Switches) -> Performed {
    let window = script.window;
    let mut kept_state = state.clone();
    let mut attempt = CompactionAttempt::new(AttemptContext {
        occasion: script.occasion,
        window,
        switches,
        state,
        counted: script.used,
        asking: SummaryRequestFacts {
            used: script.used,
            counted: script.used,
            before_messages: 1_000,
            question: 500,
            behind: script.behind,
            plain: script.plain,
        },
    });
    let sizes = |after| DraftSizes {
        misses_words: false,
        before: script.used,
        after,
    };
    let mut effects = Vec::new();
    let mut summary = None;
    if script.times_out == Some(TimeOut::AtTheStart) {
        attempt.handle(AttemptInput::TimedOut);
    }
    while let Some(effect) = attempt.poll() {
        effects.push(effect);
        assert!(effects.len() < 20, "it never ends: {effects:?}");
        match effect {
            AttemptEffect::Clear(_) => {
                attempt.handle(AttemptInput::Cleared(script.cleared.map(sizes)));
            }
            AttemptEffect::EstimateSummary => {
                attempt.handle(AttemptInput::SummaryLeaves(script.estimate));
            }
            AttemptEffect::UseNotes => {
                attempt.handle(AttemptInput::Noted(script.noted.map(sizes)));
            }
            AttemptEffect::AskBehind(_) => {
                attempt.handle(match (script.times_out, script.answers) {
                    (Some(TimeOut::WhileAskedBehind), _) => AttemptInput::TimedOut,
                    (_, Ok(())) => AttemptInput::Answered,
                    (_, Err(passes)) => AttemptInput::NotAnswered { passes },
                })
            }
            AttemptEffect::Summarize {
                source: SummarySource::PlainRequest(_),
                ..
            } if script.times_out == Some(TimeOut::WhileAskedPlainly) => {
                attempt.handle(AttemptInput::TimedOut);
            }
            AttemptEffect::Summarize { source, most_left } => {
                let drafted = script.drafted(source, most_left);
                summary = drafted.ok();
                attempt.handle(match drafted {
                    Ok(after) => AttemptInput::Summarized(sizes(after)),
                    Err(reason) => AttemptInput::NotSummarized(reason),
                });
            }
            AttemptEffect::Change(change) => kept_state.apply(change, &window),
            AttemptEffect::Discard(..) | AttemptEffect::Keep(_) | AttemptEffect::GiveUp => {}
        }
    }
    Performed {
        effects,
        state: kept_state,
        summary,
    }
}

/// Whether an effect asks a model.
fn asks_model(effect: &AttemptEffect) -> bool {
    matches!(
        effect,
        AttemptEffect::AskBehind(_)
            | AttemptEffect::Summarize {
                source: SummarySource::PlainRequest(_),
                ..
            }
    )
}

/// The sources of the summaries that are drafted, in order, with what they should leave.
fn sources(effects: &[AttemptEffect]) -> Vec<(SummarySource, u64)> {
    let sources = effects.iter().filter_map(|effect| match effect {
        AttemptEffect::Summarize { source, most_left } => Some((*source, *most_left)),
        _ => None,
    });
    sources.collect()
}

fn state_of(script: &Script) -> HistoryState {
    let mut state = answered(&[script.used / 2, script.used]);
    let window = window(SIZE);
    if let Some(after) = script.summary_left {
        let by = Some(HistoryAuthor::Extracts);
        state.apply(
            HistoryChange::Shrunk {
                after,
                by,
                millis: 1,
            },
            &window,
        );
    }
    for _ in 0..script.failures {
        state.apply(HistoryChange::ModelFailed, &window);
    }
    state
}

proptest! {
    #[test]
    fn o2_an_attempt_ends_asks_once_and_keeps_only_what_pays(script in script()) {
        let switches = Switches {
            micro: script.micro,
            automatic: script.automatic,
            ..Switches::default()
        };
        let before = state_of(&script);
        let breaker = before.breaker();
        let Performed { effects, summary, .. } = perform(&script, before.clone(), &switches);
        let is_last = |effect: &AttemptEffect| {
            matches!(effect, AttemptEffect::Keep(_) | AttemptEffect::GiveUp)
        };
        prop_assert_eq!(effects.iter().filter(|effect| is_last(effect)).count(), 1);
        prop_assert!(effects.last().is_some_and(is_last), "{:?}", effects);

        let asked = effects.iter().filter(|effect| asks_model(effect)).count();
        let is_again = matches!(script.occasion, AttemptOccasion::Full(it) if it.tries > 0);
        if breaker == Breaker::Open || is_again || script.occasion == AttemptOccasion::Idle {
            prop_assert_eq!(asked, 0, "{:?}", effects);
        }
        // The second time is the plain request, after the first one failed.
        prop_assert!(asked <= 2, "{:?}", effects);
        if script.answers.is_ok() {
            prop_assert!(asked <= 1, "{:?}", effects);
        }
        if script.occasion == AttemptOccasion::Idle {
            prop_assert!(!effects.contains(&AttemptEffect::UseNotes));
        }
        let is_refused = matches!(
            script.occasion, AttemptOccasion::Full(it) if it.refused == OverflowEvidence::ByProvider
        );
        if !script.automatic && !is_refused {
            prop_assert!(!effects.contains(&AttemptEffect::UseNotes), "{:?}", effects);
            prop_assert_eq!(asked, 0);
        }
        if !script.micro && script.occasion != AttemptOccasion::Idle {
            prop_assert!(!effects.iter().any(|it| matches!(it, AttemptEffect::Clear(_))));
        }

        let after = |kept: KeptDraft| match kept {
            KeptDraft::Cleared => script.cleared,
            KeptDraft::Notes => script.noted,
            KeptDraft::Summary => summary,
        };
        if let Some(AttemptEffect::Keep(kept)) = effects.last() {
            let after = after(*kept);
            prop_assert!(after.is_some(), "what is kept was drafted: {:?}", effects);
            if script.occasion == AttemptOccasion::Ahead {
                let gain = worth(&window(SIZE), script.used, after.unwrap_or(u64::MAX));
                prop_assert_eq!(gain, CompactionWorth::Enough, "{:?}", effects);
            }
        }
        // Where somebody waits, a draft that fits is never thrown away.
        let fits = |after: u64| after < window(SIZE).auto_compact && after < script.used;
        if let AttemptOccasion::Full(_) = script.occasion
            && summary.is_some_and(fits)
        {
            prop_assert_eq!(effects.last(), Some(&AttemptEffect::Keep(KeptDraft::Summary)));
        }
        if effects.last() == Some(&AttemptEffect::Keep(KeptDraft::Summary)) {
            prop_assert!(summary.is_some_and(fits), "{:?}", effects);
        }
    }

    #[test]
    fn x9_extracts_come_last_and_never_where_there_is_room(script in script()) {
        let Performed { effects, .. } = perform(&script, state_of(&script), &Switches::default());
        let sources = sources(&effects);
        let is_extracts = |it: &(SummarySource, u64)| it.0 == SummarySource::Extracts;
        let extracts = sources.iter().filter(|it| is_extracts(it)).count();
        let (before, last) = sources.split_at(sources.len() - extracts);
        prop_assert!(last.iter().all(is_extracts), "{:?}", effects);
        // If they are too large, the fullest of them that fit are searched for.
        prop_assert!(extracts <= SEARCHED, "{:?}", effects);
        if script.occasion == AttemptOccasion::Price {
            prop_assert_eq!(extracts, 0, "{:?}", effects);
        }
        // Where somebody waits, they are tried before the request goes on unchanged.
        if matches!(script.occasion, AttemptOccasion::Full(_)) && effects.last() == Some(&AttemptEffect::GiveUp) {
            let is_impossible = sources.last().is_some_and(|(source, most_left)| {
                script.drafted(*source, *most_left) == Err(NoSummaryReason::Impossible)
            });
            prop_assert!(extracts > 0 || is_impossible, "{:?}", effects);
        }
        // A summary that was paid for may leave as much as the threshold allows before it is discarded, and the fullest
        // draft of it that fits is searched for.
        let aims: Vec<u64> = before.iter().map(|it| it.1).collect();
        prop_assert!(aims.len() <= 1 + SEARCHED, "{:?}", effects);
        prop_assert!(aims.iter().all(|aim| *aim <= script.window.auto_compact), "{:?}", effects);
    }

    #[test]
    fn x9_after_its_time_is_over_no_model_is_asked(script in script(), timeout in prop_oneof![
        Just(TimeOut::AtTheStart), Just(TimeOut::WhileAskedBehind), Just(TimeOut::WhileAskedPlainly)
    ]) {
        let script = Script { times_out: Some(timeout), ..script };
        let Performed { effects, .. } = perform(&script, state_of(&script), &Switches::default());
        let asked = effects.iter().rposition(asks_model);
        let is_behind = |it: &AttemptEffect| matches!(it, AttemptEffect::AskBehind(_));
        match timeout {
            TimeOut::AtTheStart => prop_assert_eq!(asked, None, "{:?}", effects),
            TimeOut::WhileAskedBehind => {
                let first = effects.iter().position(is_behind);
                prop_assert!(first.is_none() || asked == first, "{:?}", effects);
            }
            TimeOut::WhileAskedPlainly => {}
        }
        // A model that did not answer in time has failed.
        let timed_out = effects.iter().position(|it| match timeout {
            TimeOut::AtTheStart => false,
            TimeOut::WhileAskedBehind => is_behind(it),
            TimeOut::WhileAskedPlainly => asks_model(it) && !is_behind(it),
        });
        if let Some(at) = timed_out {
            let failed = AttemptEffect::Change(HistoryChange::ModelFailed);
            prop_assert_eq!(effects.get(at + 1), Some(&failed), "{:?}", effects);
        }
    }

    #[test]
    fn o2_a_model_has_failed_once_if_it_was_asked_and_wrote_nothing(script in script()) {
        let Performed { effects, .. } = perform(&script, state_of(&script), &Switches::default());
        let failed = effects.iter()
            .filter(|it| **it == AttemptEffect::Change(HistoryChange::ModelFailed))
            .count();
        let asked = effects.iter().any(asks_model);
        let answered = sources(&effects).iter().any(|it| it.0 == SummarySource::Answer);
        prop_assert!(failed <= usize::from(asked && !answered), "{:?}", effects);
        let extracts = sources(&effects).iter().any(|it| it.0 == SummarySource::Extracts);
        let wrote = answered || sources(&effects).iter().any(|(source, most_left)| {
            let is_plain = matches!(source, SummarySource::PlainRequest(_))
                && script.times_out != Some(TimeOut::WhileAskedPlainly);
            is_plain && script.drafted(*source, *most_left) != Err(NoSummaryReason::NotWritten)
        });
        if asked && extracts {
            prop_assert_eq!(failed, usize::from(!wrote), "{:?}", effects);
        }
    }

    #[test]
    fn x5_after_an_attempt_in_vain_nothing_is_due_until_more_is_there(script in script()) {
        let window = window(SIZE);
        let script = Script { occasion: AttemptOccasion::Ahead, ..script };
        let Performed { effects, state, .. } = perform(&script, state_of(&script), &Switches::default());
        let gained_nothing = effects.iter().any(|it| {
            matches!(it, AttemptEffect::Change(HistoryChange::GainedTooLittle { .. }))
        });
        if gained_nothing {
            prop_assert!(!state.is_due(&window), "{:?}", effects);
            prop_assert!(!state.is_due_with_notes(&window), "{:?}", effects);
        }
    }
}

#[test]
fn o2_after_five_extracts_the_model_is_tried_once_more() {
    let window = window(SIZE);
    let mut state = answered(&[50_000]);
    for _ in 0..3 {
        state.apply(HistoryChange::ModelFailed, &window);
    }
    assert_eq!(state.breaker(), Breaker::Open);
    let extracts = HistoryChange::Shrunk {
        after: 10_000,
        by: Some(HistoryAuthor::Extracts),
        millis: 1,
    };
    for _ in 0..4 {
        state.apply(extracts, &window);
        assert_eq!(state.breaker(), Breaker::Open);
    }
    state.apply(extracts, &window);
    assert_eq!(state.breaker(), Breaker::Closed);
    state.apply(HistoryChange::ModelFailed, &window);
    assert_eq!(state.breaker(), Breaker::Open, "one failure is enough then");
}

#[test]
fn x5_a_summary_that_gained_too_little_takes_twice_as_much_the_next_time() {
    let window = window(SIZE);
    let mut state = answered(&[40_000, 50_000]);
    let in_vain = |used| HistoryChange::GainedTooLittle {
        used,
        after: Some(45_000),
    };
    let rests_for = |state: &HistoryState| {
        let due = |used: &u64| {
            let mut later = state.clone();
            later.measured.used = *used;
            later.is_due_with_notes(&window)
        };
        (50_000..).step_by(500).find(due).unwrap() - 50_000
    };
    state.apply(in_vain(50_000), &window);
    let first = rests_for(&state);
    state.apply(in_vain(50_000), &window);
    state.apply(in_vain(50_000), &window);
    assert!(rests_for(&state) > first, "{first}");
}
