//! Tests what is remembered of a history, and what follows from it.

use jiff::Timestamp;
use longhaul_core::history::{HistoryAuthor, HistoryChange, HistoryState, MeasuredReply};
use longhaul_core::plan::{Breaker, least_freed};

use super::{SIZE, answered, window};

fn shrunk(after: u64, by: Option<HistoryAuthor>, millis: u64) -> HistoryChange {
    HistoryChange::Shrunk { after, by, millis }
}

fn by_model(after: u64) -> HistoryChange {
    shrunk(after, Some(HistoryAuthor::Model), 10_000)
}

fn in_vain(used: u64, after: Option<u64>) -> HistoryChange {
    HistoryChange::GainedTooLittle { used, after }
}

fn changed(mut state: HistoryState, changes: &[HistoryChange]) -> HistoryState {
    for change in changes {
        state.apply(*change, &window(SIZE));
    }
    state
}

/// Returns the smallest number of tokens with which something is due.
fn due_from(state: &HistoryState, is_due: impl Fn(&HistoryState) -> bool) -> Option<u64> {
    (0..SIZE).find(|used| {
        let mut later = state.clone();
        later.measured.used = *used;
        is_due(&later)
    })
}

fn ahead_from(state: &HistoryState) -> Option<u64> {
    due_from(state, |state| state.is_due(&window(SIZE)))
}

fn with_notes_from(state: &HistoryState) -> Option<u64> {
    due_from(state, |state| state.is_due_with_notes(&window(SIZE)))
}

#[test]
fn x5_the_first_summary_is_due_at_a_fifth_of_what_it_can_free() {
    let limit = window(SIZE).auto_compact;
    let first = answered(&[10_000]);
    assert_eq!(ahead_from(&first), Some(limit - limit / 100 * 20));
    let left = changed(first, &[by_model(40_000)]);
    let frees = limit - 40_000;
    assert_eq!(ahead_from(&left), Some(limit - frees / 100 * 20));
}

#[test]
fn s6_notes_are_due_within_an_eighth_of_the_threshold() {
    let limit = window(SIZE).auto_compact;
    let first = answered(&[10_000]);
    assert_eq!(with_notes_from(&first), Some(limit - limit / 8));
}

#[test]
fn o2_extracts_that_were_used_while_the_model_was_in_order_are_not_held_against_it() {
    let extracts = shrunk(10_000, Some(HistoryAuthor::Extracts), 1);
    let state = changed(answered(&[50_000]), &[extracts; 6]);
    let failed = changed(state, &[HistoryChange::ModelFailed]);
    assert_eq!(failed.breaker(), Breaker::Closed);
}

#[test]
fn x5_a_window_that_fills_fast_is_made_smaller_early_and_a_slow_one_late() {
    let limit = window(SIZE).auto_compact;
    let fast = answered(&[10_000, 40_000]);
    assert_eq!(ahead_from(&fast), Some(limit - limit / 100 * 30));
    // The lead is three turns while the summary is written, and two more.
    let slow = answered(&[59_000, 60_000]);
    assert_eq!(ahead_from(&slow), Some(limit - 5_000));
    // The last summary took ten turns.
    let long = changed(slow, &[shrunk(0, Some(HistoryAuthor::Model), 200_000)]);
    assert_eq!(ahead_from(&long), Some(limit - 12_000));
}

#[test]
fn x5_after_a_history_was_made_smaller_nothing_is_due_until_as_much_is_new() {
    let state = changed(answered(&[60_000]), &[shrunk(80_000, None, 1)]);
    let rests = 80_000 + least_freed(&window(SIZE));
    assert_eq!(with_notes_from(&state), Some(rests));
    assert_eq!(ahead_from(&state), Some(rests));
}

#[test]
fn x5_what_is_freed_ahead_makes_room_for_two_turns_but_no_more_than_half() {
    let window = window(SIZE);
    let freed = |state: &HistoryState| state.least_freed_ahead(&window);
    assert_eq!(freed(&answered(&[59_000, 60_000])), least_freed(&window));
    assert_eq!(freed(&answered(&[10_000, 25_000])), 30_000);
    let fast = answered(&[10_000, 40_000]);
    assert_eq!(freed(&fast), window.auto_compact / 2);
    // A shrinking window is not counted as zero growth.
    let mut state = changed(fast, &[by_model(5_000)]);
    let now = Timestamp::constant(1_900_000_000, 0);
    let measured = MeasuredReply {
        used: 6_000,
        ..MeasuredReply::default()
    };
    state.answered(measured, now);
    assert_eq!(freed(&state), window.auto_compact / 2);
    assert_eq!(state.measured.answered, Some(now));
}

#[test]
fn x5_what_a_summary_left_is_known_until_another_says_otherwise() {
    let state = answered(&[60_000]);
    let cleared = changed(state, &[shrunk(40_000, None, 1)]);
    assert_eq!(cleared.summary_leaves(), None, "a clearing is no summary");
    let extracted = changed(
        cleared,
        &[
            shrunk(30_000, Some(HistoryAuthor::Extracts), 1),
            in_vain(50_000, None),
        ],
    );
    assert_eq!(extracted.summary_leaves(), Some(30_000));
    let tried = changed(extracted, &[in_vain(50_000, Some(45_000))]);
    assert_eq!(tried.summary_leaves(), Some(45_000));
}

#[test]
fn x5_what_has_to_be_new_doubles_until_a_summary_is_used_and_no_more_than_three_times() {
    let least = least_freed(&window(SIZE));
    let twice = changed(answered(&[70_000]), &[in_vain(60_000, None); 2]);
    assert_eq!(with_notes_from(&twice), Some(60_000 + 2 * least));
    let again = changed(twice, &[by_model(20_000), in_vain(70_000, None)]);
    assert_eq!(with_notes_from(&again), Some(70_000 + least));
    let often = changed(answered(&[5_000]), &[in_vain(5_000, None); 10]);
    assert_eq!(with_notes_from(&often), Some(5_000 + 8 * least));
}

#[test]
fn o2_a_summary_that_a_model_wrote_makes_its_failures_forgotten() {
    let failed = HistoryChange::ModelFailed;
    let state = changed(
        answered(&[50_000]),
        &[failed, failed, by_model(10_000), failed],
    );
    assert_eq!(state.breaker(), Breaker::Closed);
    // The earlier uses of extracts are forgotten, too.
    let extracts = shrunk(10_000, Some(HistoryAuthor::Extracts), 1);
    let mut changes = vec![failed; 3];
    changes.extend([extracts; 4]);
    changes.push(by_model(10_000));
    changes.extend([failed; 3]);
    changes.push(extracts);
    let state = changed(answered(&[50_000]), &changes);
    assert_eq!(state.breaker(), Breaker::Open);
}
