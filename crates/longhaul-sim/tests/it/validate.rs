//! What the API refuses is refused, in its words; what stands beside it is taken.

use longhaul_sim::call::Call;
use longhaul_sim::request::{Endpoint, Request, Ttl};
use serde_json::{Value, json};

use crate::support::{BETAS, NEW, OLD, admit, body, call, read, refusal, taken};

const SONNET: &str = "claude-sonnet-4-6";
const HAIKU: &str = "claude-haiku-4-5";
const OPUS: &str = "claude-opus-5-5";
const FABLE: &str = "claude-fable-5-1";

fn plain() -> Call {
    call(OLD, &[])
}

/// Refused with these words on this model, over a small request.
#[track_caller]
fn refused(model: &str, more: Value, words: &str) {
    assert_eq!(refusal(&body(model, more), &plain()), words);
}

#[track_caller]
fn admitted(model: &str, more: Value) {
    taken(&body(model, more), &plain());
}

fn tool(name: &str) -> Value {
    json!({"name": name, "input_schema": {"type": "object", "properties": {}}})
}

fn say(role: &str, content: Value) -> Value {
    json!({"role": role, "content": content})
}

fn use_of(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "read", "input": {}})
}

fn result_of(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "x"})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn talk(messages: &[Value]) -> Value {
    json!({"messages": messages, "tools": [tool("read")]})
}

#[test]
fn malformed_json_is_refused_with_the_place() {
    for (body, words) in [
        ("", "unexpected end of data: line 1 column 1 (char 0)"),
        ("{", "unexpected end of data: line 1 column 1 (char 0)"),
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
    let error = Request::read(
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
    let error = Request::read(&large, Endpoint::Messages, &plain().betas, OLD).unwrap_err();
    assert_eq!((error.status, error.kind), (413, "request_too_large"));
    assert_eq!(error.message, "Request exceeds the maximum size");
    large.truncate(most);
    let error = Request::read(&large, Endpoint::Messages, &plain().betas, OLD).unwrap_err();
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
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
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
    // A null that no JSON merge would keep.
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
    // Of the conversation, the one that stands first.
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
    assert_eq!(content[1].marker, Some(Ttl::FiveMinutes));
    assert!(!content[1].fields.contains_key("cache_control"));
    assert_eq!(
        &*request.system[0].raw,
        r#"{"type":"text","text":"S\u0041"}"#
    );
    assert_eq!(request.tools[0].marker, Some(Ttl::OneHour));
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
        Request::read(
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

#[test]
fn messages_of_one_role_are_merged_not_refused() {
    admitted(
        OPUS,
        talk(&[
            say("user", json!("a")),
            say("user", json!([])),
            say("user", json!("b")),
            say("assistant", json!("c")),
            say("assistant", json!([use_of("t1")])),
            say("user", json!([result_of("t1")])),
            say("user", json!("d")),
        ]),
    );
}

#[test]
fn the_first_message_is_the_users_or_a_summary() {
    let opened = [say("assistant", json!("I begin.")), say("user", json!("x"))];
    refused(
        OPUS,
        talk(&opened),
        r#"messages: first message must use the "user" role"#,
    );
    // As recorded.
    admitted(HAIKU, talk(&opened));
    for role in ["assistant", "user"] {
        let summary = say(role, json!([{"type": "compaction", "content": "x"}]));
        let sent = body(OPUS, talk(&[summary, say("user", json!("x"))]));
        taken(&sent, &call(OLD, &["compact-2026-01-12"]));
    }
}

#[test]
fn empty_turns_are_refused() {
    let words = "messages.0: user messages must have non-empty content";
    refused(SONNET, json!({"messages": [say("user", json!([]))]}), words);
    refused(SONNET, json!({"messages": [say("user", json!(""))]}), words);
    refused(
        SONNET,
        talk(&[
            say("user", json!("a")),
            say("assistant", json!([])),
            say("user", json!("b")),
        ]),
        "messages.1: all messages must have non-empty content except for the optional final assistant message",
    );
    admitted(
        SONNET,
        talk(&[say("user", json!("a")), say("assistant", json!([]))]),
    );
}

#[test]
fn empty_and_blank_text_is_refused() {
    refused(
        SONNET,
        talk(&[say("user", json!([text("")]))]),
        "messages: text content blocks must be non-empty",
    );
    refused(
        SONNET,
        talk(&[say("user", json!([text(" \n")]))]),
        "messages: text content blocks must contain non-whitespace text",
    );
    refused(
        SONNET,
        talk(&[say(
            "user",
            json!([{"type": "text", "text": "", "cache_control": {"type": "ephemeral"}}]),
        )]),
        "messages.0.content.0.text: cache_control cannot be set for empty text blocks",
    );
    let nested = json!([{"type": "tool_result", "tool_use_id": "t1", "content": [text("")]}]);
    let asked = [
        say("user", json!("a")),
        say("assistant", json!([use_of("t1")])),
    ];
    refused(
        SONNET,
        talk(&[&asked[..], &[say("user", nested)]].concat()),
        "messages: text content blocks must be non-empty",
    );
    refused(
        SONNET,
        json!({"system": [text("")]}),
        "system: text content blocks must be non-empty",
    );
    refused(
        SONNET,
        json!({"system": " "}),
        "system: text content blocks must contain non-whitespace text",
    );
    admitted(SONNET, json!({"system": ""}));
    // A model's own reply may have a blank between other blocks, as recorded.
    let blank = say("assistant", json!([text(" "), use_of("t1")]));
    admitted(
        SONNET,
        talk(&[
            say("user", json!("a")),
            blank,
            say("user", json!([result_of("t1")])),
        ]),
    );
}

#[test]
fn n6_prefill_is_refused_by_newer_models() {
    let begun = talk(&[
        say("user", json!("a")),
        say("assistant", json!("The answer is")),
    ]);
    let words = "This model does not support assistant message prefill. The conversation must end with a user message.";
    for model in [
        SONNET,
        OPUS,
        FABLE,
        "claude-mythos-preview",
        "some-new-model",
    ] {
        refused(model, begun.clone(), words);
    }
    admitted(HAIKU, begun.clone());
    refused(
        HAIKU,
        talk(&[
            say("user", json!("a")),
            say("assistant", json!("The answer is ")),
        ]),
        "messages: final assistant content cannot end with trailing whitespace",
    );
    // A reply that the API paused is taken up again, and what is only counted or summarised is not continued.
    let paused =
        json!([{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}]);
    admitted(
        OPUS,
        talk(&[say("user", json!("a")), say("assistant", paused)]),
    );
    let mut summary = begun;
    summary["compaction"] = json!({"type": "summarize"});
    taken(&body(OPUS, summary), &call(OLD, &["compact-2026-09-04"]));
}

#[test]
fn n7_messages_of_role_system_stand_only_where_they_may() {
    let (user, model, system) = (
        say("user", json!("a")),
        say("assistant", json!("b")),
        say("system", json!("s")),
    );
    let directive =
        "the directive-only form (content: [] with output_config) is accepted at any position";
    let place =
        format!("role 'system' must precede an 'assistant' message or end the array; {directive}");
    let run = |messages: &[&Value]| json!({"messages": messages});
    admitted(OPUS, run(&[&user, &system]));
    admitted(OPUS, run(&[&user, &system, &system, &model, &user]));
    for older in [SONNET, HAIKU, "claude-sonnet-5", "claude-opus-4-7"] {
        refused(
            older,
            run(&[&user, &system]),
            "role 'system' is not supported on this model",
        );
    }
    refused(
        OPUS,
        run(&[&system, &user]),
        &format!(
            "messages.0: use the top-level 'system' parameter for the initial system prompt; {directive}"
        ),
    );
    refused(
        OPUS,
        run(&[&user, &system, &user]),
        &format!("messages.1: {place}"),
    );
    refused(
        OPUS,
        run(&[&user, &system, &system, &user]),
        &format!("messages.2: {place}"),
    );
    refused(
        OPUS,
        run(&[&user, &say("system", json!([])), &user]),
        "messages.1: system content must contain at least one block",
    );
    refused(
        OPUS,
        run(&[&user, &say("system", json!("  "))]),
        "messages.1: system text blocks must contain non-whitespace text",
    );
    let image = json!([{"type": "image", "source": {"type": "url", "url": "u"}}]);
    refused(
        OPUS,
        run(&[&user, &say("system", image)]),
        "messages.1: role 'system' supports text, tool_addition, and tool_removal blocks only",
    );
    refused(
        OPUS,
        run(&[&user, &model, &system]),
        &format!(
            "messages.2: role 'system' must follow a 'user' message or an 'assistant' message that ends in a server tool result; {directive}"
        ),
    );
    let effort = json!({"role": "system", "content": [], "output_config": {"effort": "low"}});
    let sent = body(OPUS, run(&[&effort, &user, &effort, &user]));
    taken(
        &sent,
        &call(OLD, &["mid-conversation-output-config-2026-07-01"]),
    );
}

#[test]
fn every_call_of_a_tool_has_its_result_at_once() {
    let open = |path: &str, ids: &str| {
        format!(
            "{path}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
        )
    };
    let user = say("user", json!("a"));
    let asked = say(
        "assistant",
        json!([text("I look."), use_of("t1"), use_of("t2")]),
    );
    let both = say(
        "user",
        json!([result_of("t2"), result_of("t1"), text("Go on.")]),
    );
    admitted(OPUS, talk(&[user.clone(), asked.clone(), both.clone()]));
    for answer in [
        say("user", json!("never mind")),
        // Results come first.
        say(
            "user",
            json!([text("Here:"), result_of("t1"), result_of("t2")]),
        ),
    ] {
        refused(
            OPUS,
            talk(&[user.clone(), asked.clone(), answer]),
            &open("messages.1", "t1, t2"),
        );
    }
    let half = say("user", json!([result_of("t1")]));
    refused(
        OPUS,
        talk(&[user.clone(), asked.clone(), half]),
        &open("messages.1", "t2"),
    );
    refused(
        OPUS,
        talk(&[user.clone(), asked.clone()]),
        &open("messages.1", "t1, t2"),
    );
    let system = say("system", json!("s"));
    refused(
        OPUS,
        talk(&[user.clone(), asked, system.clone()]),
        &open("messages.1", "t1, t2"),
    );
    // Text behind a call parts it from its result, as recorded.
    let parted = say("assistant", json!([use_of("t1"), text("I look.")]));
    let answer = say("user", json!([result_of("t1")]));
    refused(
        OPUS,
        talk(&[user.clone(), parted, answer.clone()]),
        &open("messages.1", "t1"),
    );
    // The same over several messages of one turn.
    admitted(
        OPUS,
        talk(&[
            user,
            say("assistant", json!("I look.")),
            say("assistant", json!([use_of("t1")])),
            answer,
            system,
        ]),
    );
}

#[test]
fn every_result_has_its_call_and_only_one() {
    let lost = |path: &str, id: &str| {
        format!(
            "{path}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
        )
    };
    let user = say("user", json!("a"));
    refused(
        OPUS,
        talk(&[say("user", json!([result_of("t1")]))]),
        &lost("messages.0.content.0", "t1"),
    );
    let asked = say("assistant", json!([use_of("t1")]));
    refused(
        OPUS,
        talk(&[
            user.clone(),
            asked.clone(),
            say("user", json!([result_of("t1"), result_of("t9")])),
        ]),
        &lost("messages.2.content.1", "t9"),
    );
    refused(
        OPUS,
        talk(&[
            user.clone(),
            asked.clone(),
            say("user", json!([result_of("t1")])),
            say("assistant", json!("b")),
            say("user", json!([result_of("t1")])),
        ]),
        &lost("messages.4.content.0", "t1"),
    );
    refused(
        OPUS,
        talk(&[
            user.clone(),
            asked.clone(),
            say("user", json!([result_of("t1"), result_of("t1")])),
        ]),
        "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: t1",
    );
    let answer = say("user", json!([result_of("t1")]));
    refused(
        OPUS,
        talk(&[user, asked.clone(), answer.clone(), asked, answer]),
        "messages.3.content.0: `tool_use` ids must be unique",
    );
}

#[test]
fn tools_on_the_server_have_their_results_in_the_same_turn() {
    let user = say("user", json!("a"));
    let search = json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}});
    let found =
        json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []});
    admitted(
        OPUS,
        talk(&[
            user.clone(),
            say("assistant", json!([search, found, text("b")])),
            user.clone(),
        ]),
    );
    refused(
        OPUS,
        talk(&[
            user.clone(),
            say("assistant", json!([found, search])),
            user.clone(),
        ]),
        "messages.1.content.0: unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_1. Each `web_search_tool_result` block must have a corresponding `server_tool_use` block before it.",
    );
    refused(
        OPUS,
        talk(&[
            user.clone(),
            say("assistant", json!([search, text("b")])),
            user.clone(),
        ]),
        "messages.1: `web_search` tool use with id `srvtoolu_1` was found without a corresponding `web_search_tool_result` block",
    );
    // While it is open, the client may answer its own calls and nothing else.
    let both = say("assistant", json!([search, use_of("t1")]));
    admitted(
        OPUS,
        talk(&[
            user.clone(),
            both.clone(),
            say("user", json!([result_of("t1")])),
        ]),
    );
    refused(
        OPUS,
        talk(&[user, both, say("user", json!([result_of("t1"), text("b")]))]),
        "messages.1: `web_search` tool use with id `srvtoolu_1` was found without a corresponding `web_search_tool_result` block",
    );
}

#[test]
fn ids_and_inputs_of_calls_have_their_form() {
    let asked = |call: Value| talk(&[say("user", json!("a")), say("assistant", json!([call]))]);
    for (call, words) in [
        (
            json!({"type": "tool_use", "id": "a b", "name": "n", "input": {}}),
            "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        ),
        (
            json!({"type": "tool_use", "id": "a", "name": "n", "input": "x"}),
            "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
        ),
        (
            json!({"type": "tool_use", "id": "a", "name": "n".repeat(201), "input": {}}),
            "messages.1.content.0.tool_use.name: String should have at most 200 characters",
        ),
        (
            json!({"type": "server_tool_use", "id": "toolu_1", "name": "web_search", "input": {}}),
            "messages.1.content.0.server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'",
        ),
    ] {
        refused(OPUS, asked(call), words);
    }
}

#[test]
fn blocks_stand_in_the_right_mouth() {
    let image = json!({"type": "image", "source": {"type": "url", "url": "u"}});
    for (role, block, words) in [
        (
            "user",
            use_of("t1"),
            "messages.0: `tool_use` blocks can only be in `assistant` messages",
        ),
        (
            "user",
            json!({"type": "thinking", "thinking": "x", "signature": "x"}),
            "messages.0: `thinking` blocks can only be in `assistant` messages",
        ),
        (
            "assistant",
            result_of("t1"),
            "messages.0: `tool_result` blocks can only be in `user` messages",
        ),
        (
            "assistant",
            image,
            "messages.0.content.0: `image` blocks are not permitted within assistant turns",
        ),
    ] {
        refused(
            HAIKU,
            talk(&[say(role, json!([block])), say("user", json!("x"))]),
            words,
        );
    }
}

#[test]
fn n6_version_2026_10_21_refuses_what_it_took_away() {
    for field in ["temperature", "top_p", "top_k"] {
        let sent = body(HAIKU, json!({field: 1}));
        taken(&sent, &plain());
        assert_eq!(
            refusal(&sent, &call(NEW, &[])),
            format!("{field}: Extra inputs are not permitted")
        );
    }
    let document = json!([{"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x"}}]);
    let sent = body(
        HAIKU,
        talk(&[
            say("user", json!("a")),
            say("assistant", document.clone()),
            say("user", json!("b")),
        ]),
    );
    taken(&sent, &plain());
    assert_eq!(
        refusal(&sent, &call(NEW, &[])),
        "messages.1.content.0: `document` blocks are not permitted within assistant turns"
    );
    taken(
        &body(HAIKU, talk(&[say("user", document)])),
        &call(NEW, &[]),
    );
    let cited = |citations: Value| {
        body(
            HAIKU,
            talk(&[say(
                "user",
                json!([{"type": "text", "text": "x", "citations": citations}]),
            )]),
        )
    };
    taken(&cited(json!([{}])), &plain());
    taken(&cited(json!([])), &call(NEW, &[]));
    assert_eq!(
        refusal(&cited(json!([{}])), &call(NEW, &[])),
        "messages.0.content.0.text.citations: Extra inputs are not permitted"
    );
}

#[test]
fn n6_sampling_is_refused_by_newer_models() {
    for model in ["claude-opus-4-7", OPUS, FABLE] {
        admitted(model, json!({"temperature": 1.0}));
        for (field, value) in [
            ("temperature", json!(0.3)),
            ("top_p", json!(0.5)),
            ("top_k", json!(40)),
        ] {
            refused(
                model,
                json!({field: value}),
                &format!("`{field}` is deprecated for this model."),
            );
        }
    }
    admitted(SONNET, json!({"temperature": 0.3}));
    let both = json!({"temperature": 0.3, "top_p": 0.5});
    admitted("claude-sonnet-4", both.clone());
    refused(
        HAIKU,
        both,
        "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
    );
}

#[test]
fn n6_forced_tools_are_refused_by_models_that_cannot() {
    let words = r#"tool_choice: type "tool" and "any" are not supported for this model."#;
    for choice in [
        json!({"type": "any"}),
        json!({"type": "tool", "name": "read"}),
    ] {
        let more = json!({"tools": [tool("read")], "tool_choice": choice});
        for model in [OPUS, FABLE, "claude-sonnet-5-5", "claude-fable-5-2"] {
            refused(model, more.clone(), words);
        }
        for model in [SONNET, "claude-opus-5", "claude-fable-5"] {
            admitted(model, more.clone());
        }
    }
    admitted(
        OPUS,
        json!({"tools": [tool("read")], "tool_choice": {"type": "auto"}}),
    );
    refused(
        SONNET,
        json!({"tools": [tool("read")], "tool_choice": {"type": "tool", "name": "x"}}),
        "Tool 'x' not found in provided tools",
    );
    refused(
        SONNET,
        json!({"tool_choice": {"type": "any"}}),
        "tool_choice.any may only be specified while providing tools",
    );
    refused(
        SONNET,
        json!({"tool_choice": {"type": "some"}}),
        "tool_choice: Input tag 'some' found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'",
    );
}

#[test]
fn tools_have_names_schemas_and_at_least_one_is_at_hand() {
    let schema = json!({"type": "object", "properties": {}});
    for (tools, words) in [
        (
            json!([{"input_schema": schema}]),
            "tools.0.custom.name: Field required",
        ),
        (
            json!([{"name": "", "input_schema": schema}]),
            "tools.0.custom.name: String should have at least 1 character",
        ),
        (
            json!([{"name": "a b", "input_schema": schema}]),
            "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
        ),
        (
            json!([{"name": "a"}]),
            "tools.0.custom.input_schema: Field required",
        ),
        (
            json!([{"name": "a", "input_schema": {}}]),
            "tools.0.custom.input_schema.type: Field required",
        ),
        (
            json!([{"name": "a", "input_schema": {"type": "string"}}]),
            "tools.0.custom.input_schema.type: Input should be 'object'",
        ),
        (
            json!([tool("a"), tool("a")]),
            "tools: Tool names must be unique.",
        ),
        (
            json!([{"name": "a", "input_schema": schema, "strict": true}]),
            "tools.0.custom: For 'object' type, 'additionalProperties' must be explicitly set to false",
        ),
        (
            json!([{"name": "a", "input_schema": schema, "defer_loading": true}]),
            "All tools have defer_loading set. At least one tool must be non-deferred.",
        ),
        (
            json!([tool("b"), {"name": "a", "input_schema": schema, "defer_loading": true, "cache_control": {"type": "ephemeral"}}]),
            "Tool 'a' cannot have both defer_loading=true and cache_control set. Tools with defer_loading cannot use prompt caching.",
        ),
    ] {
        refused(SONNET, json!({"tools": tools}), words);
    }
    admitted(
        SONNET,
        json!({"tools": [
            tool("a"),
            {"type": "custom", "name": "b", "input_schema": schema, "defer_loading": true},
            {"type": "web_search_20250305", "name": "web_search", "max_uses": 3},
            {"type": "memory_20250818", "name": "memory"},
        ]}),
    );
    let unknown = refusal(
        &body(SONNET, json!({"tools": [{"type": "hammer", "name": "h"}]})),
        &plain(),
    );
    assert!(
        unknown.starts_with("tools.0: Input tag 'hammer' found using 'type'"),
        "{unknown}"
    );
    let reference = json!([{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "tool_reference", "tool_name": "x"}]}]);
    refused(
        SONNET,
        talk(&[
            say("user", json!("a")),
            say("assistant", json!([use_of("t1")])),
            say("user", reference),
        ]),
        "Tool reference 'x' has no corresponding tool definition",
    );
}

fn marked(ttl: Option<&str>) -> Value {
    match ttl {
        Some(ttl) => {
            json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": ttl}})
        }
        None => json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}),
    }
}

#[test]
fn at_most_four_markers_with_the_automatic_one() {
    let marks = |count: usize| {
        let mut blocks = vec![marked(None); count];
        blocks.push(text("last"));
        json!({"messages": [say("user", blocks.into())]})
    };
    admitted(SONNET, marks(4));
    refused(
        SONNET,
        marks(5),
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    );
    let mut automatic = marks(3);
    automatic["cache_control"] = json!({"type": "ephemeral"});
    admitted(SONNET, automatic);
    let mut automatic = marks(4);
    automatic["cache_control"] = json!({"type": "ephemeral"});
    refused(
        SONNET,
        automatic.clone(),
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    );
    // On a block that is marked alike it is one and the same.
    automatic["messages"][0]["content"]
        .as_array_mut()
        .unwrap()
        .pop();
    admitted(SONNET, automatic);
    // Everywhere counts: tools, system, and inside results.
    let mut tools = tool("read");
    tools["cache_control"] = json!({"type": "ephemeral"});
    let result = json!([{"type": "tool_result", "tool_use_id": "t1", "content": [marked(None), marked(None)]}, marked(None)]);
    refused(
        SONNET,
        json!({
            "tools": [tools],
            "system": [marked(None)],
            "messages": [say("user", json!("a")), say("assistant", json!([use_of("t1")])), say("user", result)],
        }),
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    );
}

#[test]
fn long_lived_markers_stand_before_short_lived_ones() {
    let order = "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.";
    let say_marks = |marks: &[Value]| json!({"messages": [say("user", marks.into())]});
    admitted(SONNET, say_marks(&[marked(Some("1h")), marked(Some("5m"))]));
    refused(
        SONNET,
        say_marks(&[marked(None), marked(Some("1h"))]),
        &format!("messages.0.content.1.cache_control.ttl: {order}"),
    );
    let mut tools = tool("read");
    tools["cache_control"] = json!({"type": "ephemeral"});
    refused(
        SONNET,
        json!({"tools": [tools], "system": [marked(Some("1h"))]}),
        &format!("system.0.cache_control.ttl: {order}"),
    );
    refused(
        SONNET,
        json!({"system": [marked(None)], "cache_control": {"type": "ephemeral", "ttl": "1h"}}),
        &format!("cache_control.ttl: {order}"),
    );
    refused(
        SONNET,
        say_marks(&[marked(Some("2h"))]),
        "messages.0.content.0.text.cache_control.ephemeral.ttl: Input should be '5m' or '1h'",
    );
    refused(
        SONNET,
        say_marks(&[json!({"type": "text", "text": "x", "cache_control": {"type": "forever"}})]),
        "messages.0.content.0.text.cache_control: Input tag 'forever' found using 'type' does not match any of the expected tags: 'ephemeral'",
    );
}

#[test]
fn automatic_caching_must_agree_with_the_block_it_falls_on() {
    let mut more = json!({
        "messages": [say("user", json!([marked(Some("1h"))]))],
        "cache_control": {"type": "ephemeral"},
    });
    refused(
        SONNET,
        more.clone(),
        "Top-level cache_control has ttl='5m' but the target block already has cache_control with ttl='1h'. When both are specified on the same block, they must have matching TTLs.",
    );
    more["cache_control"]["ttl"] = "1h".into();
    admitted(SONNET, more);
}

#[test]
fn thinking_is_asked_for_as_the_model_takes_it() {
    let instead = r#"is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior."#;
    let enabled = json!({"thinking": {"type": "enabled", "budget_tokens": 1024}});
    let adaptive = json!({"thinking": {"type": "adaptive"}});
    let disabled = json!({"thinking": {"type": "disabled"}});
    let between = json!({"thinking": {"type": "between_tools"}});
    admitted(SONNET, enabled.clone());
    admitted(HAIKU, enabled.clone());
    for model in ["claude-opus-4-7", "claude-sonnet-5", OPUS, FABLE] {
        refused(
            model,
            enabled.clone(),
            &format!(r#""thinking.type.enabled" {instead}"#),
        );
        admitted(model, adaptive.clone());
    }
    refused(
        HAIKU,
        adaptive,
        "adaptive thinking is not supported on this model",
    );
    for model in [FABLE, OPUS, "claude-sonnet-5-5"] {
        refused(
            model,
            disabled.clone(),
            &format!(r#""thinking.type.disabled" {instead}"#),
        );
    }
    admitted(SONNET, disabled.clone());
    admitted("claude-sonnet-5-5", between.clone());
    refused(
        SONNET,
        between,
        r#""thinking.type.between_tools" is not supported for this model."#,
    );
    let old = json!({"thinking": enabled["thinking"], "max_tokens": 2000});
    refused(
        "claude-3-5-haiku",
        old,
        "'claude-3-5-haiku' does not support thinking.",
    );
    let off_at = |effort: &str| json!({"thinking": {"type": "disabled"}, "output_config": {"effort": effort}});
    admitted("claude-opus-5", off_at("high"));
    refused(
        "claude-opus-5",
        off_at("max"),
        r#""thinking.type.disabled" is not supported for this model at effort level 'max'. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior."#,
    );
}

#[test]
fn a_thinking_budget_leaves_room_for_the_reply() {
    let budget = |tokens: u64| json!({"thinking": {"type": "enabled", "budget_tokens": tokens}});
    let manual = "https://docs.claude.com/en/docs/build-with-claude/extended-thinking";
    refused(
        SONNET,
        budget(1023),
        "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
    );
    let words = format!(
        "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at {manual}#max-tokens-and-context-window-size"
    );
    refused(SONNET, budget(4096), &words);
    admitted(SONNET, budget(4095));
    let mut across = budget(9000);
    across["tools"] = json!([tool("read")]);
    taken(
        &body(SONNET, across),
        &call(OLD, &["interleaved-thinking-2025-05-14"]),
    );
    for (field, value, words) in [
        (
            "temperature",
            json!(0.5),
            "`temperature` may only be set to 1 when thinking is enabled.",
        ),
        (
            "top_p",
            json!(0.5),
            "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.",
        ),
        (
            "top_k",
            json!(5),
            "`top_k` must be unset when thinking is enabled.",
        ),
    ] {
        let mut more = budget(1024);
        more[field] = value;
        refused(
            SONNET,
            more,
            &format!("{words} Please consult our documentation at {manual}"),
        );
    }
    let mut forced = budget(1024);
    forced["tools"] = json!([tool("read")]);
    forced["tool_choice"] = json!({"type": "any"});
    refused(
        SONNET,
        forced,
        "Thinking may not be enabled when tool_choice forces tool use.",
    );
}

#[test]
fn with_a_budget_the_reply_under_way_begins_with_thinking() {
    let thought = json!({"type": "thinking", "thinking": "x", "signature": "x"});
    let under_way = |content: Value| {
        let mut more = talk(&[
            say("user", json!("a")),
            say("assistant", content),
            say("user", json!([result_of("t1")])),
        ]);
        more["thinking"] = json!({"type": "enabled", "budget_tokens": 1024});
        more
    };
    admitted(SONNET, under_way(json!([thought, use_of("t1")])));
    refused(
        SONNET,
        under_way(json!([use_of("t1")])),
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking",
    );
    // Replies that are done need none.
    let mut done = talk(&[
        say("user", json!("a")),
        say("assistant", json!("b")),
        say("user", json!("c")),
    ]);
    done["thinking"] = json!({"type": "enabled", "budget_tokens": 1024});
    admitted(SONNET, done);
}

#[test]
fn effort_is_asked_for_as_the_model_takes_it() {
    let effort = |level: &str| json!({"output_config": {"effort": level}});
    admitted(OPUS, effort("xhigh"));
    admitted(SONNET, effort("max"));
    refused(
        SONNET,
        effort("xhigh"),
        "This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium.",
    );
    refused(
        HAIKU,
        effort("low"),
        "This model does not support the effort parameter.",
    );
    refused(
        OPUS,
        effort("none"),
        "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'",
    );
}

#[test]
fn a_reply_is_no_longer_than_the_model_can_write() {
    admitted(HAIKU, json!({"max_tokens": 64_000}));
    refused(
        "claude-haiku-4-5-20251001",
        json!({"max_tokens": 64_001}),
        "max_tokens: 64001 > 64000, which is the maximum allowed number of output tokens for claude-haiku-4-5-20251001",
    );
}

#[test]
fn warming_the_cache_goes_without_what_shapes_a_reply() {
    let warm = |more: Value| {
        let mut sent = json!({"max_tokens": 0, "tools": [tool("read")]});
        sent.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        sent
    };
    admitted(SONNET, warm(json!({})));
    admitted(SONNET, warm(json!({"thinking": {"type": "adaptive"}})));
    let format = json!({"type": "json_schema", "schema": {"type": "object"}});
    for (more, with) in [
        (json!({"stream": true}), "`stream: true`"),
        (
            json!({"thinking": {"type": "enabled", "budget_tokens": 1024}}),
            "`thinking.type: \"enabled\"`",
        ),
        (
            json!({"output_config": {"format": format}}),
            "`output_config.format`",
        ),
        (
            json!({"tool_choice": {"type": "any"}}),
            "`tool_choice` of type \"any\" or \"tool\"",
        ),
    ] {
        refused(
            SONNET,
            warm(more),
            &format!("max_tokens: 0 cannot be combined with {with}"),
        );
    }
}

#[test]
fn stop_sequences_and_containers_have_their_rules() {
    admitted(SONNET, json!({"stop_sequences": ["STOP"]}));
    refused(
        SONNET,
        json!({"stop_sequences": ["STOP", " "]}),
        "stop_sequences: each stop sequence must contain non-whitespace",
    );
    refused(
        SONNET,
        json!({"container": "container_x"}),
        "container: Container identifier can only be provided when using the code execution tool",
    );
    let code = json!([{"type": "code_execution_20250825", "name": "code_execution"}]);
    admitted(SONNET, json!({"container": "container_x", "tools": code}));
}

/// The head of a PNG of this size.
fn png(width: u32, height: u32) -> Value {
    use base64::Engine;
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 6, 0, 0, 0, 0, 0, 0, 0]);
    let data = base64::engine::general_purpose::STANDARD.encode(bytes);
    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}})
}

#[test]
fn images_are_neither_too_many_nor_too_large() {
    let show = |images: Vec<Value>| json!({"messages": [say("user", images.into())]});
    admitted(SONNET, show(vec![png(8000, 8000)]));
    refused(
        SONNET,
        show(vec![text("Look:"), png(8001, 10)]),
        "messages.0.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels",
    );
    admitted(SONNET, show(vec![png(2000, 2000); 21]));
    admitted(SONNET, show(vec![png(2001, 10); 20]));
    refused(
        SONNET,
        show(vec![png(2001, 10); 21]),
        "messages.0.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels",
    );
    admitted(SONNET, show(vec![png(10, 10); 600]));
    refused(
        SONNET,
        show(vec![png(10, 10); 601]),
        "Too much media: 0 document pages + 601 images > 600",
    );
    admitted(HAIKU, show(vec![png(10, 10); 100]));
    refused(
        HAIKU,
        show(vec![png(10, 10); 101]),
        "Too much media: 0 document pages + 101 images > 100",
    );
    let mut large = png(10, 10);
    large["source"]["data"] = "A".repeat(14 * 1024 * 1024).into();
    refused(
        SONNET,
        show(vec![large]),
        "messages.0.content.0.image.source.base64.data: image exceeds 10 MB maximum: 11010048 bytes > 10485760 bytes",
    );
    let mut odd = png(10, 10);
    odd["source"]["media_type"] = "image/tiff".into();
    refused(
        SONNET,
        show(vec![odd]),
        "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
    );
    // Those inside results count as well.
    let result = json!([{"type": "tool_result", "tool_use_id": "t1", "content": [png(9000, 10)]}]);
    refused(
        SONNET,
        talk(&[
            say("user", json!("a")),
            say("assistant", json!([use_of("t1")])),
            say("user", result),
        ]),
        "messages.2.content.0.tool_result.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels",
    );
}

#[test]
fn edits_of_the_context_have_their_order_and_their_least() {
    let all = call(OLD, &BETAS);
    let edits = |edits: Value| body(OPUS, json!({"context_management": {"edits": edits}}));
    let thinking = json!({"type": "clear_thinking_20251015", "keep": "all"});
    let tools = json!({"type": "clear_tool_uses_20250919", "trigger": {"type": "tool_uses", "value": 5}, "clear_tool_inputs": ["read"]});
    taken(&edits(json!([thinking, tools])), &all);
    for keep in [
        json!({"type": "all"}),
        json!({"type": "thinking_turns", "value": 1}),
    ] {
        taken(
            &edits(json!([{"type": "clear_thinking_20251015", "keep": keep}])),
            &all,
        );
    }
    let at = |value: u64| json!([{"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": value}}]);
    taken(&edits(at(50_000)), &all);
    for (list, words) in [
        (
            json!([tools, thinking]),
            "context_management.edits.1: `clear_thinking_20251015` strategy must be the first in `edits`",
        ),
        (
            at(49_999),
            "context_management.edits.0.compact_20260112.trigger.input_tokens.value: Input should be greater than or equal to 50000",
        ),
        (
            json!([{"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 0}}]),
            "context_management.edits.0.clear_thinking_20251015.keep.thinking_turns.value: Input should be greater than or equal to 1",
        ),
        (
            json!([{"type": "clear_thinking_20251015", "keep": "some"}]),
            "context_management.edits.0.clear_thinking_20251015.keep: Input should be 'all'",
        ),
        (
            json!([{"type": "clear_tool_uses_20250919", "zzz": 1}]),
            "context_management.edits.0.clear_tool_uses_20250919.zzz: Extra inputs are not permitted",
        ),
    ] {
        assert_eq!(refusal(&edits(list), &all), words);
    }
    let mut silent = edits(json!([thinking]));
    silent["model"] = SONNET.into();
    assert_eq!(
        refusal(&silent, &all),
        "context_management.edits.0: `clear_thinking_20251015` strategy requires `thinking` to be enabled or adaptive"
    );
    let only_clearing = call(OLD, &["context-management-2025-06-27"]);
    assert_eq!(
        refusal(&edits(at(50_000)), &only_clearing),
        "context_management.edits.0: Input tag 'compact_20260112' found using 'type' does not match any of the expected tags: 'clear_tool_uses_20250919', 'clear_thinking_20251015'"
    );
}

#[test]
fn compaction_on_demand_goes_alone() {
    let all = call(OLD, &BETAS);
    let with = |more: Value| {
        let mut sent = body(SONNET, more);
        sent["compaction"] = json!({"type": "summarize", "instructions": "Be brief."});
        sent
    };
    taken(&with(json!({})), &all);
    for (more, what) in [
        (
            json!({"context_management": {"edits": []}}),
            "`context_management`",
        ),
        (json!({"stop_sequences": ["x"]}), "`stop_sequences`"),
        (
            json!({"tools": [tool("read")], "tool_choice": {"type": "any"}}),
            "`tool_choice` of type \"any\" or \"tool\"",
        ),
        (
            json!({"output_config": {"format": {"type": "json_schema", "schema": {}}}}),
            "`output_config.format`",
        ),
        (
            json!({"output_config": {"task_budget": {"type": "tokens", "total": 9, "remaining": 3}}}),
            "`output_config.task_budget.remaining`",
        ),
    ] {
        assert_eq!(
            refusal(&with(more), &all),
            format!("compaction: cannot be combined with {what}")
        );
    }
    let mut long = with(json!({}));
    long["compaction"]["instructions"] = "x".repeat(16_385).into();
    assert_eq!(
        refusal(&long, &all),
        "compaction.instructions: String should have at most 16384 characters"
    );
    long["compaction"]["instructions"] = "x".repeat(16_384).into();
    taken(&long, &all);
    let summary = say(
        "assistant",
        json!([{"type": "compaction", "content": "x", "signature": "s"}]),
    );
    let error = admit(&with(json!({"messages": [summary]})), &all).unwrap_err();
    assert_eq!(error.code, Some("compaction_nothing_to_summarize"));
}

#[test]
fn a_signed_summary_comes_first_and_alone() {
    let all = call(OLD, &BETAS);
    let summary = say(
        "assistant",
        json!([{"type": "compaction", "content": "x", "signature": "s"}]),
    );
    let user = say("user", json!("a"));
    let sent = |messages: &[&Value]| body(OPUS, json!({"messages": messages}));
    taken(&sent(&[&summary, &user]), &all);
    let error = admit(&sent(&[&user, &summary, &user]), &all).unwrap_err();
    assert_eq!(error.code, Some("compaction_block_misplaced"));
    assert_eq!(
        error.message,
        "`compaction` block must be sent first, in place of the messages it summarizes; remove those messages"
    );
    let error = admit(&sent(&[&summary, &user, &summary, &user]), &all).unwrap_err();
    assert_eq!(error.code, Some("compaction_block_ambiguous"));
    // One that failed is nothing.
    let failed = say(
        "assistant",
        json!([{"type": "compaction", "content": null}]),
    );
    taken(&sent(&[&summary, &user, &failed, &user]), &all);
    assert_eq!(
        refusal(
            &sent(&[&summary, &user]),
            &call(OLD, &["compact-2026-01-12"])
        ),
        "messages.0.content.0.compaction.signature: Extra inputs are not permitted"
    );
    let cited = say(
        "assistant",
        json!([{"type": "compaction", "content": "x", "citations": null}]),
    );
    assert_eq!(
        refusal(&sent(&[&cited, &user]), &all),
        "messages.0.content.0.compaction.citations: Extra inputs are not permitted"
    );
    let empty = say("assistant", json!([{"type": "compaction", "content": ""}]));
    assert_eq!(
        refusal(&sent(&[&empty, &user]), &all),
        "messages.0.content.0.compaction.content: String should have at least 1 character"
    );
    let mut both = sent(&[&summary, &user]);
    both["context_management"] = json!({"edits": [{"type": "compact_20260112"}]});
    assert_eq!(
        refusal(&both, &all),
        "context_management.edits.0: `compact_20260112` cannot be used on a request that carries a signed `compaction` block"
    );
}
