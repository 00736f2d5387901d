//! Folding the events of the Messages API into a reply.

use longhaul_provider::decode::StreamProgress;
use longhaul_provider::{
    AppliedEdit, BlockCompleteness, Dialect, ReplyBlockKind, ReplyNotice, StopReason, StreamEvent,
};

use crate::support::{HELLO, Outcome, decode, stream_of};

fn fold(events: &[&str]) -> Outcome {
    decode(Dialect::Anthropic, &stream_of(events))
}

const START: &str = r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":3,"output_tokens":1}}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;

fn done(reason: &str) -> String {
    format!(
        r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}","stop_sequence":null}},"usage":{{"output_tokens":9}}}}"#
    )
}

#[test]
fn n5_a_text_reply_is_put_together() {
    let outcome = fold(HELLO);
    let reply = outcome.reply;
    assert_eq!(outcome.progress, StreamProgress::Closed);
    assert_eq!(reply.text(), "Hello, you");
    assert_eq!((&*reply.id(), &*reply.model()), ("msg_1", "claude-test"));
    assert_eq!(reply.stop, Some(StopReason::EndTurn));
    assert_eq!(reply.usage.input, 10);
    assert_eq!(reply.usage.cache_write_5m, 5);
    assert_eq!(reply.usage.cache_read, 7);
    assert_eq!(reply.usage.output, 4);
    assert_eq!(
        String::from_utf8(reply.message_json()).unwrap(),
        r#"{"id":"msg_1","type":"message","role":"assistant","model":"claude-test","content":[{"type":"text","text":"Hello, you"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":7,"output_tokens":4}}"#
    );
}

#[test]
fn a_host_hears_of_every_step() {
    let heard = fold(HELLO).events;
    let text = |text: &str| StreamEvent::Text {
        index: 0,
        text: text.to_owned(),
    };
    assert!(matches!(&heard[0], StreamEvent::Started { id, .. } if id == "msg_1"));
    assert!(matches!(&heard[1], StreamEvent::Usage(usage) if usage.output == 1));
    assert!(matches!(
        &heard[2],
        StreamEvent::BlockStarted {
            index: 0,
            kind: ReplyBlockKind::Text,
            tool: None
        }
    ));
    assert_eq!(
        heard[3..7],
        [
            StreamEvent::Ping,
            text("Hello"),
            text(", you"),
            StreamEvent::BlockEnded { index: 0 }
        ]
    );
    assert!(matches!(&heard[7], StreamEvent::Usage(usage) if usage.output == 4));
    assert_eq!(heard.len(), 8);
}

#[test]
fn m2_escapes_unknown_fields_and_split_surrogates_keep_their_bytes() {
    let outcome = fold(&[
        START,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","x":{"b":1, "a":[ ]},"text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\u00e9\/\ud83d"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\ude00 é"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        &done("end_turn"),
        STOP,
    ]);
    let block = &outcome.reply.blocks[0];
    assert_eq!(
        block.json(),
        r#"{"type":"text","x":{"b":1, "a":[ ]},"text":"\u00e9\/\ud83d\ude00 é"}"#
    );
    assert_eq!(block.text().unwrap(), "é/😀 é");
}

#[test]
fn thinking_keeps_its_signature_and_comes_without_text_too() {
    let outcome = fold(&[
        START,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln+/=="}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"signature_delta","signature":"only"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"redacted_thinking","data":"abc"}}"#,
        r#"{"type":"content_block_stop","index":2}"#,
        &done("end_turn"),
        STOP,
    ]);
    let json: Vec<&[u8]> = outcome
        .reply
        .blocks
        .iter()
        .map(|block| &block.json()[..])
        .collect();
    assert_eq!(
        json,
        [
            &br#"{"type":"thinking","thinking":"Hm","signature":"c2ln+/=="}"#[..],
            br#"{"type":"thinking","thinking":"","signature":"only"}"#,
            br#"{"type":"redacted_thinking","data":"abc"}"#,
        ]
    );
    assert_eq!(outcome.reply.blocks[0].thinking().unwrap(), "Hm");
}

#[test]
fn a_tools_input_is_assembled_and_kept_as_written() {
    let outcome = fold(&[
        START,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"Read","input":{}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"path\": \"a\\"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"n\", \"z\":1.0,\"a\":1e2}"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_2","name":"Now","input":{}}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        &done("tool_use"),
        STOP,
    ]);
    let calls: Vec<_> = outcome.reply.tool_calls().collect();
    assert_eq!((&*calls[0].id, &*calls[0].name), ("toolu_1", "Read"));
    assert_eq!(calls[0].input_json, br#"{"path": "a\n", "z":1.0,"a":1e2}"#);
    assert_eq!(calls[1].input_json, b"{}");
    assert_eq!(outcome.reply.notices, []);
}

#[test]
fn input_that_is_no_json_is_wrapped_and_noticed() {
    let outcome = fold(&[
        START,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"n","input":{}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\": \"b"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        &done("max_tokens"),
        STOP,
    ]);
    let call = outcome.reply.tool_calls().next().unwrap();
    assert_eq!(call.input_json, br#"{"INVALID_JSON":"{\"a\": \"b"}"#);
    assert_eq!(
        outcome.reply.notices,
        [ReplyNotice::InvalidToolInput { index: 0 }]
    );
}

#[test]
fn citations_join_the_list_of_their_text() {
    let outcome = fold(&[
        START,
        r#"{"type":"content_block_start","index":0,"content_block":{"citations":[],"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"type":"x", "n":1}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"t"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"n":2}}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        &done("end_turn"),
        STOP,
    ]);
    assert_eq!(
        outcome.reply.blocks[0].json(),
        r#"{"citations":[{"type":"x", "n":1},{"n":2}],"type":"text","text":"t"}"#
    );
}

#[test]
fn n3_a_compaction_block_is_whole_with_its_encrypted_content() {
    let outcome = fold(&[
        START,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"compaction","content":null}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"compaction_delta","content":"So far","encrypted_content":"e+/="}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"compaction"},"usage":{"input_tokens":0,"output_tokens":0,"iterations":[{"type":"compaction","input_tokens":60,"output_tokens":5},{"type":"message","input_tokens":6,"output_tokens":2}]}}"#,
        STOP,
    ]);
    let block = &outcome.reply.blocks[0];
    assert_eq!(
        block.json(),
        r#"{"type":"compaction","content":"So far","encrypted_content":"e+/="}"#
    );
    assert_eq!(block.compaction().unwrap(), "So far");
    assert_eq!(outcome.reply.stop, Some(StopReason::Compaction));
    assert_eq!(outcome.reply.usage.context(), 8);
    assert_eq!(
        outcome
            .reply
            .usage
            .billed()
            .map(|step| step.input)
            .sum::<u64>(),
        66
    );
}

#[test]
fn unknown_events_deltas_and_blocks_survive() {
    let odd = r#"{"type":"surprise","x":1}"#;
    let delta = r#"{"type":"later_delta","y":[1]}"#;
    let outcome = fold(&[
        START,
        odd,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"novelty","z":1}}"#,
        &format!(r#"{{"type":"content_block_delta","index":0,"delta":{delta}}}"#),
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"whim","mood":"good"},"usage":{"output_tokens":2},"news":{"n":1}}"#,
        STOP,
    ]);
    assert!(outcome.events.contains(&StreamEvent::Other(odd.into())));
    let block = &outcome.reply.blocks[0];
    assert_eq!(block.json(), r#"{"type":"novelty","z":1}"#);
    assert_eq!(block.kind(), ReplyBlockKind::Other);
    assert_eq!(block.unknown_deltas(), [delta]);
    assert_eq!(
        outcome.reply.stop,
        Some(StopReason::Other("whim".to_owned()))
    );
    assert_eq!(outcome.reply.field("mood"), Some(&br#""good""#[..]));
    assert_eq!(outcome.reply.field("news"), Some(&br#"{"n":1}"#[..]));
}

#[test]
fn usage_is_cumulative_and_a_null_says_nothing() {
    let outcome = fold(&[
        r#"{"type":"message_start","message":{"id":"m","type":"message","content":[],"usage":{"input_tokens":10,"cache_creation_input_tokens":100,"cache_creation":{"ephemeral_5m_input_tokens":60,"ephemeral_1h_input_tokens":40},"cache_read_input_tokens":7,"output_tokens":1,"service_tier":"batch","inference_geo":"us"}}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":null},"usage":{"input_tokens":null,"output_tokens":20}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":12,"cache_creation_input_tokens":130,"cache_read_input_tokens":null,"output_tokens":50}}"#,
        STOP,
    ]);
    let usage = outcome.reply.usage;
    assert_eq!((usage.input, usage.output, usage.cache_read), (12, 50, 7));
    // What the newer total adds to the older split has the default lifetime.
    assert_eq!((usage.cache_write_5m, usage.cache_write_1h), (90, 40));
    assert!(usage.batch && usage.us_only);
}

#[test]
fn a_message_that_begins_with_content_keeps_it() {
    let start = r#"{"type":"message_start","message":{"id":"m","type":"message","model":"x","content":[{"type":"text","text":"a\u00e9"},{"type":"tool_use","id":"t","name":"n","input":{"k": 1}}],"stop_reason":"tool_use","usage":{"input_tokens":0,"output_tokens":0}}}"#;
    let outcome = fold(&[start, STOP]);
    assert_eq!(outcome.progress, StreamProgress::Closed);
    assert_eq!(outcome.reply.text(), "aé");
    assert_eq!(
        outcome.reply.tool_calls().next().unwrap().input_json,
        br#"{"k": 1}"#
    );
    assert_eq!(outcome.reply.stop, Some(StopReason::ToolUse));
    let heard = StreamEvent::Text {
        index: 0,
        text: "aé".to_owned(),
    };
    assert!(outcome.events.contains(&heard));
}

#[test]
fn events_without_content_are_passed_over() {
    let stream = stream_of(HELLO).replace("\n\n", "\n\ndata:\n\ndata: \n\n");
    let outcome = decode(Dialect::Anthropic, &stream);
    assert_eq!(outcome, fold(HELLO));
    let outcome = decode(Dialect::OpenAi, "data:\n\n");
    assert_eq!(outcome.failure, None);
}

#[test]
fn u7_applied_edits_are_read_back() {
    let outcome = fold(&[
        START,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2},"context_management":{"applied_edits":[{"type":"clear_tool_uses_20250919","cleared_tool_uses":8,"cleared_input_tokens":50000},{"type":"clear_thinking_20251015","cleared_thinking_turns":3,"cleared_input_tokens":15000},{"type":"new"}]}}"#,
        STOP,
    ]);
    assert_eq!(
        outcome.reply.applied_edits,
        [
            AppliedEdit::ToolUses {
                cleared: 8,
                tokens: 50_000
            },
            AppliedEdit::Thinking {
                turns: 3,
                tokens: 15_000
            },
            AppliedEdit::Other(r#"{"type":"new"}"#.into()),
        ]
    );
}

#[test]
fn a_repeated_message_start_is_passed_over() {
    let mut events = HELLO.to_vec();
    events.insert(1, HELLO[0]);
    events.insert(4, HELLO[0]);
    let outcome = fold(&events);
    assert_eq!(outcome.reply, fold(HELLO).reply);
    assert_eq!(outcome.events, fold(HELLO).events);
}

#[test]
fn a_second_message_replaces_the_torn_first_one() {
    let other = HELLO[0].replace("msg_1", "msg_2");
    let events: Vec<&str> = HELLO[..4]
        .iter()
        .copied()
        .chain([&*other])
        .chain(HELLO[1..].iter().copied())
        .collect();
    let outcome = fold(&events);
    assert_eq!(outcome.reply.id(), "msg_2");
    assert_eq!(outcome.reply.text(), "Hello, you");
    assert_eq!(outcome.reply.blocks.len(), 1);
    assert_eq!(
        outcome.reply.notices,
        [ReplyNotice::Restarted {
            abandoned: "msg_1".to_owned()
        }]
    );
    assert!(outcome.events.contains(&StreamEvent::Restarted));
}

#[test]
fn a_stream_that_breaks_off_leaves_what_had_come() {
    let outcome = fold(&[
        START,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"n","input":{}}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}"#,
    ]);
    assert_eq!(outcome.progress, StreamProgress::Open);
    let reply = outcome.reply;
    assert_eq!(reply.text(), "Hel");
    assert_eq!(reply.stop, None);
    assert_eq!(reply.blocks[1].extent(), BlockCompleteness::Open);
    assert_eq!(reply.blocks[1].partial_input(), r#"{"a":"#);
    assert_eq!(reply.tool_calls().count(), 0, "half a call is none");
}

#[test]
fn deltas_without_their_block_begin_one_or_are_noticed() {
    let stray = r#"{"type":"input_json_delta","partial_json":"{}"}"#;
    let outcome = fold(&[
        START,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"unannounced"}}"#,
        &format!(r#"{{"type":"content_block_delta","index":5,"delta":{stray}}}"#),
        &done("end_turn"),
        STOP,
    ]);
    assert_eq!(outcome.reply.text(), "unannounced");
    assert_eq!(
        outcome.reply.notices,
        [ReplyNotice::StrayDelta {
            index: 5,
            json: stray.into()
        }]
    );
}

#[test]
fn a_missing_closing_event_behind_the_stop_reason_is_only_a_notice() {
    let outcome = fold(&HELLO[..7]);
    assert_eq!(outcome.progress, StreamProgress::Stopped);
    assert_eq!(outcome.reply.notices, [ReplyNotice::NoClosingEvent]);
    assert_eq!(outcome.reply.blocks, fold(HELLO).reply.blocks);
}
