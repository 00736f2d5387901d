//! How hard the model thinks: a switch in mid-session is recorded and explained.

use longhaul_agent::EffortSetting;
use longhaul_agent::agent::SessionChoice;
use longhaul_agent::event::{AgentEvent, AgentStatus};
use longhaul_core::engine::{CompactRequest, Event};
use longhaul_core::models::EffortLevel;
use serde_json::{Value, json};

use super::{Says, open, put, workplace};
use crate::agent::house::{House, long, say, text};

fn effort(body: &Value) -> (Value, Value) {
    (
        body["output_config"]["effort"].clone(),
        body["thinking"]["type"].clone(),
    )
}

fn statuses(told: &[AgentEvent]) -> Option<AgentStatus> {
    let mut seen = told.iter().rev();
    seen.find_map(|event| match event {
        AgentEvent::Glance(status) => Some(status.clone()),
        _ => None,
    })
}

#[tokio::test]
async fn b5_an_effort_that_is_switched_is_recorded_and_named_as_what_broke_the_cache() {
    let house = House::scripted(&[long(), text("B."), text("C."), long(), text("D.")]).await;
    put(
        &house,
        ".claude/settings.json",
        r#"{"effortLevel": "high"}"#,
    );
    // Enough for the provider to cache.
    put(
        &house,
        "CLAUDE.md",
        &"Some words about this project. ".repeat(400),
    );
    let place = workplace(&house, &mut Says::yes()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    let (_, told) = say(&mut agent, &mut events, "One.").await;
    assert_eq!(
        effort(&house.last_body()),
        (json!("high"), json!("adaptive"))
    );
    let high = EffortSetting::Level(EffortLevel::High);
    assert_eq!(statuses(&told).unwrap().effort, high);
    say(&mut agent, &mut events, "Two.").await;
    let before = house.last_body();

    agent
        .set_effort(EffortSetting::Level(EffortLevel::Low))
        .unwrap();
    let (_, told) = say(&mut agent, &mut events, "Three.").await;
    let after = house.last_body();
    assert_eq!(effort(&after), (json!("low"), json!("adaptive")));
    for part in ["system", "tools"] {
        assert_eq!(before[part], after[part], "only the effort changes");
    }
    let breaks = told.iter().filter_map(|event| match event {
        AgentEvent::Engine(Event::CacheBreak(found)) => Some(format!("{found:?}")),
        _ => None,
    });
    let breaks: Vec<String> = breaks.collect();
    assert!(
        breaks
            .iter()
            .any(|it| it.contains("Effort") && it.contains("high") && it.contains("low")),
        "{breaks:?}"
    );
    let transcript = std::fs::read_to_string(&agent.place().transcript).unwrap();
    let heads = transcript
        .lines()
        .filter(|line| line.contains("\"request-head\""));
    let reasons: Vec<Value> = heads
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["reason"].clone())
        .collect();
    assert_eq!(reasons, ["first", "settings"], "{reasons:?}");

    // It holds after a compaction, too.
    say(&mut agent, &mut events, "Four.").await;
    let local = CompactRequest {
        local: true,
        ..CompactRequest::default()
    };
    agent.compact(local).await.unwrap();
    say(&mut agent, &mut events, "Five.").await;
    assert_eq!(
        effort(&house.last_body()),
        (json!("low"), json!("adaptive"))
    );
}

#[tokio::test]
async fn b5_a_resumed_session_goes_on_with_its_effort_and_says_so() {
    let house = House::scripted(&[text("A."), text("B.")]).await;
    let settings = |level: &str| format!(r#"{{"effortLevel": "{level}"}}"#);
    put(&house, ".claude/settings.json", &settings("medium"));
    let place = workplace(&house, &mut Says::yes()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    say(&mut agent, &mut events, "One.").await;
    let first = house.last_body();
    agent.close(longhaul::hooks::EndReason::Other).await;

    put(&house, ".claude/settings.json", &settings("max"));
    let place = workplace(&house, &mut Says::yes()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::Continue).await;
    let mut notices = Vec::new();
    while let Ok(event) = events.try_recv() {
        if let AgentEvent::Notice(text) = event {
            notices.push(text);
        }
    }
    assert!(
        notices
            .iter()
            .any(|it| it.contains("goes on with the effort medium")),
        "{notices:?}"
    );
    say(&mut agent, &mut events, "Two.").await;
    let second = house.last_body();
    assert_eq!(effort(&second), effort(&first));
    assert_eq!(first["system"], second["system"]);
}

#[tokio::test]
async fn n1_an_effort_that_the_model_does_not_take_is_refused_with_those_that_it_takes() {
    let house = House::scripted(&[text("A."), text("B.")]).await;
    put(
        &house,
        ".claude/settings.json",
        r#"{"effortLevel": "xhigh"}"#,
    );
    let place = workplace(&house, &mut Says::yes()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    let mut notices = Vec::new();
    while let Ok(event) = events.try_recv() {
        if let AgentEvent::Notice(text) = event {
            notices.push(text);
        }
    }
    assert!(
        notices
            .iter()
            .any(|it| it.contains("it takes low, medium, high, max")),
        "{notices:?}"
    );
    say(&mut agent, &mut events, "One.").await;
    assert_eq!(effort(&house.last_body()), (Value::Null, Value::Null));
    let why = agent
        .set_effort(EffortSetting::Level(EffortLevel::Xhigh))
        .unwrap_err();
    assert!(why.contains("low, medium, high, max"), "{why}");
    agent.set_effort(EffortSetting::Off).unwrap();
    say(&mut agent, &mut events, "Two.").await;
    assert_eq!(effort(&house.last_body()), (Value::Null, json!("disabled")));
}
