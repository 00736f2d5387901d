//! Tests outcomes that nothing waits for any more, and calls that come while another one is in progress.

use longhaul_core::engine::{
    CallFailure, CallResult, CompactFailure, CompactRequest, Effect, EffectFailureKind, EffectId,
    EngineInput, Event, NewEntry,
};

use super::desk::{Answer, Desk, failed, long};

/// Returns a conversation with old results, and the id of a request that the user cancelled.
fn with_cancelled_request() -> (Desk, EffectId) {
    let mut desk = Desk::new();
    desk.exchange("Look around.", Answer::Says("Yes.", 100));
    desk.say("Read them.");
    for id in ["t0", "t1", "t2", "t3", "t4", "t5", "t6"] {
        desk.works(id, 200, 1_000);
    }
    desk.hold = Some("send");
    desk.turn();
    let Some(Effect::Send { id, .. }) = desk.held.take() else {
        panic!("nothing was sent: {:?}", desk.asked);
    };
    desk.input(EngineInput::Cancel);
    (desk, id)
}

/// Gives an outcome to the engine that it does not wait for.
fn comes_late(desk: &mut Desk, id: EffectId) {
    let outcome = failed(EffectFailureKind::Other);
    desk.input(EngineInput::Done { id, outcome });
}

fn not_persisted(desk: &Desk) -> Vec<String> {
    let events = desk.events.iter().filter_map(|event| match event {
        Event::NotPersisted { message } => Some(message.clone()),
        _ => None,
    });
    events.collect()
}

#[test]
fn f8_a_late_answer_is_not_taken_for_the_outcome_of_a_write() {
    let (mut desk, late) = with_cancelled_request();
    desk.hold = Some("persist");
    desk.say("Never mind.");
    comes_late(&mut desk, late);
    assert_eq!(not_persisted(&desk), [""; 0]);
    desk.release();
    assert!(matches!(desk.results.last(), Some(CallResult::Added)));
}

#[test]
fn f8_a_late_answer_is_not_taken_for_the_outcome_of_the_archive() {
    let (mut desk, late) = with_cancelled_request();
    desk.later(3_700);
    desk.hold = Some("archive");
    desk.exchange("Back again.", Answer::Says("Welcome.", 1_500));
    assert!(desk.held.is_some(), "{:?}", desk.asked);
    comes_late(&mut desk, late);
    desk.release();
    assert_eq!(desk.subtypes("microcompact_boundary").len(), 1);
}

#[test]
fn f8_a_late_answer_is_not_taken_for_a_summary() {
    let (mut desk, late) = with_cancelled_request();
    desk.exchange("What of it?", Answer::Says(long(), 6_000));
    desk.hold = Some("summarize");
    desk.input(EngineInput::Compact(CompactRequest::default()));
    comes_late(&mut desk, late);
    desk.release();
    assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
    assert_eq!(desk.summaries_sent.len(), 1);
}

#[test]
fn y7_a_write_that_failed_says_why() {
    let mut desk = Desk::new();
    desk.disk_full = true;
    desk.say("Hello.");
    assert_eq!(not_persisted(&desk), ["it failed"]);
}

#[test]
fn m7_the_host_is_told_that_its_entries_are_on_disk() {
    let mut desk = Desk::new();
    desk.input(EngineInput::Add(vec![NewEntry::text("Hello.")]));
    assert!(matches!(&desk.results[..], [CallResult::Added]));
}

#[test]
fn o1_a_second_turn_or_compaction_is_refused_while_the_model_answers() {
    let mut desk = Desk::new();
    desk.say("Hello.");
    desk.hold = Some("send");
    desk.turn();
    desk.results.clear();
    desk.input(EngineInput::Turn);
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert!(
        matches!(
            &desk.results[..],
            [
                CallResult::Failed(CallFailure::NotAnswered(_)),
                CallResult::Failed(CallFailure::NotCompacted(CompactFailure::UnderWay, _)),
            ]
        ),
        "{:?}",
        desk.results
    );
    desk.release();
    assert!(matches!(
        desk.results.last(),
        Some(CallResult::Replied { .. })
    ));
    assert_eq!(desk.sent.len(), 1, "only the first one was sent");
}

#[test]
fn u2_without_an_archive_results_are_cleared_and_the_report_claims_none() {
    let (mut desk, _) = with_cancelled_request();
    desk.no_archive = true;
    desk.later(3_700);
    desk.exchange("Back again.", Answer::Says("Welcome.", 1_500));
    let cleared = &desk.subtypes("microcompact_boundary")[0]["microcompactMetadata"];
    let results = &cleared["report"]["results"];
    assert_eq!(results["cleared"], 2, "{cleared}");
    assert_eq!(results["archived"], 0, "{cleared}");
}

#[test]
fn y3_without_an_archive_the_report_says_so_and_not_that_it_failed() {
    let mut desk = Desk::new();
    desk.no_archive = true;
    desk.exchange("Build a parser.", Answer::Says(long(), 5_000));
    desk.input(EngineInput::Compact(CompactRequest::default()));
    let notes = desk.last_compaction().report.notes.join(" ");
    assert!(notes.contains("There is no archive"), "{notes}");
}
