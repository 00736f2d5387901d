//! Tests how much a draft with a summary aims at where the host's drafts are larger or smaller than what they aim at.

use longhaul_core::history::{
    AppendedRequestWay, AttemptContext, AttemptEffect, AttemptInput, AttemptOccasion,
    CompactionAttempt, DraftSizes, KeptDraft, NoSummaryReason, OverflowEvidence, OversizedRequest,
    PlainRequestSupport, SummaryRequestFacts,
};
use longhaul_core::window::{SwitchVerdict, SwitchableAction, Switches};

use super::{SIZE, answered, window};

/// What stays in any case: the request prefix and the newest messages.
const STAYS: u64 = 30_000;

/// Performs an attempt for a request that waits. A draft is what `draft` says of its aim.
fn attempt(draft: impl Fn(u64) -> DraftSizes) -> (Vec<u64>, Option<u64>) {
    attempt_with(|aim| Some(draft(aim)))
}

/// The same where some drafts would not be smaller than the conversation. Returns the aims, in order, and what the kept
/// draft leaves, if one was kept.
fn attempt_with(draft: impl Fn(u64) -> Option<DraftSizes>) -> (Vec<u64>, Option<u64>) {
    let switches = Switches {
        micro: false,
        ..Switches::default()
    };
    assert_eq!(
        switches.decide(SwitchableAction::Automatic),
        SwitchVerdict::Allowed
    );
    let mut attempt = CompactionAttempt::new(AttemptContext {
        occasion: AttemptOccasion::Full(OversizedRequest {
            refused: OverflowEvidence::Expected,
            tries: 0,
            limit: None,
        }),
        window: window(SIZE),
        switches: &switches,
        state: answered(&[99_000]),
        counted: 99_000,
        asking: SummaryRequestFacts {
            used: 99_000,
            counted: 99_000,
            before_messages: STAYS,
            question: 500,
            behind: AppendedRequestWay::No("x"),
            plain: PlainRequestSupport::Possible,
        },
    });
    let (mut aims, mut newest) = (Vec::new(), None);
    while let Some(effect) = attempt.poll() {
        match effect {
            AttemptEffect::UseNotes => attempt.handle(AttemptInput::Noted(None)),
            AttemptEffect::Summarize { most_left, .. } => {
                let draft = draft(most_left);
                aims.push(most_left);
                newest = draft.map(|draft| draft.after);
                attempt.handle(match draft {
                    Some(draft) => AttemptInput::Summarized(draft),
                    None => AttemptInput::NotSummarized(NoSummaryReason::WouldNotShrink),
                });
            }
            AttemptEffect::Keep(KeptDraft::Summary) => return (aims, newest),
            AttemptEffect::GiveUp => return (aims, None),
            _ => {}
        }
    }
    panic!("the attempt did not end: {aims:?}");
}

fn sizes(after: u64, misses_words: bool) -> DraftSizes {
    DraftSizes {
        before: 99_000,
        after,
        misses_words,
    }
}

#[test]
fn y1_x1_a_draft_that_was_too_large_is_made_no_smaller_than_it_has_to_be() {
    let threshold = window(SIZE).auto_compact;
    // What is restored has four times the tokens that it was expected to have.
    let four = |aim: u64| sizes(STAYS + 500 + 4 * aim.saturating_sub(STAYS), false);
    let (aims, left) = attempt(four);
    let left = left.unwrap();
    assert!(
        left < threshold && threshold - left < 10_000,
        "{left} {aims:?}"
    );
    // Where nothing is small enough, that is found out with one more draft of each text.
    let (aims, left) = attempt(|_| sizes(threshold, false));
    assert_eq!(left, None);
    assert_eq!(aims.len(), 4, "{aims:?}");
}

#[test]
fn x1_words_that_are_left_out_come_back_where_there_is_room_for_them() {
    let threshold = window(SIZE).auto_compact;
    // A draft has a fifth of the tokens that it was expected to have, and needs 6,000 for the words.
    let fifth = |aim: u64| {
        let used = aim.saturating_sub(STAYS) / 5;
        sizes(STAYS + used, used < 6_000 + 3_000)
    };
    let (aims, left) = attempt(fifth);
    let left = left.unwrap();
    assert!(left >= STAYS + 9_000, "{left} {aims:?}");
    // Words do not fill the window for that: there must be room to work in.
    let (aims, left) = attempt(|aim| sizes(STAYS + aim.saturating_sub(STAYS) / 3, true));
    let left = left.unwrap();
    let most = STAYS + (threshold - STAYS) * 60 / 100;
    assert!(
        left <= most && most - left < 3_000,
        "{left} {most} {aims:?}"
    );
}

#[test]
fn x1_nothing_is_drafted_again_where_every_word_is_there_or_no_more_fits() {
    let (aims, _) = attempt(|_| sizes(STAYS + 9_000, false));
    assert_eq!(aims.len(), 1);
    let (aims, left) = attempt(|aim| {
        let is_first = aim <= window(SIZE).auto_compact;
        sizes(if is_first { STAYS + 9_000 } else { 90_000 }, true)
    });
    assert_eq!(left, Some(STAYS + 9_000));
    assert_eq!(aims.first(), aims.last());
    let (aims, left) = attempt_with(|aim| {
        let is_first = aim <= window(SIZE).auto_compact;
        is_first.then(|| sizes(STAYS + 9_000, true))
    });
    assert_eq!(left, Some(STAYS + 9_000), "{aims:?}");
}
