//! Tests the bytes of requests: the request prefix, the messages, cache breakpoints (B1 to B5, F7).

use longhaul_core::models::ThinkingBinding;
use longhaul_core::prompt::{PriorRendering, PushOutcome, RequestKind, RequestNotReady, Ttl};
use longhaul_sim::call::ApiCall;
use longhaul_sim::model::{SimModel, SimModelOptions as ModelOptions};
use longhaul_sim::world::{World, WorldOptions};
use serde_json::{Value, json};

use super::{MAIN, MODEL, begin, body, markers, reply, talk};
use crate::host::{head, raw, text};

#[test]
fn b1_a_request_is_the_head_the_messages_and_nothing_else() {
    let head = head(MODEL, Some(Ttl::OneHour), "b1");
    let mut assembly = begin(
        PriorRendering::None,
        head.clone(),
        ThinkingBinding::None,
        &talk(),
    );
    let body = body(&mut assembly, MAIN);
    let names: Vec<&str> = body
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(names.len(), 8, "{names:?}");
    assert_eq!(body["stream"], true);
    assert_eq!(body["model"], MODEL);
    assert_eq!(
        body["system"],
        serde_json::from_str::<Value>(head.system.get()).unwrap()
    );
    assert_eq!(
        body["tools"],
        serde_json::from_str::<Value>(head.tools.get()).unwrap()
    );
    assert_eq!(body["messages"].as_array().unwrap().len(), 5);
    assert_eq!(markers(&body), 3);
    let last = body["messages"][4]["content"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    assert_eq!(last, text("Thanks. And y?", Some(Ttl::OneHour)));
}

#[test]
fn b1_requests_of_one_rendering_begin_with_the_bytes_of_the_one_before() {
    let head = head(MODEL, None, "b1");
    let mut assembly = begin(PriorRendering::None, head, ThinkingBinding::None, &[]);
    let mut before = Vec::new();
    for entry in talk() {
        assert_eq!(assembly.push(entry.view()), PushOutcome::Pushed);
        if let Ok(request) = assembly.request(MAIN, None) {
            let bytes = request.to_vec();
            assert!(bytes.starts_with(before.strip_suffix(b"]}]}").unwrap_or_default()));
            before = bytes;
        }
    }
    assert!(!before.is_empty());
}

#[test]
fn b2_never_more_than_four_markers_whatever_the_head_bears() {
    for count in 0..=4 {
        for long in [false, true] {
            let system: Vec<Value> = (0..5)
                .map(|n| text("You are of use.", (n < count).then_some(Ttl::FiveMinutes)))
                .collect();
            let mut custom = head(MODEL, Some(Ttl::FiveMinutes), "b2");
            custom.system = raw(&json!(system));
            let mut history = talk();
            if long {
                let many: Vec<Value> = (0..30).map(|n| text(&format!("say {n}"), None)).collect();
                history[3] = reply("a2", json!(many));
            }
            let mut assembly = begin(
                PriorRendering::None,
                custom,
                ThinkingBinding::None,
                &history,
            );
            let found = markers(&body(&mut assembly, MAIN));
            let wanted = (count + if long { 2 } else { 1 }).min(4);
            assert_eq!(found, wanted, "{count} in the head, long {long}");
        }
    }
}

#[test]
fn b2_messages_live_no_longer_than_the_head_before_them() {
    let mut custom = head(MODEL, Some(Ttl::OneHour), "b2");
    custom.system = raw(&json!([text("Short-lived.", Some(Ttl::FiveMinutes))]));
    let mut assembly = begin(PriorRendering::None, custom, ThinkingBinding::None, &talk());
    let body = body(&mut assembly, MAIN);
    assert_eq!(body.to_string().matches("\"1h\"").count(), 0);
    assert_eq!(markers(&body), 2);
}

#[test]
fn b2_a_system_prompt_that_is_a_string_leaves_all_room() {
    let mut custom = head(MODEL, Some(Ttl::OneHour), "b2");
    custom.system = raw(&json!("Be brief."));
    custom.tools = raw(&json!([]));
    let mut assembly = begin(PriorRendering::None, custom, ThinkingBinding::None, &talk());
    let body = body(&mut assembly, MAIN);
    assert_eq!(markers(&body), 1);
    assert_eq!(body["system"], "Be brief.");
    assert!(body.get("tools").is_none());
}

#[test]
fn b4_without_caching_there_is_no_marker() {
    let mut assembly = begin(
        PriorRendering::None,
        head(MODEL, None, "b4"),
        ThinkingBinding::None,
        &talk(),
    );
    for kind in [MAIN, RequestKind::Fork { text: "x" }] {
        assert_eq!(markers(&body(&mut assembly, kind)), 0);
    }
}

#[test]
fn b5_further_fields_go_behind_the_messages_and_never_repeat_the_heads() {
    let mut assembly = begin(
        PriorRendering::None,
        head(MODEL, None, "b5"),
        ThinkingBinding::None,
        &talk(),
    );
    let plain = assembly.request(MAIN, None).unwrap().to_vec();
    let more = raw(&json!({"diagnostics": {"previous_message_id": null}}));
    let with = assembly.request(MAIN, Some(&more)).unwrap().to_vec();
    assert!(with.starts_with(&plain[..plain.len() - 1]));
    let body: Value = serde_json::from_slice(&with).unwrap();
    assert_eq!(body["diagnostics"]["previous_message_id"], Value::Null);
    for name in ["model", "metadata", "stream", "messages"] {
        let more = raw(&json!({ name: 1 }));
        let refused = assembly.request(MAIN, Some(&more)).unwrap_err();
        assert_eq!(refused, RequestNotReady::Repeated(name.to_owned()));
    }
}

#[test]
fn f7_a_fork_repeats_its_parent_and_adds_one_message_without_a_marker_on_it() {
    let head = head(MODEL, Some(Ttl::OneHour), "f7");
    let mut assembly = begin(
        PriorRendering::None,
        head.clone(),
        ThinkingBinding::None,
        &talk(),
    );
    let fork = RequestKind::Fork {
        text: "Sum \"it\" up.\n",
    };
    let main = body(&mut assembly, MAIN);
    let forked = body(&mut assembly, fork);
    // Joined to what the user said last.
    let last = forked["messages"][4]["content"].as_array().unwrap();
    assert_eq!(last[last.len() - 1], text("Sum \"it\" up.\n", None));
    assert_eq!(last[last.len() - 2], text("Thanks. And y?", None));
    assert_eq!(markers(&forked), 3, "on the last block that was written");
    assert_eq!(markers(&forked["messages"][2]), 1);
    for field in [
        "system",
        "tools",
        "thinking",
        "max_tokens",
        "metadata",
        "stream",
    ] {
        assert_eq!(main[field], forked[field]);
    }
    // Or a message of its own after a reply.
    let mut assembly = begin(
        PriorRendering::None,
        head,
        ThinkingBinding::None,
        &talk()[..4],
    );
    assert_eq!(
        assembly.request(MAIN, None).unwrap_err(),
        RequestNotReady::NothingAsked
    );
    let forked = body(&mut assembly, fork);
    assert_eq!(
        forked["messages"][4]["content"],
        json!([text("Sum \"it\" up.\n", None)])
    );
    assert_eq!(forked["messages"].as_array().unwrap().len(), 5);
}

#[test]
fn b1_a_count_of_tokens_is_asked_for_with_the_same_conversation() {
    let mut assembly = begin(
        PriorRendering::None,
        head("claude-sonnet-4-5", Some(Ttl::OneHour), "count"),
        ThinkingBinding::Always,
        &talk(),
    );
    let slices = assembly.count_tokens().unwrap();
    let model = SimModel::new(ModelOptions::default());
    let mut world = World::new(WorldOptions::new(1, Box::new(model)));
    let call = ApiCall {
        key: "k".into(),
        version: "2026-10-21".into(),
        body: slices.concat().into(),
        ..ApiCall::default()
    };
    let counted = world.count_tokens(&call).unwrap();
    assert!(counted["input_tokens"].as_u64().unwrap() > 2_000);
    let body: Value = serde_json::from_slice(&call.body).unwrap();
    for absent in ["max_tokens", "stream", "metadata"] {
        assert!(body.get(absent).is_none());
    }
}
