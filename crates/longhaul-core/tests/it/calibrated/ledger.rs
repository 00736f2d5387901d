//! Tests what the calibrated ledger learns from a conversation.

use bytes::Bytes;
use longhaul_core::message::{Entry, Subtype};
use longhaul_core::models::Tokenizer;
use longhaul_core::tokens::EntryStanding;
use longhaul_core::tokens::calibrated::{
    CalibratedClass, CalibratedLedger, CalibratedSize, EntryTokens, TextShape, unscaled,
};
use serde_json::{Value, json};

use crate::lines::{Lines, usage};

/// About 600 tokens.
fn long_text() -> String {
    "the window fills up while a summary is written\n".repeat(60)
}

fn entries(lines: &Lines) -> Vec<Entry> {
    let read = |line: &String| Entry::read(Bytes::from(line.clone())).unwrap();
    lines.lines.iter().map(read).collect()
}

fn ledger(lines: &Lines) -> CalibratedLedger {
    let mut ledger = CalibratedLedger::new(Tokenizer::Old);
    for entry in entries(lines) {
        if entry.facets().subtype == Subtype::CompactBoundary {
            ledger.begin_view();
        }
        ledger.entry(entry.view(), EntryStanding::Live);
    }
    ledger
}

fn size(lines: &Lines) -> CalibratedSize {
    ledger(lines).size()
}

/// The tokens that the fixed model counts for the last line.
fn last(lines: &Lines) -> u64 {
    let entry = entries(lines).pop().unwrap();
    EntryTokens::of(entry.view()).total().rounded()
}

fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

#[test]
fn x4_an_estimate_is_what_follows_the_measurement_and_carries_its_bound() {
    let mut lines = Lines::default();
    lines.user("1", "go");
    lines.reply("2", "m1", text("a"), usage(20_000));
    let measured = size(&lines);
    assert_eq!(measured.estimate().tokens, 20_000);
    assert_eq!(measured.estimate().bound, 0);
    lines.user("3", &long_text());
    let grown = size(&lines).estimate();
    assert_eq!(grown.tokens, 20_000 + last(&lines));
    assert!(grown.bound > last(&lines) / 10 && grown.bound < last(&lines) / 2);
}

#[test]
fn x4_a_reply_with_a_partial_count_is_counted_by_its_own_lines() {
    let mut lines = Lines::default();
    lines.user("1", "go");
    let usage = json!({"input_tokens": 9_000, "output_tokens": 3});
    lines.reply("2", "m1", text(&long_text()), usage);
    let own = last(&lines);
    lines.user("3", "go on");
    let size = size(&lines);
    assert_eq!(size.measured.tokens(), 9_000);
    assert_eq!(size.added.tokens, own + last(&lines));
}

#[test]
fn x4_thinking_counts_by_its_signature_and_its_text_counts_nothing() {
    let thinking = |text: &str, signature: &str| {
        let mut lines = Lines::default();
        let block = json!({"type": "thinking", "thinking": text, "signature": signature});
        lines.reply("1", "m1", json!([block]), usage(10));
        last(&lines)
    };
    let signature = "Ab3/".repeat(250);
    assert_eq!(thinking(&long_text(), &signature), thinking("", &signature));
    assert!((140..=200).contains(&thinking("", &signature)));
    // A placeholder is no signature, so the text is all there is to count.
    assert!(thinking(&long_text(), "[REMOVED]") > 400);
}

#[test]
fn x4_the_escapes_of_a_call_count_as_the_characters_they_stand_for() {
    let mut lines = Lines::default();
    let input = json!({"command": "one\ntwo\t\"three\""});
    let block = json!({"type": "tool_use", "id": "t", "name": "Bash", "input": input});
    lines.reply("1", "m1", json!([block]), usage(10));
    let shape = TextShape::of("Bash") + TextShape::of("{\"command\":\"one\ntwo\t\"three\"\"}");
    let expected = unscaled(CalibratedClass::ToolCall, &shape).rounded();
    assert_eq!(last(&lines), expected);
}

#[test]
fn x4_a_tokenizer_that_counts_a_third_more_is_learned_from_one_reply() {
    let mut lines = Lines::default();
    lines.user("1", "go");
    lines.reply("2", "m1", text("a"), usage(10_000));
    lines.user("3", &long_text());
    let more = last(&lines);
    let measured = 10_000 + more * 4 / 3;
    lines.reply("4", "m2", text("b"), usage(measured));
    lines.user("5", &long_text());
    let added = size(&lines).added.tokens;
    assert!(
        added * 100 > more * 129 && added * 100 < more * 135,
        "{added} of {more}"
    );
}

#[test]
fn x4_the_request_prefix_is_known_after_a_compaction() {
    let mut lines = Lines::default();
    lines.user("1", "go");
    lines.reply("2", "m1", text("a"), usage(25_000));
    lines.user("3", &long_text());
    let boundary = json!({"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted"});
    lines.add("4", boundary);
    lines.user("5", "a summary of everything");
    let size = size(&lines);
    assert_eq!(size.measured.tokens(), 0);
    assert!((24_900..25_000).contains(&size.prefix.tokens), "{size:?}");
    assert_eq!(size.estimate().tokens, size.prefix.tokens + last(&lines));
}

#[test]
fn x4_a_measurement_by_another_tokenizer_teaches_nothing() {
    let mut lines = Lines::default();
    lines.user("1", "go");
    lines.reply("2", "m1", text("a"), usage(10_000));
    lines.user("3", &long_text());
    let mut counted = ledger(&lines);
    counted.use_tokenizer(Tokenizer::New);
    lines.reply("4", "m2", text("b"), usage(14_000));
    let reply = entries(&lines).pop().unwrap();
    counted.entry(reply.view(), EntryStanding::Live);
    assert_eq!(counted.counter().scale().observations(), 0);
    assert_eq!(counted.counter().scale().thousandths(), 1_300);
}

#[test]
fn x4_clearing_a_measured_result_takes_its_estimate_off() {
    let mut lines = Lines::default();
    lines.user("1", "go");
    lines.call("2", "m1", "Read", "t1", usage(9_000));
    lines.result("3", "t1", &long_text());
    let result = last(&lines);
    lines.reply("4", "m2", text("done"), usage(9_700));
    let metadata = json!({"compactedToolIds": ["t1"], "clearedAttachmentUUIDs": []});
    let clearing = json!({"type": "system", "subtype": "microcompact_boundary", "microcompactMetadata": metadata});
    lines.add("5", clearing);
    let size = size(&lines);
    assert!(size.cleared.tokens.abs_diff(result) < 100, "{size:?}");
    assert_eq!(size.estimate().tokens, 9_700 - size.cleared.tokens);
    assert!(size.estimate().bound > 0);
}
