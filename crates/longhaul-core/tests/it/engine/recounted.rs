//! Tests the size of the request prefix that a compaction writes down, and the gain that it expects, where the provider
//! counts other than the estimate (T1, Y1).

use longhaul_core::engine::{
    CompactFailure, CompactRequest, Effect, EffectOutcome, EngineInput, HookOutcome, ModelReply,
    PrefixRecording, ReplyEnding,
};
use longhaul_core::message::Usage;
use longhaul_core::micro::native::ProviderClearing;
use longhaul_core::prompt::RequestPrefix;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::desk::{Answer, Desk, Setting, head, long};

/// Returns a text of so many estimated tokens.
fn text(tokens: usize) -> &'static str {
    Box::leak("word ".repeat(tokens * 3 / 5).into_boxed_str())
}

/// Returns a request prefix of so many estimated tokens.
fn head_of(tokens: usize) -> RequestPrefix {
    let text = "h".repeat(tokens * 3);
    RequestPrefix {
        system: to_raw_value(&json!([{"type": "text", "text": text}])).unwrap(),
        ..head("claude-opus-4-6")
    }
}

/// Lets the model answer with exactly this usage and this reason to stop in its message.
fn answers_with(desk: &mut Desk, said: &str, usage: Value, stop: &str) {
    desk.say(said);
    desk.hold = Some("send");
    desk.turn();
    let Some(Effect::Send { id, .. }) = desk.held.take() else {
        panic!("nothing was sent: {:?}", desk.asked);
    };
    let message = json!({"id": "msg_own", "type": "message", "role": "assistant", "model": "m",
        "content": [{"type": "text", "text": "Fine."}], "stop_reason": stop, "usage": usage});
    let outcome = EffectOutcome::Replied(Box::new(ModelReply {
        message: to_raw_value(&message).unwrap(),
        usage: Usage::default(),
        request_id: None,
        applied: ProviderClearing::default(),
        ending: ReplyEnding::default(),
    }));
    desk.input(EngineInput::Done { id, outcome });
}

fn compact(desk: &mut Desk) {
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
}

/// Returns the known size of the request prefix, as the boundary says it.
fn written_down(desk: &Desk) -> Value {
    let boundary = desk.subtypes("compact_boundary").pop().unwrap();
    boundary["compactMetadata"]["headTokens"].clone()
}

#[test]
fn t1_a_prefix_that_grew_since_the_first_reply_counts_its_share_of_the_newest_count() {
    let mut desk = Desk::new();
    desk.exchange("Build a parser.", Answer::Says("I will.", 300));
    desk.input(EngineInput::Head(Box::new(head_of(6_000))));
    // The estimate is about 10,200, and the provider counts half of it.
    desk.exchange("What of it?", Answer::Says(long(), 5_100));
    compact(&mut desk);
    let counted = written_down(&desk)["counted"].as_u64().unwrap();
    assert!((2_800..3_200).contains(&counted), "{counted}");
}

#[test]
fn t1_a_reply_without_a_count_tells_nothing_about_the_prefix() {
    let mut desk = Desk::new();
    answers_with(
        &mut desk,
        "Build a parser.",
        json!({"input_tokens": 0, "output_tokens": 0}),
        "end_turn",
    );
    desk.exchange("Which kind?", Answer::Says("Recursive descent.", 3_000));
    desk.exchange("What of it?", Answer::Says(long(), 8_000));
    compact(&mut desk);
    let counted = written_down(&desk)["counted"].as_u64().unwrap();
    assert!((2_900..3_000).contains(&counted), "{counted}");
}

#[test]
fn t1_a_reply_in_which_the_provider_compacted_tells_nothing_about_the_prefix() {
    let mut desk = Desk::new();
    let step = json!({"type": "compaction", "input_tokens": 9_000, "output_tokens": 50});
    answers_with(
        &mut desk,
        "Build a parser.",
        json!({"input_tokens": 9_000, "output_tokens": 5, "iterations": [step]}),
        "end_turn",
    );
    desk.exchange("Which kind?", Answer::Says("Recursive descent.", 1_000));
    desk.exchange("What of it?", Answer::Says(long(), 6_000));
    compact(&mut desk);
    let counted = written_down(&desk)["counted"].as_u64().unwrap();
    assert!((900..1_000).contains(&counted), "{counted}");
}

#[test]
fn t1_a_prefix_that_is_not_known_is_not_written_down() {
    let mut desk = Desk::with(Setting {
        prefixes: PrefixRecording::Unknown,
        ..Setting::default()
    });
    desk.exchange("Build a parser.", Answer::Says("I will.", 300));
    desk.exchange("What of it?", Answer::Says(long(), 6_000));
    compact(&mut desk);
    assert_eq!(written_down(&desk), Value::Null);
}

#[test]
fn y1_where_the_prefix_counts_most_the_gain_is_only_that_of_the_messages() {
    // The prefix is estimated at a few tokens and counted as 50,000; the threshold is 67,000.
    let mut desk = Desk::with(Setting {
        window: 100_000,
        ..Setting::default()
    });
    desk.exchange("Build a parser.", Answer::Says("I will.", 50_000));
    desk.exchange("What of it?", Answer::Says(text(17_500), 68_000));
    desk.session_start = HookOutcome {
        context: vec![text(12_000).into()],
        ..HookOutcome::default()
    };
    desk.say("Go on.");
    desk.turn();
    assert_eq!(desk.failures(), [CompactFailure::WouldNotShrink]);
    assert_eq!(desk.compactions(), 0);
}

#[test]
fn f7_a_request_for_a_summary_that_cannot_be_made_is_a_failure() {
    let mut desk = Desk::with(Setting {
        prefixes: PrefixRecording::Unknown,
        ..Setting::default()
    });
    desk.exchange("Build a parser.", Answer::Says(long(), 6_000));
    let mut nameless = head("claude-opus-4-6");
    nameless.latched.body = to_raw_value(&json!({"max_tokens": 100})).unwrap();
    desk.input(EngineInput::Head(Box::new(nameless)));
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.failures(), [CompactFailure::ApiError]);
    assert!(desk.summaries_sent.is_empty());
}

#[test]
fn o3_after_a_reply_that_ran_out_of_room_the_next_turn_begins_with_a_compaction() {
    let mut desk = Desk::new();
    desk.exchange("Build a parser.", Answer::Says(long(), 6_000));
    let used = json!({"input_tokens": 6_500, "output_tokens": 10});
    answers_with(&mut desk, "Go on.", used, "model_context_window_exceeded");
    assert_eq!(desk.compactions(), 0);
    desk.exchange("And?", Answer::Says("Fine.", 2_000));
    assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
    desk.exchange("Well?", Answer::Says("Fine.", 2_100));
    assert_eq!(desk.compactions(), 1, "once is enough");
}
