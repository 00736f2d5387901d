//! Tests when notes are taken.

use jiff::{SignedDuration, Timestamp};
use longhaul_core::notes::{NotesDue, NotesRunEnd, NotesSettings, NotesTrigger, NotesWait};
use longhaul_core::window::WindowScale;

fn at(second: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(second)
}

fn trigger() -> NotesTrigger {
    NotesTrigger::new(
        NotesSettings::default(),
        WindowScale::of_window(200_000),
        None,
    )
}

#[test]
fn s2_notes_are_first_taken_at_ten_thousand_tokens() {
    let mut trigger = trigger();
    trigger.responded(1);
    assert_eq!(trigger.due(9_999, at(0)), NotesDue::TooLittleNew);
    assert_eq!(trigger.begin(9_999, at(0)), None);
    assert_eq!(trigger.due(10_000, at(0)), NotesDue::Now);
    assert!(trigger.begin(10_000, at(0)).is_some());
}

/// Returns a trigger whose notes were taken once, at 10,000 tokens.
fn once() -> NotesTrigger {
    let mut trigger = trigger();
    let run = trigger.begin(10_000, at(0)).unwrap();
    assert_eq!(trigger.ended(run), NotesRunEnd::Current);
    trigger
}

#[test]
fn s2_then_growth_and_either_calls_or_a_pause() {
    let mut trigger = once();
    trigger.responded(2);
    assert_eq!(trigger.due(14_999, at(9)), NotesDue::TooLittleNew);
    assert_eq!(trigger.due(15_000, at(9)), NotesDue::MidWork);
    trigger.responded(0);
    assert_eq!(trigger.due(15_000, at(9)), NotesDue::Now, "a pause");
    trigger.responded(1);
    assert_eq!(trigger.due(15_000, at(9)), NotesDue::Now, "three calls");
    assert_eq!(
        trigger.due(14_999, at(9)),
        NotesDue::TooLittleNew,
        "both are needed"
    );
    let run = trigger.begin(15_000, at(9)).unwrap();
    trigger.ended(run);
    trigger.responded(2);
    assert_eq!(
        trigger.due(20_000, at(10)),
        NotesDue::MidWork,
        "counted anew"
    );
}

#[test]
fn s2_it_never_runs_beside_another_and_a_stale_one_is_given_up() {
    let mut trigger = trigger();
    let first = trigger.begin(10_000, at(0)).unwrap();
    assert_eq!(trigger.due(50_000, at(59)), NotesDue::Running);
    assert_eq!(trigger.begin(50_000, at(59)), None);
    assert_eq!(trigger.due(50_000, at(60)), NotesDue::Now);
    let second = trigger.begin(50_000, at(60)).unwrap();
    assert_eq!(trigger.ended(first), NotesRunEnd::Superseded);
    assert_eq!(trigger.due(90_000, at(61)), NotesDue::Running);
    assert_eq!(trigger.ended(second), NotesRunEnd::Current);
    assert_eq!(trigger.ended(second), NotesRunEnd::Superseded, "once");
    let mut set_back = once();
    set_back.begin(20_000, at(9_000)).unwrap();
    assert_eq!(
        set_back.due(90_000, at(10)),
        NotesDue::Now,
        "a clock that was set back"
    );
}

#[test]
fn s2_a_run_that_failed_is_not_tried_again_at_once() {
    let mut trigger = once();
    let run = trigger.begin(20_000, at(5)).unwrap();
    trigger.ended(run);
    assert_eq!(trigger.due(20_500, at(6)), NotesDue::TooLittleNew);
}

#[test]
fn s2_after_a_compaction_growth_counts_from_there() {
    let mut trigger = trigger();
    trigger.shrunk_to(5_000);
    assert_eq!(
        trigger.due(10_000, at(0)),
        NotesDue::Now,
        "the first is the first"
    );
    let run = trigger.begin(160_000, at(0)).unwrap();
    trigger.ended(run);
    trigger.shrunk_to(30_000);
    assert_eq!(trigger.due(34_999, at(1)), NotesDue::TooLittleNew);
    assert_eq!(trigger.due(35_000, at(1)), NotesDue::Now);
    trigger.shrunk_to(170_000);
    assert_eq!(trigger.due(35_000, at(1)), NotesDue::Now, "it only shrinks");
}

#[test]
fn s2_a_session_goes_on_where_its_notes_were() {
    let settings = NotesSettings::default();
    let trigger = NotesTrigger::new(settings, WindowScale::of_window(200_000), Some(40_000));
    assert_eq!(trigger.due(44_999, at(0)), NotesDue::TooLittleNew);
    assert_eq!(trigger.due(45_000, at(0)), NotesDue::Now);
}

#[test]
fn s2_h7_amounts_can_be_set_and_shrink_with_small_windows() {
    let settings = NotesSettings {
        start_tokens: 20_000,
        growth_tokens: 1_000,
        tool_calls: 1,
    };
    let mut trigger = NotesTrigger::new(settings, WindowScale::of_window(50_000), None);
    assert_eq!(trigger.due(9_999, at(0)), NotesDue::TooLittleNew);
    let run = trigger.begin(10_000, at(0)).unwrap();
    trigger.ended(run);
    trigger.responded(1);
    assert_eq!(trigger.due(10_499, at(0)), NotesDue::TooLittleNew);
    assert_eq!(trigger.due(10_500, at(0)), NotesDue::Now);
}

#[test]
fn s6_a_compaction_waits_fifteen_seconds_at_most_and_never_for_a_stale_run() {
    let mut trigger = trigger();
    assert_eq!(trigger.wait(at(0)), NotesWait::No);
    let run = trigger.begin(10_000, at(100)).unwrap();
    assert_eq!(trigger.wait(at(100)), NotesWait::Until(at(115)));
    assert_eq!(trigger.wait(at(130)), NotesWait::Until(at(145)));
    assert_eq!(trigger.wait(at(155)), NotesWait::Until(at(160)));
    assert_eq!(trigger.wait(at(160)), NotesWait::No);
    trigger.ended(run);
    assert_eq!(trigger.wait(at(101)), NotesWait::No);
}
