//! Tool state must not outlive the window, and must survive a compaction and a restart.

use longhaul::hooks::EndReason;
use longhaul_agent::agent::SessionChoice;
use longhaul_agent::event::AgentEvent;
use longhaul_core::engine::CompactRequest;
use serde_json::{Value, json};

use super::{Says, open, put, results, workplace};
use crate::agent::house::{House, calls, long, say, text};

fn read(path: &str) -> Value {
    calls(&[("Read", json!({"file_path": path}))])
}

#[tokio::test]
async fn w1_a_file_that_a_compaction_took_out_of_the_window_is_read_anew() {
    let house = House::scripted(&[
        read("a.txt"),
        read("a.txt"),
        long(),
        read("a.txt"),
        text("Done."),
    ])
    .await;
    put(&house, "a.txt", "the only line\n");
    let place = workplace(&house, &mut Says::no()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    let (_, told) = say(&mut agent, &mut events, "Read it twice.").await;
    let seen = results(&told);
    assert!(seen[0].contains("the only line"));
    assert!(!seen[1].contains("the only line"), "a stub: {seen:?}");
    let request = CompactRequest {
        local: true,
        ..CompactRequest::default()
    };
    agent.compact(request).await.unwrap();
    let (_, told) = say(&mut agent, &mut events, "Read it again.").await;
    assert!(results(&told)[0].contains("the only line"), "{told:?}");
}

#[tokio::test]
async fn r2_r3_todos_and_skills_are_there_again_after_a_restart() {
    let todo =
        json!([{"content": "Paint the shed", "status": "pending", "activeForm": "Painting"}]);
    let house = House::scripted(&[
        calls(&[
            ("TodoWrite", json!({"todos": todo})),
            ("Skill", json!({"skill": "release"})),
        ]),
        long(),
        text("On."),
    ])
    .await;
    let skill = "---\nname: release\ndescription: Makes releases\n---\nTag before you push.\n";
    put(&house, ".claude/skills/release/SKILL.md", skill);
    let place = workplace(&house, &mut Says::no()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    let (_, told) = say(&mut agent, &mut events, "Begin.").await;
    assert!(
        told.iter()
            .any(|event| matches!(event, AgentEvent::Todos(list) if list.len() == 1))
    );
    agent.close(EndReason::Other).await;
    let place = workplace(&house, &mut Says::no()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::Continue).await;
    let mut todos = Vec::new();
    while let Ok(event) = events.try_recv() {
        if let AgentEvent::Todos(list) = event {
            todos = list;
        }
    }
    assert_eq!(todos[0].content, "Paint the shed");
    let request = CompactRequest {
        local: true,
        ..CompactRequest::default()
    };
    agent.compact(request).await.unwrap();
    say(&mut agent, &mut events, "Go on.").await;
    let sent = house.last_body()["messages"].to_string();
    assert!(sent.contains("Paint the shed"), "{sent}");
    assert!(sent.contains("Tag before you push."), "{sent}");
}

#[tokio::test]
async fn q1_a_sub_agent_has_tools_of_its_own_and_no_plans() {
    let house = House::scripted(&[
        calls(&[(
            "Task",
            json!({"description": "look", "prompt": "Look.", "subagent_type": "general-purpose"}),
        )]),
        text("Seen by the agent."),
        text("Done."),
    ])
    .await;
    let place = workplace(&house, &mut Says::no()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    let (_, told) = say(&mut agent, &mut events, "Have it looked at.").await;
    assert!(results(&told)[0].contains("Seen by the agent."), "{told:?}");
    let bodies = house.bodies();
    let names = |body: &Value| -> Vec<String> {
        let tools = body["tools"].as_array().unwrap().iter();
        tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let (main, sub) = (names(&bodies[0]), names(&bodies[1]));
    assert!(main.contains(&"ExitPlanMode".to_owned()) && main.contains(&"Task".to_owned()));
    assert!(sub.contains(&"Read".to_owned()) && sub.contains(&"TodoWrite".to_owned()));
    for missing in ["EnterPlanMode", "ExitPlanMode", "Task"] {
        assert!(!sub.contains(&missing.to_owned()), "{sub:?}");
    }
}
