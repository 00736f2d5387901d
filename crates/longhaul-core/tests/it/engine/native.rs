//! Tests the clearing that the provider does by itself (U7).

use longhaul_core::engine::Event;
use longhaul_core::micro::PressureOwner;
use serde_json::json;

use super::desk::{Answer, Desk, Setting};

#[test]
fn u7_the_request_asks_and_the_reply_tells() {
    let mut desk = Desk::with(Setting {
        pressure: PressureOwner::Providers,
        window: 200_000,
        ..Setting::default()
    });
    desk.exchange("Hello.", Answer::Cleared(5, 40_000, 60_000));
    let body = Desk::body(&desk.sent[0]);
    let edits = body["context_management"]["edits"].as_array().unwrap();
    assert_eq!(edits.last().unwrap()["type"], "clear_tool_uses_20250919");
    assert!(
        desk.sent[0]
            .betas
            .iter()
            .any(|beta| beta.starts_with("context-management"))
    );
    let told: Vec<_> = desk
        .events
        .iter()
        .filter_map(|event| match event {
            Event::NativeCleared {
                tool_uses, tokens, ..
            } => Some((*tool_uses, *tokens)),
            _ => None,
        })
        .collect();
    assert_eq!(told, [(5, 40_000)]);
    // The measurement counts what was left.
    assert_eq!(desk.engine.status().used, 60_030);
}

#[test]
fn u7_after_an_idle_hour_only_the_last_turns_thinking_stays() {
    let mut desk = Desk::with(Setting {
        pressure: PressureOwner::Providers,
        model: "claude-fable-5-2",
        window: 200_000,
        ..Setting::default()
    });
    let kept = |desk: &Desk| {
        let body = Desk::body(desk.sent.last().unwrap());
        body["context_management"]["edits"][0]["keep"].clone()
    };
    desk.exchange("Hello.", Answer::Says("Hi.", 1_000));
    assert_eq!(kept(&desk), "all");
    desk.later(3_700);
    desk.exchange("Again.", Answer::Says("Hi.", 1_000));
    assert_eq!(kept(&desk), json!({"type": "thinking_turns", "value": 1}));
    desk.exchange("And again.", Answer::Says("Hi.", 1_000));
    assert_eq!(kept(&desk), json!({"type": "thinking_turns", "value": 1}));
}

#[test]
fn u7_u5_the_provider_clears_in_our_place() {
    for (pressure, cleared) in [(PressureOwner::Ours, 1), (PressureOwner::Providers, 0)] {
        let mut desk = Desk::with(Setting {
            pressure,
            window: 200_000,
            ..Setting::default()
        });
        desk.say("Read them.");
        for id in ["t0", "t1", "t2", "t3", "t4", "t5", "t6"] {
            desk.works(id, 20_000, 140_000);
        }
        // The cache is cold, so there is no reason to wait.
        desk.later(400);
        desk.answers.push_back(Answer::Says("Done.", 150_000));
        desk.turn();
        let found = desk.subtypes("microcompact_boundary").len();
        assert!(
            found >= cleared && (cleared > 0 || found == 0),
            "{pressure:?}: {found}"
        );
    }
}
