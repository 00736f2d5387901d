//! Tools as they look on the screen: side by side, delegated, planned, on a list.

use serde_json::Value;

use super::house::{House, Typing, entries};

fn last_request(house: &House) -> Value {
    serde_json::from_slice(&house.wire.requests().pop().unwrap()).unwrap()
}

#[test]
fn q1_calls_that_only_read_are_answered_together() {
    let house = House::new();
    let mut terminal = house.chat(&[]);
    terminal.asks(
        "read notes.txt more.txt #1",
        "Done with: read notes.txt more.txt #1",
    );
    let shown = terminal.all();
    assert_eq!(shown.matches("✓ Read").count(), 2, "{shown}");
    let request = last_request(&house);
    let message = request["messages"].as_array().unwrap().last().unwrap();
    let results = message["content"].as_array().unwrap().iter();
    let results: Vec<String> = results
        .filter(|block| block["type"] == "tool_result")
        .map(|block| block["content"].to_string())
        .collect();
    assert_eq!(results.len(), 2);
    assert!(results[0].contains("three") && results[1].contains("five"));
    terminal.leaves();
    house.inspected();
}

#[test]
fn q2_todos_are_on_the_screen() {
    let house = House::new();
    let mut terminal = house.chat(&[]);
    terminal.asks("todo #1", "Done with: todo #1");
    terminal.sees("▸ Looking at it");
    terminal.sees("☐ Tell about it");
    terminal.leaves();
}

#[test]
fn q1_a_sub_agent_has_a_conversation_of_its_own_and_reports() {
    let house = House::new();
    let mut terminal = house.chat(&[]);
    terminal.asks(
        "delegate tell 5 inside",
        "Done with: delegate tell 5 inside",
    );
    terminal.leaves();
    let request = last_request(&house).to_string();
    assert!(request.contains("Done with: tell 5 inside"));
    let folder = house.transcript().with_extension("").join("subagents");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().flatten().collect();
    let mut files = files.iter().map(std::fs::DirEntry::path);
    let file = files
        .find(|path| path.extension().is_some_and(|it| it == "jsonl"))
        .unwrap();
    assert!(!entries(&file).is_empty());
    house.inspected_at(&file);
    house.inspected();
    house.nothing_refused();
}

#[test]
fn q1_in_plan_mode_nothing_is_changed_until_the_plan_is_agreed_to() {
    let house = House::new();
    let mut terminal = house.chat(&[]);
    terminal.keys("\u{1b}[Z\u{1b}[Z");
    terminal.sees("mode: plan");
    let path = house.work().canonicalize().unwrap().join("new.txt");
    let write = format!("write {}", path.display());
    terminal.asks(&write, "Done with: write");
    assert!(!path.exists());
    terminal.says("plan First this, then that.");
    terminal.sees("? The model's plan");
    terminal.sees("First this, then that.");
    terminal.answers("1");
    terminal.sees("Done with: plan First this, then that.");
    terminal.is_idle();
    terminal.misses("· plan ·");
    terminal.says(&write);
    terminal.sees("? Write");
    terminal.answers("1");
    terminal.until("the file", |_| path.exists());
    terminal.is_idle();
    terminal.leaves();
    house.nothing_refused();
    house.inspected();
}
