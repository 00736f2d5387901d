//! Tests the planner of histories: its rules hold whatever the outcome of its effects. `planned` tests the order of
//! steps in an attempt, `priced` an attempt for its price, `remembered` what is known of a history between its requests.

mod planned;
mod priced;
mod remembered;

use jiff::{SignedDuration, Timestamp};
use longhaul_core::history::{
    AppendedRequestWay, AttemptContext, AttemptEffect, AttemptInput, AttemptOccasion,
    CompactionAttempt, DraftSizes, FailureTransience, HistoryAuthor, HistoryChange, HistoryState,
    KeptDraft, MeasuredReply, OverflowEvidence, OversizedRequest, PlainRequestPermission,
    PlainRequestSupport, SummaryRequestFacts, SummaryRequestOutcome,
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
    summary: Option<(u64, SummaryRequestOutcome)>,
    failures: u32,
    summary_left: Option<u64>,
    behind: AppendedRequestWay,
    plain: PlainRequestSupport,
    micro: bool,
    automatic: bool,
}

const SIZE: u64 = 100_000;

fn tokens() -> impl Strategy<Value = u64> {
    0..SIZE
}

prop_compose! {
    fn script()(
        occasion in prop_oneof![
            Just(AttemptOccasion::Ahead),
            Just(AttemptOccasion::Idle),
            (prop_oneof![Just(OverflowEvidence::Expected), Just(OverflowEvidence::ByProvider)], 0..4_u32)
                .prop_map(|(refused, tries)| AttemptOccasion::Full(OversizedRequest { refused, tries, limit: None })),
        ],
        used in tokens(),
        cleared in proptest::option::of(tokens()),
        estimate in tokens(),
        noted in proptest::option::of(tokens()),
        answers in prop_oneof![Just(Ok(())), Just(Err(FailureTransience::Passes)), Just(Err(FailureTransience::Stays))],
        summary in proptest::option::of((tokens(), prop_oneof![
            Just(SummaryRequestOutcome::Summary), Just(SummaryRequestOutcome::Nothing), Just(SummaryRequestOutcome::NotAsked)
        ])),
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
            window: window(SIZE), occasion, used, cleared, estimate, noted, answers, summary, failures, summary_left,
            behind, plain, micro, automatic,
        }
    }
}

/// The effects of an attempt, in order, and the state that it left.
struct Performed {
    effects: Vec<AttemptEffect>,
    state: HistoryState,
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
        before: script.used,
        after,
    };
    let mut effects = Vec::new();
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
            AttemptEffect::AskBehind(_) => attempt.handle(match script.answers {
                Ok(()) => AttemptInput::Answered,
                Err(passes) => AttemptInput::NotAnswered { passes },
            }),
            AttemptEffect::Summarize(_) => attempt.handle(match script.summary {
                Some((after, answer)) => AttemptInput::Summarized(sizes(after), answer),
                None => AttemptInput::NotSummarized,
            }),
            AttemptEffect::Change(change) => kept_state.apply(change, &window),
            AttemptEffect::Discard(_) | AttemptEffect::Keep(_) | AttemptEffect::GiveUp => {}
        }
    }
    Performed {
        effects,
        state: kept_state,
    }
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
        let Performed { effects, .. } = perform(&script, before.clone(), &switches);
        let is_last = |effect: &AttemptEffect| {
            matches!(effect, AttemptEffect::Keep(_) | AttemptEffect::GiveUp)
        };
        prop_assert_eq!(effects.iter().filter(|effect| is_last(effect)).count(), 1);
        prop_assert!(effects.last().is_some_and(is_last), "{:?}", effects);

        let asks_model = |effect: &AttemptEffect| matches!(
            effect,
            AttemptEffect::AskBehind(_) | AttemptEffect::Summarize(PlainRequestPermission::May(_))
        );
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
            KeptDraft::Summary => script.summary.map(|(after, _)| after),
        };
        if let Some(AttemptEffect::Keep(kept)) = effects.last() {
            let after = after(*kept);
            prop_assert!(after.is_some(), "what is kept was drafted: {:?}", effects);
            if script.occasion == AttemptOccasion::Ahead {
                let gain = worth(&window(SIZE), script.used, after.unwrap_or(u64::MAX));
                prop_assert_eq!(gain, CompactionWorth::Enough, "{:?}", effects);
            }
        }
        // Somebody is waiting, so a draft is never thrown away.
        if let AttemptOccasion::Full(_) = script.occasion {
            let summarized = effects.iter().any(|it| matches!(it, AttemptEffect::Summarize(_)));
            if summarized && script.summary.is_some() {
                prop_assert_eq!(effects.last(), Some(&AttemptEffect::Keep(KeptDraft::Summary)));
            }
        }
    }

    #[test]
    fn x5_after_an_attempt_in_vain_nothing_is_due_until_more_is_there(script in script()) {
        let window = window(SIZE);
        let script = Script { occasion: AttemptOccasion::Ahead, ..script };
        let Performed { effects, state } = perform(&script, state_of(&script), &Switches::default());
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
