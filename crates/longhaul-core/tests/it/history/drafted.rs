//! Tests which drafts with a summary an attempt tries, and which it uses.

use longhaul_core::history::{
    AppendedRequestWay, AttemptEffect, DiscardReason, FailureTransience, HistoryChange, KeptDraft,
    NoSummaryReason, OverflowEvidence, PlainRequestSupport, SummarySource,
};

use super::planned::{ahead, effects, full};
use super::{SIZE, Script, TimeOut, sources, window};

const MODEL_FAILED: AttemptEffect = AttemptEffect::Change(HistoryChange::ModelFailed);
const KEPT: AttemptEffect = AttemptEffect::Keep(KeptDraft::Summary);
const UNUSABLE: [Result<u64, NoSummaryReason>; 2] = [Err(NoSummaryReason::WouldNotShrink); 2];

/// Returns a script for a request that waits, and whose window is full.
fn waits() -> Script {
    full(OverflowEvidence::Expected, 0, 88_000)
}

/// Returns the same with a client whose API has no plain request.
fn only_behind() -> Script {
    Script {
        plain: PlainRequestSupport::Impossible,
        ..waits()
    }
}

#[test]
fn o2_only_a_model_that_was_asked_can_fail() {
    let silent = Script {
        answers: Err(FailureTransience::Stays),
        ..only_behind()
    };
    let extracts = silent.summarize(SummarySource::Extracts);
    assert_eq!(effects(&silent)[3..], [MODEL_FAILED, extracts, KEPT]);
    let unasked = Script {
        behind: AppendedRequestWay::No("x"),
        ..only_behind()
    };
    assert_eq!(effects(&unasked)[2..], [extracts, KEPT]);
}

#[test]
fn x9_extracts_are_used_after_a_plain_request_in_vain() {
    let reason = "x";
    let script = Script {
        behind: AppendedRequestWay::No(reason),
        written: [Err(NoSummaryReason::NotWritten); 2],
        ..waits()
    };
    let plain = script.summarize(SummarySource::PlainRequest(reason));
    let extracts = script.summarize(SummarySource::Extracts);
    let expected = [plain, MODEL_FAILED, extracts, KEPT];
    assert_eq!(effects(&script)[2..], expected);
}

#[test]
fn y1_a_summary_that_was_paid_for_may_leave_as_much_as_the_threshold_allows() {
    // The window is too full for less, but the threshold is not reached.
    let full = full(OverflowEvidence::Expected, 0, 85_000);
    let (aim, threshold) = (full.aim(), full.window.auto_compact);
    assert!(aim < threshold, "{aim} {threshold}");
    let tried = |written| {
        let script = Script {
            written,
            ..full.clone()
        };
        sources(&effects(&script))
    };
    let first = (SummarySource::Answer, aim);
    let second = (SummarySource::Answer, threshold);
    let would_not = Err(NoSummaryReason::WouldNotShrink);
    assert_eq!(tried([Ok(20_000); 2]), [first]);
    assert_eq!(tried([would_not, Ok(78_000)]), [first, second]);
    // Extracts leave no more than what is wanted.
    let extracts = (SummarySource::Extracts, aim);
    assert_eq!(tried([would_not; 2]), [first, second, extracts]);
}

#[test]
fn y1_a_draft_that_leaves_the_window_full_or_is_no_smaller_is_not_used() {
    let threshold = window(SIZE).auto_compact;
    let last_two = |extracts, used| {
        let script = Script {
            extracts: Ok(extracts),
            written: UNUSABLE,
            ..full(OverflowEvidence::Expected, 0, used)
        };
        let effects = effects(&script);
        (
            sources(&effects).len(),
            effects.last().copied(),
            effects.iter().find_map(|effect| match effect {
                AttemptEffect::Discard(KeptDraft::Summary, reason) => Some(*reason),
                _ => None,
            }),
        )
    };
    let too_large = DiscardReason::TooLarge {
        after: threshold,
        threshold,
    };
    let gives_up = Some(AttemptEffect::GiveUp);
    assert_eq!(last_two(threshold, 99_000).1, gives_up);
    assert_eq!(last_two(threshold, 99_000).2, Some(too_large));
    assert_eq!(last_two(threshold - 1, 99_000).1, Some(KEPT));
    let no_smaller = last_two(50_000, 50_000);
    assert_eq!(no_smaller.1, gives_up);
    assert_eq!(no_smaller.2, Some(DiscardReason::WouldNotShrink));
}

#[test]
fn x9_a_request_goes_on_with_extracts_when_the_time_of_the_model_is_over() {
    let extracts = waits().summarize(SummarySource::Extracts);
    let at = |times_out| {
        effects(&Script {
            times_out: Some(times_out),
            ..waits()
        })
    };
    assert_eq!(at(TimeOut::AtTheStart)[2..], [extracts, KEPT]);
    let asked = at(TimeOut::WhileAskedBehind);
    assert_eq!(asked[3..], [MODEL_FAILED, extracts, KEPT]);
    let plainly = effects(&Script {
        behind: AppendedRequestWay::No("x"),
        times_out: Some(TimeOut::WhileAskedPlainly),
        ..waits()
    });
    assert_eq!(plainly[3..], [MODEL_FAILED, extracts, KEPT]);
}

#[test]
fn x5_ahead_of_the_threshold_extracts_are_used_only_where_they_pay() {
    let in_vain = |extracts| {
        effects(&Script {
            written: UNUSABLE,
            extracts: Ok(extracts),
            ..ahead(84_000)
        })
    };
    assert_eq!(in_vain(20_000).last(), Some(&KEPT));
    assert_eq!(in_vain(80_000).last(), Some(&AttemptEffect::GiveUp));
}
