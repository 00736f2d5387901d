//! Tests what an attempt performs, step by step.

use longhaul_core::history::{
    AppendedRequestWay, AttemptEffect, AttemptOccasion, ClearingReason, DiscardReason,
    FailureTransience, HistoryAuthor, HistoryChange, HistoryState, KeptDraft, NoSummaryReason,
    OverflowEvidence, OversizedRequest, PlainRequestSupport, SummarySource,
};
use longhaul_core::window::{Switches, WindowInput, WindowSettings, WindowStatus};

use super::{SIZE, Script, answered, perform, window};

const CLEAR: AttemptEffect = AttemptEffect::Clear(ClearingReason::Pressure);
const TOO_LONG: SummarySource = SummarySource::PlainRequest("the request is too long already");
const ASK: AttemptEffect = AttemptEffect::AskBehind(AppendedRequestWay::AsItIs);

/// Returns a script for a window of so many tokens that is shrunk ahead of time by a model that answers well.
pub(super) fn ahead(used: u64) -> Script {
    Script {
        window: window(SIZE),
        occasion: AttemptOccasion::Ahead,
        used,
        cleared: None,
        estimate: 20_000,
        noted: None,
        answers: Ok(()),
        written: [Ok(20_000); 2],
        extracts: Ok(20_000),
        times_out: None,
        failures: 0,
        summary_left: None,
        behind: AppendedRequestWay::AsItIs,
        plain: PlainRequestSupport::Possible,
        micro: true,
        automatic: true,
    }
}

/// Returns a script for the same window while a request is waiting.
pub(super) fn full(refused: OverflowEvidence, tries: u32, used: u64) -> Script {
    Script {
        occasion: AttemptOccasion::Full(OversizedRequest {
            refused,
            tries,
            limit: None,
        }),
        ..ahead(used)
    }
}

/// Returns a history that grows slowly.
fn slow(used: u64) -> HistoryState {
    answered(&[used - 1_000, used])
}

pub(super) fn effects(script: &Script) -> Vec<AttemptEffect> {
    perform(script, slow(script.used), &Switches::default()).effects
}

#[test]
fn u5_a_clearing_is_enough_only_below_the_warning_and_where_it_pays() {
    let WindowStatus {
        warning,
        auto_compact,
        ..
    } = window(SIZE);
    let cleared = |used, after| {
        effects(&Script {
            cleared: Some(after),
            ..ahead(used)
        })
    };
    let kept = [CLEAR, AttemptEffect::Keep(KeptDraft::Cleared)];
    assert_eq!(cleared(auto_compact, warning - 1), kept);
    let goes_on = cleared(auto_compact, warning);
    assert_eq!(goes_on.get(1), Some(&AttemptEffect::EstimateSummary));
    let gains_little = cleared(40_000, 31_000);
    assert_eq!(gains_little.get(1), Some(&AttemptEffect::EstimateSummary));
}

#[test]
fn u5_a_clearing_waits_until_the_next_turn_may_reach_the_threshold() {
    let script = Script {
        cleared: Some(30_000),
        ..ahead(60_000)
    };
    let nearly = window(SIZE).auto_compact - 1_000;
    let rest = AttemptEffect::Change(HistoryChange::RestUntil(nearly));
    assert_eq!(effects(&script), [CLEAR, rest, AttemptEffect::GiveUp]);
    let near = Script {
        cleared: Some(30_000),
        ..ahead(nearly)
    };
    let kept = AttemptEffect::Keep(KeptDraft::Cleared);
    assert_eq!(effects(&near), [CLEAR, kept]);
}

#[test]
fn u5_before_it_is_known_how_a_history_grows_its_next_turn_may_take_an_eighth() {
    let script = Script {
        cleared: Some(30_000),
        ..ahead(60_000)
    };
    let limit = window(SIZE).auto_compact;
    let rest = AttemptEffect::Change(HistoryChange::RestUntil(limit - limit / 8));
    let first = perform(&script, answered(&[60_000]), &Switches::default());
    assert_eq!(first.effects, [CLEAR, rest, AttemptEffect::GiveUp]);
}

#[test]
fn h5_what_follows_a_refusal_is_switched_apart_from_what_is_only_expected() {
    let script = full(OverflowEvidence::Expected, 0, 88_000);
    let switches = Switches {
        reactive: false,
        ..Switches::default()
    };
    let performed = perform(&script, slow(88_000), &switches);
    assert_eq!(performed.effects.get(1), Some(&AttemptEffect::UseNotes));
}

#[test]
fn o3_a_clearing_for_a_refused_request_leaves_less_with_each_try() {
    let script = Script {
        cleared: Some(40_000),
        ..full(OverflowEvidence::ByProvider, 2, 95_000)
    };
    let summary = AttemptEffect::Keep(KeptDraft::Summary);
    let extracts = script.summarize(SummarySource::Extracts);
    assert_eq!(effects(&script), [CLEAR, extracts, summary]);
}

#[test]
fn o3_how_much_may_be_left_follows_the_window_that_the_provider_has() {
    let window = window(SIZE);
    let pressing = |limit, tries| OversizedRequest {
        refused: OverflowEvidence::ByProvider,
        tries,
        limit,
    };
    let most = |pressing: OversizedRequest| pressing.most_left(&window, 99_000);
    assert_eq!(most(pressing(None, 0)), window.auto_compact);
    let half = pressing(Some(SIZE / 2), 0);
    assert_eq!(most(half), window.auto_compact / 2);
    assert_eq!(most(pressing(None, 1)), window.auto_compact / 2);
    assert_eq!(pressing(None, 0).most_left(&window, 40_000), 30_000);
}

#[test]
fn x5_a_summary_that_can_free_too_little_is_not_asked_for_until_there_is_more() {
    let rest = AttemptEffect::Change(HistoryChange::RestUntil(90_000));
    let gives_up = [
        CLEAR,
        AttemptEffect::EstimateSummary,
        rest,
        AttemptEffect::GiveUp,
    ];
    let by_estimate = Script {
        estimate: 80_000,
        ..ahead(84_000)
    };
    assert_eq!(effects(&by_estimate), gives_up);
    // The result of the last compaction is known better than the result of the next.
    let mut state = slow(84_000);
    state.apply(left(80_000), &window(SIZE));
    let by_the_last = perform(&ahead(84_000), state, &Switches::default());
    assert_eq!(by_the_last.effects, gives_up);
}

/// Returns the change by a summary from extracts that left so many tokens.
fn left(after: u64) -> HistoryChange {
    HistoryChange::Shrunk {
        after,
        by: Some(HistoryAuthor::Extracts),
        millis: 1,
    }
}

#[test]
fn o3_a_refused_request_is_neither_noted_nor_asked_behind() {
    let noted = Script {
        noted: Some(10_000),
        ..full(OverflowEvidence::ByProvider, 0, 50_000)
    };
    let kept = AttemptEffect::Keep(KeptDraft::Summary);
    let plain = noted.summarize(TOO_LONG);
    assert_eq!(effects(&noted), [CLEAR, plain, kept]);
    let switches = Switches {
        reactive: false,
        ..Switches::default()
    };
    let off = perform(&noted, slow(50_000), &switches);
    assert_eq!(off.effects, [CLEAR, AttemptEffect::GiveUp]);
}

#[test]
fn x5_no_model_is_asked_for_a_summary_that_frees_too_little_by_the_last() {
    let script = full(OverflowEvidence::Expected, 0, 84_000);
    let mut state = slow(84_000);
    state.apply(left(80_000), &window(SIZE));
    let performed = perform(&script, state, &Switches::default());
    let kept = AttemptEffect::Keep(KeptDraft::Summary);
    let extracts = script.summarize(SummarySource::Extracts);
    let unasked = [CLEAR, AttemptEffect::UseNotes, extracts, kept];
    assert_eq!(performed.effects, unasked);
}

#[test]
fn f7_a_question_that_leaves_no_room_for_its_answer_is_not_asked_behind() {
    let asked = |script: &Script| effects(script).get(2).copied();
    let fits = window(SIZE).effective - 500;
    assert_eq!(asked(&full(OverflowEvidence::Expected, 0, fits)), Some(ASK));
    let too_long = full(OverflowEvidence::Expected, 0, fits + 1);
    assert_eq!(asked(&too_long), Some(too_long.summarize(TOO_LONG)));
    // A model that answers briefly keeps little of its window free.
    let brief = WindowStatus::new(&WindowInput {
        window: SIZE,
        max_output: 2_000,
        used: 0,
        settings: WindowSettings::default(),
    });
    let brief = brief.unwrap();
    let briefly = |used| Script {
        window: brief,
        ..full(OverflowEvidence::Expected, 0, used)
    };
    assert_eq!(asked(&briefly(SIZE - 4_500)), Some(ASK));
    let too_long = briefly(SIZE - 4_499);
    assert_eq!(asked(&too_long), Some(too_long.summarize(TOO_LONG)));
}

#[test]
fn f7_a_plain_request_that_would_be_too_long_is_not_made() {
    let summarized = |script: &Script| effects(script).get(1).copied();
    let too_long = full(OverflowEvidence::ByProvider, 0, SIZE - 2_000);
    let extracts = |script: &Script| Some(script.summarize(SummarySource::Extracts));
    assert_eq!(summarized(&too_long), extracts(&too_long));
    let fits = full(OverflowEvidence::ByProvider, 0, SIZE - 3_000);
    assert_eq!(summarized(&fits), Some(fits.summarize(TOO_LONG)));
    let impossible = Script {
        plain: PlainRequestSupport::Impossible,
        ..full(OverflowEvidence::ByProvider, 0, 50_000)
    };
    assert_eq!(summarized(&impossible), extracts(&impossible));
}

#[test]
fn x5_a_failure_that_passes_is_waited_out_where_there_is_room() {
    let failed = |used, passes| {
        let script = Script {
            answers: Err(passes),
            ..ahead(used)
        };
        let effects = effects(&script);
        assert_eq!(effects.get(3), Some(&ASK), "{effects:?}");
        effects[4..].to_vec()
    };
    let model_failed = AttemptEffect::Change(HistoryChange::ModelFailed);
    let waits = [model_failed, AttemptEffect::GiveUp];
    assert_eq!(failed(70_000, FailureTransience::Passes), waits);
    let reason = "asking after the client's own messages failed";
    let plain = ahead(70_000).summarize(SummarySource::PlainRequest(reason));
    let kept = [plain, AttemptEffect::Keep(KeptDraft::Summary)];
    assert_eq!(failed(70_000, FailureTransience::Stays), kept);
    let threshold = window(SIZE).auto_compact;
    assert_eq!(failed(threshold, FailureTransience::Passes), kept);
}

#[test]
fn x5_what_gained_too_little_is_discarded_and_remembered() {
    let in_vain = |script: &Script| {
        let effects = effects(script);
        effects[effects.len() - 3..].to_vec()
    };
    let gained = |after| {
        let used = 84_000;
        AttemptEffect::Change(HistoryChange::GainedTooLittle { used, after })
    };
    let summary = Script {
        written: [Ok(78_000); 2],
        ..ahead(84_000)
    };
    let discarded = |reason| AttemptEffect::Discard(KeptDraft::Summary, reason);
    let gives_up = AttemptEffect::GiveUp;
    let useless = discarded(DiscardReason::FreesTooLittle);
    let expected = [useless, gained(Some(78_000)), gives_up];
    assert_eq!(in_vain(&summary), expected);
    let none = Script {
        written: [Err(NoSummaryReason::Impossible); 2],
        ..ahead(84_000)
    };
    let nothing = discarded(DiscardReason::NoDraft);
    assert_eq!(in_vain(&none), [nothing, gained(None), gives_up]);
}

#[test]
fn u5_where_nothing_can_be_summarized_a_clearing_that_fits_will_do() {
    let limit = window(SIZE).auto_compact;
    let last = |script: Script, cleared| {
        let script = Script {
            cleared: Some(cleared),
            written: [Err(NoSummaryReason::WouldNotShrink); 2],
            extracts: Err(NoSummaryReason::WouldNotShrink),
            ..script
        };
        effects(&script).last().copied()
    };
    let waits = || full(OverflowEvidence::Expected, 0, 88_000);
    let kept = Some(AttemptEffect::Keep(KeptDraft::Cleared));
    assert_eq!(last(waits(), limit - 1), kept);
    assert_eq!(last(waits(), limit), Some(AttemptEffect::GiveUp));
    // Nobody is waiting, so a compaction that gains too little is not used.
    assert_eq!(last(ahead(88_000), limit - 1), Some(AttemptEffect::GiveUp));
}

#[test]
fn s6_notes_stand_for_a_history_only_where_they_bring_it_below_the_warning() {
    let warning = window(SIZE).warning;
    let noted = |after| {
        effects(&Script {
            noted: Some(after),
            ..full(OverflowEvidence::Expected, 0, 88_000)
        })
    };
    let kept = AttemptEffect::Keep(KeptDraft::Notes);
    assert_eq!(noted(warning - 1)[1..], [AttemptEffect::UseNotes, kept]);
    assert_eq!(noted(warning).get(2), Some(&ASK));
    // Nor where they would not make it smaller.
    let longer = effects(&Script {
        noted: Some(50_000),
        ..full(OverflowEvidence::Expected, 0, 50_000)
    });
    assert_eq!(longer.get(2), Some(&ASK));
}
