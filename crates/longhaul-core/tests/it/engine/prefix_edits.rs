//! Tests which edits of the context the engine asks the provider for (U7), and when it leaves that to the host.

use longhaul_core::engine::{EngineInput, Event};
use longhaul_core::micro::PressureOwner;
use longhaul_core::prompt::{LatchedSettings, RequestPrefix};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::desk::{Answer, Desk, Setting, head};

fn with(model: &'static str, pressure: PressureOwner) -> Desk {
    Desk::with(Setting {
        model,
        pressure,
        window: 200_000,
        ..Setting::default()
    })
}

/// Returns the kinds of edits in the newest request.
fn edits(desk: &Desk) -> Vec<String> {
    let body = Desk::body(desk.sent.last().unwrap());
    let edits = body["context_management"]["edits"].as_array().cloned();
    let edits = edits.unwrap_or_default();
    edits
        .iter()
        .map(|edit| edit["type"].as_str().unwrap().to_owned())
        .collect()
}

/// Returns a request prefix with this field in its body.
fn asking(model: &str, field: &str, value: Value) -> RequestPrefix {
    let head = head(model);
    let mut body: Value = serde_json::from_str(head.latched.body.get()).unwrap();
    body[field] = value;
    RequestPrefix {
        latched: LatchedSettings {
            body: to_raw_value(&body).unwrap(),
            ..head.latched.clone()
        },
        ..head
    }
}

const FABLE: &str = "claude-fable-5-2";
const SONNET: &str = "claude-sonnet-4-5";
const TOOLS: &str = "clear_tool_uses_20250919";
const THINKING: &str = "clear_thinking_20251015";

#[test]
fn u7_where_longhaul_clears_the_provider_is_asked_for_nothing() {
    let mut desk = with(FABLE, PressureOwner::Ours);
    desk.exchange("Hello.", Answer::Says("Hi.", 1_000));
    let body = Desk::body(&desk.sent[0]);
    assert!(body["context_management"].is_null(), "{body}");
    let mut betas = desk.sent[0].betas.iter();
    assert!(!betas.any(|beta| beta.starts_with("context-management")));
}

#[test]
fn u7_thinking_is_cleared_only_where_the_model_thinks() {
    for (model, thinking, expected) in [
        (FABLE, None, &[THINKING, TOOLS][..]),
        (FABLE, Some(json!({"type": "disabled"})), &[TOOLS]),
        (SONNET, None, &[TOOLS]),
        (
            SONNET,
            Some(json!({"type": "enabled", "budget_tokens": 2_000})),
            &[THINKING, TOOLS],
        ),
        // This model takes both settings, and does not think unless it is told to.
        ("claude-opus-4-6", None, &[TOOLS]),
    ] {
        let mut desk = with(model, PressureOwner::Providers);
        if let Some(thinking) = &thinking {
            let head = asking(model, "thinking", thinking.clone());
            desk.input(EngineInput::Head(Box::new(head)));
        }
        desk.exchange("Hello.", Answer::Says("Hi.", 1_000));
        assert_eq!(edits(&desk), expected, "{model} {thinking:?}");
    }
}

#[test]
fn u7_edits_of_the_hosts_own_are_left_to_the_host() {
    for (kind, kept) in [("compact_20260112", true), (TOOLS, false)] {
        let mut desk = with(FABLE, PressureOwner::Providers);
        let own = json!({"edits": [{"type": kind, "own": true}]});
        let head = asking(FABLE, "context_management", own.clone());
        desk.input(EngineInput::Head(Box::new(head)));
        desk.exchange("Hello.", Answer::Says("Hi.", 1_000));
        let body = Desk::body(&desk.sent[0]);
        assert_eq!(body["context_management"] == own, kept, "{body}");
    }
}

#[test]
fn u7_the_same_prefix_after_an_idle_hour_changes_nothing() {
    let mut desk = with(FABLE, PressureOwner::Providers);
    let kept = |desk: &Desk| {
        let body = Desk::body(desk.sent.last().unwrap());
        body["context_management"]["edits"][0]["keep"].clone()
    };
    desk.input(EngineInput::Head(Box::new(head(FABLE))));
    desk.exchange("Hello.", Answer::Says("Hi.", 1_000));
    assert_eq!(kept(&desk), "all");
    desk.later(3_700);
    desk.exchange("Again.", Answer::Says("Hi.", 1_000));
    let last_turn = json!({"type": "thinking_turns", "value": 1});
    assert_eq!(kept(&desk), last_turn);
    desk.events.clear();
    desk.input(EngineInput::Head(Box::new(head(FABLE))));
    desk.exchange("And again.", Answer::Says("Hi.", 1_000));
    assert_eq!(kept(&desk), last_turn);
    let changed = |event: &Event| matches!(event, Event::PrefixChanged { .. });
    assert!(!desk.events.iter().any(changed), "the cache stays valid");
}
