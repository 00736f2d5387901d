//! Replies that come as one JSON text.

use bytes::Bytes;
use longhaul_provider::decode::{DecodeError, decode_json};
use longhaul_provider::{Dialect, StopReason};

const BODY: &str = r#" { "id" : "msg_1", "type":"message","role":"assistant","model":"m",
  "content":[ {"type":"text" , "text":"\u00e9 \ud83d", "new":1.0}, {"type":"tool_use","id":"t","name":"n","input":{"b":1,  "a":2}} ],
  "stop_reason":"tool_use","stop_details":{"x":1},"usage":{"input_tokens":5,"output_tokens":6}} "#;

#[test]
fn m2_blocks_are_slices_of_the_body() {
    let body = Bytes::from_static(BODY.as_bytes());
    let reply = decode_json(Dialect::Anthropic, &body).unwrap();
    assert_eq!(
        reply.blocks[0].json(),
        r#"{"type":"text" , "text":"\u00e9 \ud83d", "new":1.0}"#
    );
    assert!(
        body.as_ptr_range()
            .contains(&reply.blocks[0].json().as_ptr())
    );
    assert_eq!(reply.text(), "é \u{fffd}");
    assert_eq!(
        reply.tool_calls().next().unwrap().input_json,
        br#"{"b":1,  "a":2}"#
    );
    assert_eq!(reply.stop, Some(StopReason::ToolUse));
    assert_eq!(reply.field("stop_details"), Some(&br#"{"x":1}"#[..]));
    assert_eq!(reply.usage.total(), 11);
}

#[test]
fn an_error_in_place_of_a_message_is_an_answer() {
    let body = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let error = decode_json(Dialect::Anthropic, &body.into()).unwrap_err();
    assert!(matches!(error, DecodeError::Answer(answer) if answer.message == "Overloaded"));
}

#[test]
fn whatever_else_comes_is_malformed() {
    for body in [
        "",
        "{",
        "[]",
        "<html>",
        "null",
        "{}",
        r#"{"type":"message""#,
        "{\"type\":\"\u{fffd}\"}x",
    ] {
        for dialect in [Dialect::Anthropic, Dialect::OpenAi] {
            let error = decode_json(dialect, &body.into());
            assert!(
                matches!(error, Err(DecodeError::Malformed(_))),
                "{dialect:?} {body}: {error:?}"
            );
        }
    }
    let error = decode_json(
        Dialect::Anthropic,
        &Bytes::from_static(b"{\"type\":\"\xFF\"}"),
    );
    assert!(matches!(error, Err(DecodeError::Malformed(_))));
}
