//! Folding chat completions into the same form of reply.

use longhaul_provider::decode::{DecodeError, StreamProgress, decode_json};
use longhaul_provider::{Dialect, Reply, ReplyBlockKind, ReplyNotice, StopReason, StreamEvent};

use crate::support::{Outcome, decode};

fn fold(chunks: &[&str]) -> Outcome {
    let stream: String = chunks
        .iter()
        .map(|chunk| format!("data: {chunk}\n\n"))
        .collect();
    decode(Dialect::OpenAi, &stream)
}

fn whole(body: &str) -> Reply {
    decode_json(Dialect::OpenAi, &body.to_owned().into()).unwrap()
}

fn chunk(delta: &str, finish: &str) -> String {
    format!(
        r#"{{"id":"c-1","object":"chat.completion.chunk","created":1,"model":"gpt-x","choices":[{{"index":0,"delta":{delta},"finish_reason":{finish}}}],"usage":null}}"#
    )
}

const USAGE: &str = r#"{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":64,"cache_write_tokens":30},"completion_tokens_details":{"reasoning_tokens":3}}"#;

fn usage_chunk() -> String {
    format!(
        r#"{{"id":"c-1","object":"chat.completion.chunk","model":"gpt-x","choices":[],"usage":{USAGE}}}"#
    )
}

#[test]
fn n5_streamed_and_whole_completions_are_the_same_reply() {
    let streamed = fold(&[
        &chunk(r#"{"role":"assistant","content":""}"#, "null"),
        &chunk(r#"{"reasoning_content":"Hm"}"#, "null"),
        &chunk(r#"{"content":"Let me \u00e9"}"#, "null"),
        &chunk(r#"{"content":" look"}"#, "null"),
        &chunk(
            r#"{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"read","arguments":""}}]}"#,
            "null",
        ),
        &chunk(
            r#"{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"grep","arguments":"{\"q\":"}}]}"#,
            "null",
        ),
        &chunk(
            r#"{"tool_calls":[{"index":0,"function":{"arguments":"{\"p\":\"x\"}"}}]}"#,
            "null",
        ),
        &chunk(
            r#"{"tool_calls":[{"index":1,"function":{"arguments":" 1}"}}]}"#,
            "null",
        ),
        &chunk("{}", r#""tool_calls""#),
        &usage_chunk(),
        "[DONE]",
    ]);
    assert_eq!(streamed.failure, None);
    assert_eq!(streamed.progress, StreamProgress::Closed);
    let body = format!(
        r#"{{"id":"c-1","object":"chat.completion","created":1,"model":"gpt-x","choices":[{{"index":0,"message":{{"role":"assistant","reasoning_content":"Hm","content":"Let me \u00e9 look","tool_calls":[{{"id":"call_a","type":"function","function":{{"name":"read","arguments":"{{\"p\":\"x\"}}"}}}},{{"id":"call_b","type":"function","function":{{"name":"grep","arguments":"{{\"q\": 1}}"}}}}]}},"finish_reason":"tool_calls"}}],"usage":{USAGE}}}"#
    );
    assert_eq!(streamed.reply, whole(&body));
    assert_eq!(streamed.reply.stop, Some(StopReason::ToolUse));
    assert_eq!(
        String::from_utf8(streamed.reply.message_json()).unwrap(),
        r#"{"id":"c-1","type":"message","role":"assistant","model":"gpt-x","content":[{"type":"thinking","thinking":"Hm"},{"type":"text","text":"Let me \u00e9 look"},{"type":"tool_use","id":"call_a","name":"read","input":{"p":"x"}},{"type":"tool_use","id":"call_b","name":"grep","input":{"q": 1}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":6,"cache_creation_input_tokens":30,"cache_read_input_tokens":64,"output_tokens":20}}"#
    );
}

#[test]
fn prompt_tokens_include_the_cached_ones() {
    let usage = fold(&[
        &chunk(r#"{"content":"x"}"#, r#""stop""#),
        &usage_chunk(),
        "[DONE]",
    ])
    .reply
    .usage;
    assert_eq!(
        (usage.input, usage.cache_read, usage.cache_write()),
        (6, 64, 30)
    );
    assert_eq!((usage.prompt(), usage.output), (100, 20));
}

#[test]
fn usage_that_does_not_add_up_does_not_underflow() {
    let told = r#"{"choices":[{"index":0,"message":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":50,"cache_write_tokens":9}}}"#;
    let usage = whole(told).usage;
    assert_eq!(
        (usage.input, usage.cache_read, usage.cache_write()),
        (0, 5, 0)
    );
}

#[test]
fn calls_without_an_index_are_told_apart_by_their_ids() {
    let outcome = fold(&[
        &chunk(
            r#"{"tool_calls":[{"id":"a","type":"function","function":{"name":"one","arguments":"{\"x\":1}"}}]}"#,
            "null",
        ),
        &chunk(
            r#"{"tool_calls":[{"id":"b","type":"function","function":{"name":"two","arguments":"{\"y\":"}}]}"#,
            "null",
        ),
        &chunk(
            r#"{"tool_calls":[{"function":{"arguments":"2}"}}]}"#,
            "null",
        ),
        &chunk("{}", r#""tool_calls""#),
        "[DONE]",
    ]);
    let calls: Vec<(String, Vec<u8>)> = outcome
        .reply
        .tool_calls()
        .map(|call| (call.name.into_owned(), call.input_json.to_vec()))
        .collect();
    assert_eq!(
        calls,
        [
            ("one".to_owned(), br#"{"x":1}"#.to_vec()),
            ("two".to_owned(), br#"{"y":2}"#.to_vec())
        ]
    );
}

#[test]
fn arguments_that_are_an_object_or_broken_are_survived() {
    let outcome = fold(&[
        &chunk(
            r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"one","arguments":{"x":1}}},{"index":1,"id":"b","function":{"name":"two","arguments":"{oops"}}]}"#,
            r#""tool_calls""#,
        ),
        "[DONE]",
    ]);
    let inputs: Vec<&[u8]> = outcome
        .reply
        .tool_calls()
        .map(|call| call.input_json)
        .collect();
    assert_eq!(inputs, [&br#"{"x":1}"#[..], br#"{"INVALID_JSON":"{oops"}"#]);
    assert_eq!(
        outcome.reply.notices,
        [ReplyNotice::InvalidToolInput { index: 1 }]
    );
}

#[test]
fn a_filter_is_a_refusal_and_its_words_are_text() {
    let outcome = fold(&[
        &chunk(r#"{"refusal":"No."}"#, r#""content_filter""#),
        "[DONE]",
    ]);
    assert_eq!(outcome.reply.stop, Some(StopReason::Refusal));
    assert_eq!(outcome.reply.text(), "No.");
}

#[test]
fn servers_without_done_are_understood_at_their_finish_reason() {
    let outcome = fold(&[
        &chunk(r#"{"content":"x"}"#, "null"),
        &chunk("{}", r#""length""#),
    ]);
    assert_eq!(outcome.progress, StreamProgress::Stopped);
    assert_eq!(outcome.reply.stop, Some(StopReason::MaxTokens));
    assert_eq!(outcome.reply.notices, [ReplyNotice::NoClosingEvent]);
}

#[test]
fn an_error_inside_the_stream_is_an_answer() {
    let outcome = fold(&[
        &chunk(r#"{"content":"x"}"#, "null"),
        r#"{"error":{"message":"The server had an error","type":"server_error","code":null}}"#,
    ]);
    assert!(
        matches!(outcome.failure, Some(DecodeError::Answer(answer)) if answer.kind.as_deref() == Some("server_error"))
    );
    assert_eq!(outcome.reply.text(), "x");
}

#[test]
fn other_alternatives_are_noticed_once_and_not_mixed_in() {
    let second =
        r#"{"id":"c","choices":[{"index":1,"delta":{"content":"other"},"finish_reason":null}]}"#;
    let outcome = fold(&[
        &chunk(r#"{"content":"x"}"#, "null"),
        second,
        second,
        &chunk("{}", r#""stop""#),
        "[DONE]",
    ]);
    assert_eq!(outcome.reply.text(), "x");
    assert_eq!(
        outcome.reply.notices,
        [ReplyNotice::OtherChoice { index: 1 }]
    );
}

#[test]
fn a_host_hears_of_text_and_tools() {
    let heard = fold(&[
        &chunk(r#"{"content":"x"}"#, "null"),
        &chunk(
            r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"one","arguments":"{}"}}]}"#,
            r#""tool_calls""#,
        ),
        "[DONE]",
    ])
    .events;
    assert!(
        matches!(&heard[0], StreamEvent::Started { id, model } if id == "c-1" && model == "gpt-x")
    );
    assert!(heard.contains(&StreamEvent::BlockStarted {
        index: 1,
        kind: ReplyBlockKind::ToolUse,
        tool: Some("one".to_owned())
    }));
    assert!(heard.contains(&StreamEvent::ToolInput {
        index: 1,
        json: "{}".to_owned()
    }));
    assert_eq!(
        heard
            .iter()
            .filter(|event| matches!(event, StreamEvent::BlockEnded { .. }))
            .count(),
        2
    );
}
