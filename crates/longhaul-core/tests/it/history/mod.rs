//! Tests the planner of histories: its rules hold whatever the outcome of its effects (`attempts`). `planned` tests the
//! order of steps in an attempt, `drafted` which drafts with a summary are tried, `fullest` how much they aim at, `priced`
//! an attempt for its price, `remembered` what is known of a history between its requests. `requests` tests what is decided before and after a
//! request, and `machine` puts any sequence of requests, answers and attempts to one history.

mod attempts;
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
    MeasuredReply, NoSummaryReason, OverflowEvidence, OversizedRequest, PlainRequestSupport,
    SummaryRequestFacts, SummarySource,
};
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
