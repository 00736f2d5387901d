//! Tests results that are left out of the cached prompt by reference (U4).

use longhaul_core::engine::{CacheEditSupport, EngineInput, Event};
use serde_json::{Value, json};

use super::desk::{Answer, Desk, Setting, head};

#[test]
fn u4_results_are_deleted_from_the_cache_by_reference_and_the_bytes_stay() {
    let mut desk = Desk::with(Setting {
        cache_edits: CacheEditSupport::Supported,
        window: 200_000,
        ..Setting::default()
    });
    desk.say("Read them.");
    for id in [
        "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9", "t10", "t11",
    ] {
        desk.works(id, 100, 5_000);
    }
    desk.answers.push_back(Answer::Says("Done.", 5_000));
    desk.turn();
    let body = Desk::body(desk.sent.last().unwrap());
    assert_eq!(body["cache_edits"].as_array().unwrap().len(), 7);
    assert_eq!(body["cache_edits"][0]["tool_use_id"], "t0");
    assert!(
        desk.sent
            .last()
            .unwrap()
            .body
            .concat()
            .windows(400)
            .any(|part| part == [b'x'; 400])
    );
    desk.exchange("Next.", Answer::Says("Yes.", 5_100));
    let again = Desk::body(desk.sent.last().unwrap());
    assert_eq!(again["cache_edits"], body["cache_edits"], "pinned");
    let recorded = desk.subtypes("microcompact_boundary");
    assert_eq!(recorded.len(), 1, "recorded once, and nothing is cleared");
    let metadata = &recorded[0]["microcompactMetadata"];
    assert_eq!(metadata["compactedToolIds"], serde_json::json!([]));
    assert_eq!(metadata["cacheEdits"].as_array().unwrap().len(), 7);
}

/// Returns a conversation in which seven results are left out of the cached prompt by reference.
fn with_cache_edits() -> Desk {
    let mut desk = Desk::with(Setting {
        cache_edits: CacheEditSupport::Supported,
        window: 200_000,
        ..Setting::default()
    });
    desk.say("Read them.");
    for id in [
        "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9", "t10", "t11",
    ] {
        desk.works(id, 100, 30_000);
    }
    desk
}

/// Returns how many results the newest record leaves out, and how many records there are.
fn edits_on_disk(desk: &Desk) -> (usize, usize) {
    let records = desk.subtypes("microcompact_boundary");
    let newest = &records.last().unwrap()["microcompactMetadata"]["cacheEdits"];
    (newest.as_array().unwrap().len(), records.len())
}

#[test]
fn u4_edits_are_dropped_when_the_reply_says_that_nothing_is_left_out_any_more() {
    let mut desk = with_cache_edits();
    desk.answers.push_back(Answer::Reads(30_000, Some(700)));
    desk.turn();
    assert_eq!(edits_on_disk(&desk), (7, 1));
    desk.exchange("Next.", Answer::Reads(30_700, Some(0)));
    assert_eq!(
        edits_on_disk(&desk),
        (0, 2),
        "although no less was read from the cache"
    );
}

#[test]
fn u4_edits_stay_as_long_as_the_reply_says_that_they_hold() {
    let mut desk = with_cache_edits();
    desk.answers.push_back(Answer::Reads(30_000, Some(700)));
    desk.turn();
    desk.exchange("Next.", Answer::Reads(3_000, Some(700)));
    let breaks = desk.events.iter();
    let breaks = breaks.filter(|event| matches!(event, Event::CacheBreak(_)));
    assert_eq!(breaks.count(), 1, "less was read, and that is told");
    assert_eq!(edits_on_disk(&desk), (7, 1));
}

#[test]
fn u4_edits_stay_where_the_reply_never_said_that_anything_was_left_out() {
    let mut desk = with_cache_edits();
    desk.answers.push_back(Answer::Reads(30_000, Some(0)));
    desk.turn();
    assert_eq!(edits_on_disk(&desk), (7, 1));
}

#[test]
fn u4_where_the_reply_does_not_say_edits_are_dropped_when_less_was_read_and_only_then() {
    let mut desk = with_cache_edits();
    desk.answers.push_back(Answer::Reads(30_000, None));
    desk.turn();
    desk.exchange("Next.", Answer::Reads(30_100, None));
    assert_eq!(edits_on_disk(&desk), (7, 1));
    desk.exchange("And now?", Answer::Reads(3_000, None));
    assert_eq!(edits_on_disk(&desk), (0, 2));
}

fn edits(desk: &Desk) -> Vec<Value> {
    let recorded = desk.subtypes("microcompact_boundary");
    recorded
        .iter()
        .map(|line| line["microcompactMetadata"]["cacheEdits"].clone())
        .collect()
}

pub(super) fn with_edits() -> Desk {
    let mut desk = Desk::with(Setting {
        cache_edits: CacheEditSupport::Supported,
        window: 200_000,
        ..Setting::default()
    });
    desk.say("Read them.");
    for id in [
        "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9", "t10", "t11",
    ] {
        desk.works(id, 1_000, 15_000);
    }
    desk
}

#[test]
fn u4_deleted_results_leave_the_count_and_come_back_when_the_cache_is_gone() {
    let mut desk = with_edits();
    let before = desk.engine.status().used;
    desk.hold = Some("send");
    desk.turn();
    let during = desk.engine.status().used;
    assert_eq!(before - during, 7_000, "seven results of 1,000 tokens");
    desk.answers.push_back(Answer::Says("Done.", 15_000));
    desk.release();
    // Far less is read from the cache than before: it has expired, and the deletions from it are gone.
    desk.exchange("Next.", Answer::Says("Yes.", 1_000));
    assert_eq!(edits(&desk).len(), 2);
    assert_eq!(edits(&desk)[1], json!([]));
    assert!(desk.engine.live().cache_edits().is_empty());
    // That reply wrote the cache again, with all results in it: they can be deleted again.
    desk.exchange("And now?", Answer::Says("Yes.", 5_000));
    assert_eq!(edits(&desk)[2].as_array().unwrap().len(), 7);
}

#[test]
fn u4_m7_another_head_ends_what_was_asked_for_by_reference() {
    let mut desk = with_edits();
    desk.answers.push_back(Answer::Says("Done.", 15_000));
    desk.turn();
    let mut other = head("claude-opus-4-6");
    other.user_context = Some("New.".into());
    desk.input(EngineInput::Head(Box::new(other)));
    desk.exchange("Next.", Answer::Says("Yes.", 15_000));
    assert_eq!(edits(&desk).last(), Some(&json!([])));
    let body = Desk::body(desk.sent.last().unwrap());
    assert_eq!(body["cache_edits"], json!([]));
    assert!(
        body.to_string().contains(r#""cache_reference":"t0""#),
        "latched for the session"
    );
}

#[test]
fn u4_u3_what_was_dropped_by_reference_and_then_cleared_is_taken_off_once() {
    let mut desk = with_edits();
    desk.answers.push_back(Answer::Says("Done.", 8_000));
    desk.turn();
    let measured = desk.engine.status().used;
    assert_eq!(measured, 8_030, "measured without the seven results");
    desk.later(3_700);
    desk.say("Back.");
    let before = desk.engine.status().used;
    desk.hold = Some("send");
    desk.turn();
    let cleared = desk.subtypes("microcompact_boundary").pop().unwrap();
    let ids = &cleared["microcompactMetadata"]["compactedToolIds"];
    assert_eq!(ids.as_array().unwrap().len(), 7);
    assert_eq!(desk.engine.status().used, before);
    assert!(desk.engine.live().cache_edits().is_empty());
}
