//! When notes are taken.

use jiff::{SignedDuration, Timestamp};
use longhaul_core::notes::{Due, Ended, NotesSettings, Trigger, Wait};
use longhaul_core::window::Scale;

fn at(second: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(second)
}

fn trigger() -> Trigger {
    Trigger::new(NotesSettings::default(), Scale::of_window(200_000), None)
}

#[test]
fn s2_notes_are_first_taken_at_ten_thousand_tokens() {
    let mut trigger = trigger();
    trigger.responded(1);
    assert_eq!(trigger.due(9_999, at(0)), Due::TooLittleNew);
    assert_eq!(trigger.begin(9_999, at(0)), None);
    assert_eq!(trigger.due(10_000, at(0)), Due::Now);
    assert!(trigger.begin(10_000, at(0)).is_some());
}

/// Notes were taken once, at 10,000 tokens.
fn once() -> Trigger {
    let mut trigger = trigger();
    let run = trigger.begin(10_000, at(0)).unwrap();
    assert_eq!(trigger.ended(run), Ended::Current);
    trigger
}

#[test]
fn s2_then_growth_and_either_calls_or_a_pause() {
    let mut trigger = once();
    trigger.responded(2);
    assert_eq!(trigger.due(14_999, at(9)), Due::TooLittleNew);
    assert_eq!(trigger.due(15_000, at(9)), Due::MidWork);
    trigger.responded(0);
    assert_eq!(trigger.due(15_000, at(9)), Due::Now, "a pause");
    trigger.responded(1);
    assert_eq!(trigger.due(15_000, at(9)), Due::Now, "three calls");
    assert_eq!(
        trigger.due(14_999, at(9)),
        Due::TooLittleNew,
        "both are needed"
    );
    let run = trigger.begin(15_000, at(9)).unwrap();
    trigger.ended(run);
    trigger.responded(2);
    assert_eq!(trigger.due(20_000, at(10)), Due::MidWork, "counted anew");
}

#[test]
fn s2_it_never_runs_beside_another_and_a_stale_one_is_given_up() {
    let mut trigger = trigger();
    let first = trigger.begin(10_000, at(0)).unwrap();
    assert_eq!(trigger.due(50_000, at(59)), Due::Running);
    assert_eq!(trigger.begin(50_000, at(59)), None);
    assert_eq!(trigger.due(50_000, at(60)), Due::Now);
    let second = trigger.begin(50_000, at(60)).unwrap();
    assert_eq!(trigger.ended(first), Ended::Superseded);
    assert_eq!(trigger.due(90_000, at(61)), Due::Running);
    assert_eq!(trigger.ended(second), Ended::Current);
    assert_eq!(trigger.ended(second), Ended::Superseded, "once");
    let mut set_back = once();
    set_back.begin(20_000, at(9_000)).unwrap();
    assert_eq!(
        set_back.due(90_000, at(10)),
        Due::Now,
        "a clock that was set back"
    );
}

#[test]
fn s2_a_run_that_failed_is_not_tried_again_at_once() {
    let mut trigger = once();
    let run = trigger.begin(20_000, at(5)).unwrap();
    trigger.ended(run);
    assert_eq!(trigger.due(20_500, at(6)), Due::TooLittleNew);
}

#[test]
fn s2_after_a_compaction_growth_counts_from_there() {
    let mut trigger = trigger();
    trigger.shrunk_to(5_000);
    assert_eq!(
        trigger.due(10_000, at(0)),
        Due::Now,
        "the first is the first"
    );
    let run = trigger.begin(160_000, at(0)).unwrap();
    trigger.ended(run);
    trigger.shrunk_to(30_000);
    assert_eq!(trigger.due(34_999, at(1)), Due::TooLittleNew);
    assert_eq!(trigger.due(35_000, at(1)), Due::Now);
    trigger.shrunk_to(170_000);
    assert_eq!(trigger.due(35_000, at(1)), Due::Now, "it only shrinks");
}

#[test]
fn s2_a_session_goes_on_where_its_notes_were() {
    let settings = NotesSettings::default();
    let trigger = Trigger::new(settings, Scale::of_window(200_000), Some(40_000));
    assert_eq!(trigger.due(44_999, at(0)), Due::TooLittleNew);
    assert_eq!(trigger.due(45_000, at(0)), Due::Now);
}

#[test]
fn s2_h7_amounts_can_be_set_and_shrink_with_small_windows() {
    let settings = NotesSettings {
        start_tokens: 20_000,
        growth_tokens: 1_000,
        tool_calls: 1,
    };
    let mut trigger = Trigger::new(settings, Scale::of_window(50_000), None);
    assert_eq!(trigger.due(9_999, at(0)), Due::TooLittleNew);
    let run = trigger.begin(10_000, at(0)).unwrap();
    trigger.ended(run);
    trigger.responded(1);
    assert_eq!(trigger.due(10_499, at(0)), Due::TooLittleNew);
    assert_eq!(trigger.due(10_500, at(0)), Due::Now);
}

#[test]
fn s6_a_compaction_waits_fifteen_seconds_at_most_and_never_for_a_stale_run() {
    let mut trigger = trigger();
    assert_eq!(trigger.wait(at(0)), Wait::No);
    let run = trigger.begin(10_000, at(100)).unwrap();
    assert_eq!(trigger.wait(at(100)), Wait::Until(at(115)));
    assert_eq!(trigger.wait(at(130)), Wait::Until(at(145)));
    assert_eq!(trigger.wait(at(155)), Wait::Until(at(160)));
    assert_eq!(trigger.wait(at(160)), Wait::No);
    trigger.ended(run);
    assert_eq!(trigger.wait(at(101)), Wait::No);
}
