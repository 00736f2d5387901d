//! Parameters that steer a reply: sampling, thinking, effort, length.

use serde_json::{Value, json};

use super::{FABLE, HAIKU, OPUS, SONNET, admitted, refused, result_of, say, talk, tool, use_of};
use crate::support::{OLD, body, call, taken};

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
    // Finished replies need no thinking.
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
