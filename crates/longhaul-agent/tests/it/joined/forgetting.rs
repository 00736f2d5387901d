//! Tool state must not outlive the window, and must survive a compaction and a restart.

use longhaul::hooks::EndReason;
use longhaul_agent::agent::{Agent, SessionChoice};
use longhaul_agent::event::{AgentEvent, ApprovalAnswer};
use longhaul_core::engine::CompactRequest;
use serde_json::{Value, json};

use super::{Says, open, put, results, workplace};
use crate::agent::house::{House, calls, long, say, text, work};

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
    agent.compact(local()).await.unwrap();
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
    agent.compact(local()).await.unwrap();
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

fn edit(path: &str, old: &str) -> Value {
    let input = json!({"file_path": path, "old_string": old, "new_string": "new"});
    calls(&[("Edit", input)])
}

fn local() -> CompactRequest {
    CompactRequest {
        local: true,
        ..CompactRequest::default()
    }
}

#[tokio::test]
async fn r7_a_file_that_a_compaction_did_not_restore_must_be_read_again_before_it_is_edited() {
    // Six files are read, and the five newest are restored.
    let names = ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt", "f.txt"];
    let mut turns: Vec<Value> = names.iter().map(|name| read(name)).collect();
    turns.extend([long(), edit("a.txt", "first"), text("Done.")]);
    turns.extend([
        edit("a.txt", "second"),
        edit("f.txt", "first"),
        text("Done."),
    ]);
    turns.extend([read("a.txt"), edit("a.txt", "second"), text("Done.")]);
    let house = House::scripted_by("calls", &turns).await;
    for name in names {
        put(&house, name, "first\nsecond\n");
    }
    let place = workplace(&house, &mut Says::no()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    say(&mut agent, &mut events, "Read them all.").await;
    // A summary that was only looked at replaces nothing, so what was read is still known.
    let preview = CompactRequest {
        preview: true,
        ..local()
    };
    agent.compact(preview).await.unwrap();
    let yes = || Some(ApprovalAnswer::Once);
    let (_, told) = work(&mut agent, &mut events, "Edit a.", |_| {}, yes).await;
    assert!(!results(&told)[0].contains("Read it first"), "{told:?}");
    let content = |name: &str| std::fs::read_to_string(house.cwd().join(name)).unwrap();
    assert_eq!(content("a.txt"), "new\nsecond\n");
    agent.compact(local()).await.unwrap();
    let (_, told) = work(&mut agent, &mut events, "Edit both.", |_| {}, yes).await;
    let said = results(&told);
    assert!(said[0].contains("Read it first"), "{said:?}");
    assert!(!said[1].contains("Read it first"), "{said:?}");
    assert_eq!(content("a.txt"), "new\nsecond\n", "unchanged");
    assert_eq!(content("f.txt"), "new\nsecond\n");
    let (_, told) = work(&mut agent, &mut events, "Read it, then.", |_| {}, yes).await;
    assert!(results(&told)[0].contains("second"), "{told:?}");
    assert_eq!(content("a.txt"), "new\nnew\n");
}

#[tokio::test]
async fn r7_what_a_sub_agent_has_read_the_main_conversation_has_not() {
    let task =
        json!({"description": "look", "prompt": "Read a.", "subagent_type": "general-purpose"});
    let turns = [
        calls(&[("Task", task)]),
        read("a.txt"),
        text("Read."),
        edit("a.txt", "first"),
        text("Done."),
    ];
    let house = House::scripted_by("calls", &turns).await;
    put(&house, "a.txt", "first\n");
    let place = workplace(&house, &mut Says::no()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    let yes = || Some(ApprovalAnswer::Once);
    let (_, told) = work(&mut agent, &mut events, "Have it read.", |_| {}, yes).await;
    let said = results(&told).join("\n");
    assert!(said.contains("Read it first"), "{said}");
    let content = std::fs::read_to_string(house.cwd().join("a.txt")).unwrap();
    assert_eq!(content, "first\n");
}

/// The attachments after the newest boundary, by their types, and the notes of its report.
fn restored(agent: &Agent) -> (Vec<String>, String) {
    let text = std::fs::read_to_string(&agent.place().transcript).unwrap();
    let lines: Vec<Value> = (text.lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let is_boundary = |line: &Value| line["subtype"] == "compact_boundary";
    let newest = lines.iter().rposition(is_boundary).unwrap();
    let kinds = lines[newest..].iter();
    let kinds = kinds.filter_map(|line| line["attachment"]["type"].as_str().map(str::to_owned));
    let notes = lines[newest]["compactMetadata"]["report"]["notes"].to_string();
    (kinds.collect(), notes)
}

#[tokio::test]
async fn r6_what_is_restored_keeps_its_order_and_a_source_that_fails_is_left_out_and_reported() {
    let todo = json!([{"content": "Paint", "status": "pending", "activeForm": "Painting"}]);
    let turns = [
        calls(&[
            ("Skill", json!({"skill": "release"})),
            ("EnterPlanMode", json!({})),
            ("TodoWrite", json!({"todos": todo})),
            ("Read", json!({"file_path": "a.txt"})),
            ("Read", json!({"file_path": "b.txt"})),
        ]),
        long(),
        long(),
    ];
    let house = House::scripted_by("calls", &turns).await;
    let skill = "---\nname: release\ndescription: Makes releases\n---\nTag before you push.\n";
    put(&house, ".claude/skills/release/SKILL.md", skill);
    put(&house, "a.txt", "a line of a\n");
    let second = put(&house, "b.txt", "a line of b\n");
    let place = workplace(&house, &mut Says::no()).await;
    let (mut agent, mut events) = open(&house, &place, SessionChoice::New).await;
    let yes = || Some(ApprovalAnswer::Once);
    work(&mut agent, &mut events, "Begin.", |_| {}, yes).await;
    let plan = agent.place().session_folder().join("plan.md");
    std::fs::create_dir_all(plan.parent().unwrap()).unwrap();
    std::fs::write(&plan, "First the roof.\n").unwrap();
    agent.compact(local()).await.unwrap();
    let rest = [
        "todo",
        "plan_file_reference",
        "plan_mode",
        "invoked_skills",
        "agent_listing_delta",
    ];
    let (kinds, notes) = restored(&agent);
    assert_eq!(kinds, [&["file", "file"], &rest[..]].concat());
    assert!(!notes.contains("not restored"), "{notes}");

    std::fs::write(&plan, b"\xff\xfe").unwrap();
    std::fs::remove_file(second).unwrap();
    work(&mut agent, &mut events, "Go on.", |_| {}, yes).await;
    agent.compact(local()).await.unwrap();
    let (kinds, notes) = restored(&agent);
    let rest: Vec<&str> = rest
        .into_iter()
        .filter(|kind| !kind.starts_with("plan_file"))
        .collect();
    assert_eq!(kinds, [&["file"], &rest[..]].concat());
    assert!(notes.contains("the plan was not restored: "), "{notes}");
    assert!(notes.contains("b.txt was not restored: "), "{notes}");
}
