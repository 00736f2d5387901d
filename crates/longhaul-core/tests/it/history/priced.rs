//! Tests an attempt that begins because a summary pays for itself: there is room, so it is made by a model or not at all
//! (V5).

use longhaul_core::history::{
    AppendedRequestWay, AttemptEffect, AttemptOccasion, DiscardReason, FailureTransience,
    HistoryAuthor, HistoryChange, KeptDraft, NoSummaryReason, PlainRequestSupport,
};
use longhaul_core::window::Switches;

use super::{SIZE, Script, answered, perform, window};

const USED: u64 = 60_000;
const ASK: AttemptEffect = AttemptEffect::AskBehind(AppendedRequestWay::AsItIs);

/// Returns a script for a window that is far from full, and whose summary pays.
fn paying() -> Script {
    Script {
        window: window(SIZE),
        occasion: AttemptOccasion::Price,
        used: USED,
        cleared: Some(10_000),
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

/// Performs a script after so many failures of the model.
fn effects(script: &Script, failures: usize) -> Vec<AttemptEffect> {
    let mut state = answered(&[USED - 1_000, USED]);
    for _ in 0..failures {
        state.apply(HistoryChange::ModelFailed, &script.window);
    }
    perform(script, state, &Switches::default()).effects
}

#[test]
fn v5_a_summary_that_pays_is_asked_for_without_a_clearing_first() {
    let effects = effects(&paying(), 0);
    assert_eq!(effects.first(), Some(&AttemptEffect::EstimateSummary));
    assert!(effects.contains(&ASK), "{effects:?}");
    let kept = AttemptEffect::Keep(KeptDraft::Summary);
    assert_eq!(effects.last(), Some(&kept), "{effects:?}");
}

#[test]
fn v5_extracts_do_not_stand_for_a_summary_that_the_model_did_not_write() {
    let plainly = Script {
        behind: AppendedRequestWay::No("x"),
        written: [Err(NoSummaryReason::NotWritten); 2],
        ..paying()
    };
    // There is no other way to ask.
    let behind = Script {
        answers: Err(FailureTransience::Stays),
        plain: PlainRequestSupport::Impossible,
        ..paying()
    };
    for script in [plainly, behind] {
        let effects = effects(&script, 0);
        let failed = AttemptEffect::Change(HistoryChange::ModelFailed);
        assert!(effects.contains(&failed), "{effects:?}");
        let discarded = AttemptEffect::Discard(KeptDraft::Summary, DiscardReason::NoDraft);
        assert!(effects.contains(&discarded), "{effects:?}");
        assert_eq!(effects.last(), Some(&AttemptEffect::GiveUp));
    }
}

#[test]
fn v5_nor_for_one_that_would_not_make_the_history_smaller() {
    let script = Script {
        written: [Err(NoSummaryReason::WouldNotShrink); 2],
        ..paying()
    };
    let effects = effects(&script, 0);
    let failed = AttemptEffect::Change(HistoryChange::ModelFailed);
    assert!(!effects.contains(&failed), "it did write one: {effects:?}");
    assert_eq!(effects.last(), Some(&AttemptEffect::GiveUp));
}

#[test]
fn v5_where_no_model_may_be_asked_nothing_is_summarized() {
    let effects = effects(&paying(), 5);
    let summarizes = |effect: &AttemptEffect| {
        matches!(
            effect,
            AttemptEffect::Summarize { .. } | AttemptEffect::AskBehind(_)
        )
    };
    assert!(!effects.iter().any(summarizes), "{effects:?}");
    assert_eq!(effects.last(), Some(&AttemptEffect::GiveUp));
}

#[test]
fn v5_a_summary_that_pays_may_free_less_than_a_threshold_asks_for() {
    let freeing = |tokens: u64| Script {
        written: [Ok(USED - tokens); 2],
        estimate: USED - tokens,
        summary_left: Some(USED - tokens),
        ..paying()
    };
    let kept = AttemptEffect::Keep(KeptDraft::Summary);
    assert_eq!(effects(&freeing(9_000), 0).last(), Some(&kept));
    let given_up = effects(&freeing(1_000), 0);
    assert!(!given_up.contains(&ASK), "{given_up:?}");
    assert_eq!(given_up.last(), Some(&AttemptEffect::GiveUp));
}

#[test]
fn v5_only_a_summary_of_no_use_makes_the_next_one_wait() {
    let mut state = answered(&[USED]);
    let shrunk = HistoryChange::Shrunk {
        after: 30_000,
        by: Some(HistoryAuthor::Model),
        millis: 0,
    };
    state.apply(shrunk, &window(SIZE));
    assert!(!state.rests_after_failure(31_000));
    let useless = HistoryChange::GainedTooLittle {
        used: USED,
        after: None,
    };
    state.apply(useless, &window(SIZE));
    assert!(state.rests_after_failure(USED));
    assert!(!state.rests_after_failure(3 * USED));
}

#[test]
fn v5_an_attempt_rests_until_there_is_more() {
    let mut state = answered(&[USED]);
    state.apply(HistoryChange::RestUntil(70_000), &window(SIZE));
    assert!(state.rests(69_999));
    assert!(!state.rests(70_000));
}
