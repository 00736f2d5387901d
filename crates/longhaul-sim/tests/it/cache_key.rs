//! What is part of the cache key, and at which level (D2).
use longhaul_sim::cache::CacheClass;
use serde_json::{Value, json};

use crate::cache::read;
use crate::client::*;

/// A body with tools, system and messages, each with a breakpoint.
fn three_levels() -> Value {
    json!({
        "model": "claude-opus-5", "max_tokens": 100,
        "tools": [{
            "name": "look", "description": words(600),
            "input_schema": { "type": "object", "properties": { "at": { "type": "string" } } },
            "cache_control": marker(),
        }],
        "system": [block(&words(600), Some(marker()))],
        "messages": [{ "role": "user", "content": [block(&words(600), Some(marker()))] }],
    })
}

#[test]
fn d2_each_setting_invalidates_the_levels_it_should() {
    type Edit = fn(&mut Value);
    let changes: [(&str, Edit, usize); 13] = [
        ("nothing", |_| {}, 3),
        (
            "explicit default effort",
            |b| b["output_config"] = json!({ "effort": "high" }),
            3,
        ),
        (
            "explicit tool choice",
            |b| b["tool_choice"] = json!({ "type": "auto" }),
            3,
        ),
        (
            "a deferred tool",
            |b| {
                let tool = json!({ "name": "far", "input_schema": { "type": "object" }, "defer_loading": true });
                b["tools"].as_array_mut().unwrap().push(tool);
            },
            3,
        ),
        (
            "effort",
            |b| b["output_config"] = json!({ "effort": "low" }),
            2,
        ),
        (
            "tool choice",
            |b| b["tool_choice"] = json!({ "type": "none" }),
            2,
        ),
        (
            "thinking",
            |b| b["thinking"] = json!({ "type": "adaptive" }),
            2,
        ),
        (
            "images",
            |b| {
                let image = json!({ "type": "image", "source": { "type": "url", "url": "https://example.com/a.png" } });
                b["messages"][0]["content"]
                    .as_array_mut()
                    .unwrap()
                    .push(image);
            },
            2,
        ),
        (
            "web search",
            |b| {
                let tool = json!({ "type": "web_search_20250305", "name": "web_search" });
                b["tools"].as_array_mut().unwrap().push(tool);
            },
            1,
        ),
        (
            "citations",
            |b| {
                let document = json!({
                    "type": "document", "citations": { "enabled": true },
                    "source": { "type": "text", "media_type": "text/plain", "data": "x" },
                });
                b["messages"][0]["content"]
                    .as_array_mut()
                    .unwrap()
                    .push(document);
            },
            1,
        ),
        (
            "system",
            |b| b["system"][0]["text"] = json!(format!("{} x", words(600))),
            1,
        ),
        ("tools", |b| b["tools"][0]["name"] = json!("watch"), 0),
        ("model", |b| b["model"] = json!("claude-opus-4-8"), 0),
    ];
    for (what, change, levels) in changes {
        let mut world = world();
        let body = three_levels();
        send(&mut world, &body);
        let mut changed = body.clone();
        change(&mut changed);
        let reply = send(&mut world, &changed);
        let read_to = match reply.verdict.runs[0].class {
            CacheClass::Read => reply.verdict.runs[0].to.as_str(),
            _ => "",
        };
        let level = ["", "tools.", "system.", "messages."]
            .iter()
            .rposition(|level| read_to.starts_with(level))
            .unwrap();
        assert_eq!(level, levels, "{what}: read {}", read(&reply));
    }
}

#[test]
fn d2_the_set_of_betas_is_part_of_the_key() {
    let mut world = world();
    let body = three_levels();
    send(&mut world, &body);
    let beta = call_with(&body, &["context-management-2025-06-27"]);
    assert_eq!(read(&world.exchange(&beta).unwrap()), 0);
    let old = call_with(&body, &["prompt-caching-2024-07-31"]);
    assert!(read(&world.exchange(&old).unwrap()) > 0);
}

#[test]
fn d2_diagnostics_name_the_earliest_divergence() {
    type Edit = fn(&mut Value);
    let changes: [(Option<&str>, Edit); 6] = [
        (None, |_| {}),
        (None, |b| {
            let more = b["messages"][0]["content"].as_array_mut().unwrap();
            more.push(block("more", None));
        }),
        (Some("model_changed"), |b| {
            b["model"] = json!("claude-opus-4-8")
        }),
        (Some("system_changed"), |b| {
            b["system"][0]["text"] = json!(words(500));
            b["tools"][0]["name"] = json!("watch");
        }),
        (Some("tools_changed"), |b| {
            b["tools"][0]["name"] = json!("watch")
        }),
        (Some("messages_changed"), |b| {
            b["messages"][0]["content"][0]["text"] = json!(words(500))
        }),
    ];
    for (reason, change) in changes {
        let mut world = world();
        let mut body = three_levels();
        body["diagnostics"] = json!({ "previous_message_id": null });
        let first = send(&mut world, &body);
        assert_eq!(first.message["diagnostics"], Value::Null);
        body["diagnostics"]["previous_message_id"] = first.message["id"].clone();
        change(&mut body);
        let second = send(&mut world, &body);
        let found = &second.message["diagnostics"]["cache_miss_reason"];
        assert_eq!(found["type"].as_str(), reason, "{found}");
        assert_eq!(
            found["cache_missed_input_tokens"].is_u64(),
            reason.is_some()
        );
        let changed = world.usage_log().last().unwrap().changed.clone();
        assert_eq!(changed.is_some(), reason.is_some(), "{changed:?}");
        body["diagnostics"]["previous_message_id"] = json!("msg_unknown");
        let third = send(&mut world, &body);
        assert_eq!(
            third.message["diagnostics"]["cache_miss_reason"]["type"],
            "previous_message_not_found"
        );
    }
}
