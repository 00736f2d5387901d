//! Reading a body: JSON, types, missing and unknown fields, betas.

use longhaul_sim::request::{CacheLifetime, Endpoint, MessagesRequest};
use serde_json::{Value, json};

use super::{OPUS, SONNET, admitted, plain, refused, say, talk, text, use_of};
use crate::support::{NEW, OLD, body, call, read, refusal, taken};

#[test]
fn malformed_json_is_refused_with_the_place() {
    for (body, words) in [
        ("", "unexpected end of data: line 1 column 1 (char 0)"),
        ("{", "unexpected end of data: line 1 column 2 (char 1)"),
        ("nonsense", "unexpected character: line 1 column 2 (char 1)"),
        (
            "{\"model\": }",
            "unexpected character: line 1 column 11 (char 10)",
        ),
        (
            "{\n\"model\": x}",
            "unexpected character: line 2 column 10 (char 11)",
        ),
        (
            "{} {}",
            "unexpected content after document: line 1 column 4 (char 3)",
        ),
    ] {
        let error = read(body, &plain()).unwrap_err();
        assert_eq!((error.status, error.kind), (400, "invalid_request_error"));
        assert_eq!(
            error.message,
            format!("The request body is not valid JSON: {words}"),
            "{body}"
        );
    }
    let error = read("[]", &plain()).unwrap_err();
    assert_eq!(error.message, "Input should be a valid dictionary");
    let lone = r#"{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"\ud800"}]}"#;
    let error = read(lone, &plain()).unwrap_err();
    assert!(
        error.message.contains("no low surrogate in string"),
        "{}",
        error.message
    );
    let error = MessagesRequest::read(
        b"{\"model\":\"\xff\"}",
        Endpoint::Messages,
        &plain().betas,
        OLD,
    )
    .unwrap_err();
    assert!(
        error.message.contains("not valid UTF-8"),
        "{}",
        error.message
    );
}

#[test]
fn a_body_that_is_too_large_is_413() {
    let most = 32 * 1024 * 1024;
    let mut large = vec![b' '; most + 1];
    let error = MessagesRequest::read(&large, Endpoint::Messages, &plain().betas, OLD).unwrap_err();
    assert_eq!((error.status, error.kind), (413, "request_too_large"));
    assert_eq!(error.message, "Request exceeds the maximum size");
    large.truncate(most);
    let error = MessagesRequest::read(&large, Endpoint::Messages, &plain().betas, OLD).unwrap_err();
    assert_eq!(error.status, 400);
}

#[test]
fn more_than_a_hundred_thousand_messages_are_refused() {
    let messages = |count: usize| json!({"messages": vec![say("user", json!("x")); count]});
    admitted(SONNET, messages(100_000));
    refused(
        SONNET,
        messages(100_001),
        "messages: List should have at most 100000 items after validation, not 100001",
    );
}

#[test]
fn too_deep_a_nesting_is_refused() {
    for depth in [200, 1_000_000] {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let call = json!({"type": "tool_use", "id": "t", "name": "n", "input": {"a": 0}});
        let sent = body(
            SONNET,
            json!({"messages": [say("assistant", json!([call]))]}),
        )
        .to_string();
        let error = read(
            &sent.replace(r#"{"a":0}"#, &format!(r#"{{"a":{deep}}}"#)),
            &plain(),
        )
        .unwrap_err();
        assert!(
            error.message.contains("recursion limit reached"),
            "{}",
            error.message
        );
    }
}

#[test]
fn n5_the_version_must_be_known() {
    for (version, words) in [
        ("", "anthropic-version: header is required"),
        (
            "2020-01-01",
            r#"anthropic-version: "2020-01-01" is not a valid version. You must provide a valid version, such as "2023-06-01"."#,
        ),
    ] {
        assert_eq!(
            refusal(&body(SONNET, json!({})), &call(version, &[])),
            words
        );
    }
    taken(&body(SONNET, json!({})), &call(NEW, &[]));
}

#[test]
fn missing_and_wrong_fields_are_named_with_their_path() {
    let cases = [
        (json!({"model": null}), "model: Field required"),
        (json!({"model": 7}), "model: Input should be a valid string"),
        (
            json!({"model": ""}),
            "model: String should have at least 1 character",
        ),
        (json!({"messages": null}), "messages: Field required"),
        (
            json!({"messages": "x"}),
            "messages: Input should be a valid array",
        ),
        (
            json!({"messages": []}),
            "messages: at least one message is required",
        ),
        (
            json!({"messages": ["x"]}),
            "messages.0: Input does not match the expected shape.",
        ),
        (json!({"max_tokens": null}), "max_tokens: Field required"),
        (
            json!({"max_tokens": "x"}),
            "max_tokens: Input should be a valid integer",
        ),
        (
            json!({"max_tokens": -1}),
            "max_tokens: must be greater than or equal to 0",
        ),
        (
            json!({"messages": [{"content": "x"}]}),
            "messages.0.role: Field required",
        ),
        (
            json!({"messages": [{"role": "bogus", "content": "x"}]}),
            r#"messages: Unexpected role "bogus". Allowed roles are "user" or "assistant""#,
        ),
        (
            json!({"messages": [{"role": "user"}]}),
            "messages.0.content: Field required",
        ),
        (
            json!({"messages": [say("user", json!(7))]}),
            "messages.0.content: Input should be a valid array",
        ),
        (
            json!({"messages": [say("user", json!([7]))]}),
            "messages.0.content.0: Input should be an object",
        ),
        (
            json!({"messages": [say("user", json!([{}]))]}),
            "messages.0.content.0.type: Field required",
        ),
        (
            json!({"messages": [say("user", json!([{"type": "text"}]))]}),
            "messages.0.content.0.text.text: Field required",
        ),
        (
            json!({"tool_choice": 7}),
            "tool_choice: Input should be an object",
        ),
        (
            json!({"tools": "x"}),
            "tools: Input should be a valid array",
        ),
        (json!({"tools": [7]}), "tools.0: Input should be an object"),
        (
            json!({"system": 7}),
            "system: Input should be a valid array",
        ),
        (
            json!({"system": [7]}),
            "system.0: Input does not match the expected shape.",
        ),
        (
            json!({"thinking": "x"}),
            "thinking: Input should be an object",
        ),
        (
            json!({"output_config": "x"}),
            "output_config: Input does not match the expected shape.",
        ),
        (
            json!({"cache_control": "x"}),
            "cache_control: Input should be an object",
        ),
        (
            json!({"metadata": "x"}),
            "metadata: Input does not match the expected shape.",
        ),
        (
            json!({"metadata": {"user_id": 7}}),
            "metadata.user_id: Input should be a valid string",
        ),
        (
            json!({"stop_sequences": [1]}),
            "stop_sequences.0: Input should be a valid string",
        ),
        (
            json!({"temperature": "x"}),
            "temperature: Input should be a valid number",
        ),
        (json!({"temperature": 2}), "temperature: range: 0..1"),
        (json!({"top_p": 1.5}), "top_p: range: 0..1"),
        (
            json!({"service_tier": "x"}),
            "service_tier: Input should be 'auto' or 'standard_only'",
        ),
        (
            json!({"stream": "yes"}),
            "stream: Input should be a valid boolean",
        ),
        (
            json!({"inference_geo": "moon"}),
            "inference_geo: must be one of ['global', 'us']",
        ),
    ];
    for (more, words) in cases {
        refused(SONNET, more, words);
    }
    // A null that a JSON merge would not keep.
    let sent = body(SONNET, json!({})).to_string();
    let error = read(&sent.replace("4096", "null"), &plain()).unwrap_err();
    assert_eq!(error.message, "max_tokens: Input should be a valid integer");
}

#[test]
fn unknown_fields_are_refused_wherever_they_are() {
    let marked = |field: &str| json!([{"type": "text", "text": "x", "cache_control": {"type": "ephemeral", field: "x"}}]);
    let schema = json!({"type": "object"});
    for (more, words) in [
        (json!({"zzz": 1}), "zzz: Extra inputs are not permitted"),
        (
            json!({"messages": [{"role": "user", "content": "x", "zzz": 1}]}),
            "messages.0.zzz: Extra inputs are not permitted",
        ),
        (
            json!({"messages": [say("user", json!([{"type": "text", "text": "x", "zzz": 1}]))]}),
            "messages.0.content.0.text.zzz: Extra inputs are not permitted",
        ),
        (
            json!({"messages": [say("user", marked("scope"))]}),
            "messages.0.content.0.text.cache_control.ephemeral.scope: Extra inputs are not permitted",
        ),
        (
            json!({"system": marked("scope")}),
            "system.0.cache_control.ephemeral.scope: Extra inputs are not permitted",
        ),
        (
            json!({"tools": [{"name": "n", "input_schema": schema, "zzz": 1}]}),
            "tools.0.custom.zzz: Extra inputs are not permitted",
        ),
        (
            json!({"metadata": {"zzz": "x"}}),
            "metadata.zzz: Extra inputs are not permitted",
        ),
        (
            json!({"messages": [say("user", json!("x")), say("assistant", json!([
                {"type": "thinking", "thinking": "x", "signature": "x", "cache_control": {"type": "ephemeral"}},
            ]))]}),
            "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted",
        ),
    ] {
        refused(SONNET, more, words);
    }
    refused(
        SONNET,
        json!({"messages": [say("user", json!([{"type": "poem"}]))]}),
        "messages.0.content.0: Input tag 'poem' found using 'type' does not match any of the expected tags: 'text', 'image', 'document', 'search_result', 'thinking', 'redacted_thinking', 'tool_use', 'tool_result', 'server_tool_use', 'web_search_tool_result', 'web_fetch_tool_result', 'code_execution_tool_result', 'bash_code_execution_tool_result', 'text_editor_code_execution_tool_result', 'tool_search_tool_result', 'container_upload', 'browser_state'",
    );
}

#[test]
fn the_first_problem_in_the_order_of_fields_is_reported() {
    for (more, words) in [
        (
            json!({"tool_choice": 7, "model": 7}),
            "model: Input should be a valid string",
        ),
        (
            json!({"messages": "x", "tools": "x"}),
            "tools: Input should be a valid array",
        ),
        (
            json!({"system": 7, "messages": "x"}),
            "messages: Input should be a valid array",
        ),
        (
            json!({"metadata": "x", "max_tokens": "x"}),
            "max_tokens: Input should be a valid integer",
        ),
        (
            json!({"zzz": 1, "inference_geo": 7}),
            "inference_geo: Input should be a valid string",
        ),
        (
            json!({"zzz": 1, "messages": [say("user", json!([]))]}),
            "zzz: Extra inputs are not permitted",
        ),
        (
            json!({"zzz": 1, "messages": [{"role": "user", "content": "x", "bogus": 1}]}),
            "messages.0.bogus: Extra inputs are not permitted",
        ),
    ] {
        refused(SONNET, more, words);
    }
    // In the conversation, the first problem by position is reported.
    refused(
        OPUS,
        talk(&[
            say("user", json!("a")),
            say("assistant", json!([use_of("t1")])),
            say("user", json!([text("")])),
        ]),
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
    );
    refused(
        OPUS,
        talk(&[
            say("user", json!([text("")])),
            say("assistant", json!([use_of("t1")])),
            say("user", json!("x")),
        ]),
        "messages: text content blocks must be non-empty",
    );
}

#[test]
fn fields_and_blocks_of_a_beta_are_unknown_without_it() {
    let edits = json!({"edits": [{"type": "clear_tool_uses_20250919"}]});
    let thinking = json!({"type": "adaptive", "block_binding": {}});
    let format = json!({"type": "json_schema", "schema": {"type": "object"}});
    let compacted = json!([
        say("assistant", json!([{"type": "compaction", "content": "x"}])),
        say("user", json!("x"))
    ]);
    let system =
        json!([say("user", json!("x")), {"role": "system", "content": "x", "clear_at": "never"}]);
    for (beta, more, words) in [
        (
            "context-management-2025-06-27",
            json!({"context_management": edits}),
            "context_management: Extra inputs are not permitted",
        ),
        (
            "compact-2026-09-04",
            json!({"compaction": {"type": "summarize"}}),
            "compaction: this parameter requires anthropic-beta: compact-2026-09-04",
        ),
        (
            "thinking-binding-controls-2026-08-01",
            json!({"thinking": thinking}),
            "thinking.adaptive.block_binding: Extra inputs are not permitted",
        ),
        (
            "structured-outputs-2025-11-13",
            json!({"output_format": format}),
            "output_format: Extra inputs are not permitted",
        ),
        (
            "task-budgets-2026-03-13",
            json!({"output_config": {"task_budget": {"type": "tokens", "total": 9}}}),
            "output_config.task_budget: Extra inputs are not permitted",
        ),
        (
            "compact-2026-01-12",
            json!({"messages": compacted}),
            "messages.0.content.0: 'compaction' is not one of the expected content block types",
        ),
        (
            "mid-conversation-system-clear-at-2026-08-21",
            json!({"messages": system}),
            "messages.1.clear_at: Extra inputs are not permitted",
        ),
        (
            "thinking-display-updates-2026-08-18",
            json!({"thinking": {"type": "adaptive", "display": "updates"}}),
            "thinking.adaptive.display: Input should be 'summarized' or 'omitted'",
        ),
    ] {
        let sent = body(OPUS, more);
        assert_eq!(refusal(&sent, &plain()), words);
        taken(&sent, &call(OLD, &[beta]));
    }
}

#[test]
fn what_was_sent_is_kept_to_the_letter() {
    let sent = r#"{"model":"claude-opus-5","max_tokens":10,
        "system":"S\u0041","tools":[ { "input_schema" : {"type":"object"}, "name":"read" , "cache_control":{"type":"ephemeral","ttl":"1h"}} ],
        "messages":[{"role":"user","content":[ {"text" : "caf\u00e9","type":"text","cache_control":null},
        {"type":"text","text":"x","cache_control":{"type":"ephemeral"}} ]}]}"#;
    let request = read(sent, &plain()).unwrap();
    let content = &request.messages[0].content;
    assert_eq!(
        &*content[0].raw,
        r#"{"text" : "caf\u00e9","type":"text","cache_control":null}"#
    );
    assert_eq!(
        (content[0].text("text"), content[0].marker),
        (Some("café"), None)
    );
    assert_eq!(content[1].marker, Some(CacheLifetime::FiveMinutes));
    assert!(!content[1].fields.contains_key("cache_control"));
    assert_eq!(
        &*request.system[0].raw,
        r#"{"type":"text","text":"S\u0041"}"#
    );
    assert_eq!(request.tools[0].marker, Some(CacheLifetime::OneHour));
    assert!(
        request.tools[0].raw.starts_with("{ \"input_schema\" :"),
        "{}",
        request.tools[0].raw
    );
}

#[test]
fn counting_tokens_takes_fewer_fields() {
    let count = |body: &Value| {
        let call = call(OLD, &["compact-2026-09-04"]);
        MessagesRequest::read(
            body.to_string().as_bytes(),
            Endpoint::CountTokens,
            &call.betas,
            OLD,
        )
    };
    let counted = count(&body(SONNET, json!({"max_tokens": null}))).unwrap();
    assert_eq!(counted.max_tokens, None);
    for field in ["max_tokens", "stream", "metadata", "temperature"] {
        let mut sent = body(SONNET, json!({"max_tokens": null}));
        sent[field] = json!(1);
        assert_eq!(
            count(&sent).unwrap_err().message,
            format!("{field}: Extra inputs are not permitted")
        );
    }
    count(&body(
        SONNET,
        json!({"max_tokens": null, "compaction": {"type": "summarize"}}),
    ))
    .unwrap();
}
