//! Who speaks when, and what a turn may contain.

use serde_json::{Value, json};

use super::{
    FABLE, HAIKU, OPUS, SONNET, admitted, plain, refused, result_of, say, talk, text, use_of,
};
use crate::support::{NEW, OLD, body, call, refusal, taken};

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
    // This was recorded.
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
    // A model's own reply may have a blank text next to one with content, but not next to a call alone.
    let called = |content: Value| {
        talk(&[
            say("user", json!("a")),
            say("assistant", content),
            say("user", json!([result_of("t1")])),
        ])
    };
    refused(
        SONNET,
        called(json!([text("\n\n"), use_of("t1")])),
        "messages: text content blocks must contain non-whitespace text",
    );
    let beside = json!([text(" "), text("I look."), use_of("t1")]);
    admitted(SONNET, called(beside));
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
    // A reply that the API paused is continued, and a request that only counts or summarizes continues nothing.
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
