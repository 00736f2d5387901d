//! Tools, tool calls and their results.

use serde_json::{Value, json};

use super::{
    FABLE, OPUS, SONNET, admitted, plain, refused, result_of, say, talk, text, tool, use_of,
};
use crate::support::{body, refusal};

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
        // Results must come first.
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
    // Text after a call separates it from its result, as recorded.
    let parted = say("assistant", json!([use_of("t1"), text("I look.")]));
    let answer = say("user", json!([result_of("t1")]));
    refused(
        OPUS,
        talk(&[user.clone(), parted, answer.clone()]),
        &open("messages.1", "t1"),
    );
    // The calls and results may also be spread over several messages of one turn.
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
    // While the server's call is open, the client may answer its own calls and nothing else.
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
