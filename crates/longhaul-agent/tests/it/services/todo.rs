//! The todo list.

use std::sync::{Arc, Mutex};

use longhaul_agent::event::{Todo, TodoStatus};
use longhaul_agent::tool::Tool;
use longhaul_agent::tools::todo::{TodoWrite, Todos};
use longhaul_core::rehydrate::{Gathered, Source, restore};
use longhaul_core::window::Scale;
use serde_json::json;

use super::{run, text};

fn three_steps() -> serde_json::Value {
    json!({"todos": [
        {"content": "Read it", "status": "completed", "activeForm": "Reading it"},
        {"content": "Write it", "status": "in_progress", "activeForm": "Writing it"},
        {"content": "Test it", "status": "pending", "activeForm": "Testing it"},
    ]})
}

#[tokio::test]
async fn q1_a_list_is_shared_with_who_shows_it() {
    let seen: Arc<Mutex<Vec<Vec<Todo>>>> = Arc::default();
    let shown = seen.clone();
    let todos = Arc::new(Todos::watched(move |list| {
        shown.lock().unwrap().push(list.to_vec());
    }));
    let tool = TodoWrite::new(todos.clone());
    assert_eq!(tool.line(&three_steps()), "Writing it");
    let output = run(&tool, three_steps()).await;
    assert!(!output.is_error);
    assert_eq!(output.line, "2 open, 1 done");
    assert_eq!(todos.list()[1].status, TodoStatus::InProgress);
    assert_eq!(*seen.lock().unwrap(), [todos.list()]);
    let emptied = run(&tool, json!({"todos": []})).await;
    assert!(!emptied.is_error && todos.list().is_empty());
}

#[tokio::test]
async fn q1_a_list_that_cannot_be_read_changes_nothing() {
    let todos = Arc::new(Todos::default());
    let tool = TodoWrite::new(todos.clone());
    run(&tool, three_steps()).await;
    let todo =
        |content: &str, status: &str| json!({"todos": [{"content": content, "status": status}]});
    let many: Vec<_> = vec![json!({"content": "a", "status": "pending"}); 201];
    for input in [
        json!({}),
        json!(null),
        json!({"todos": "no list"}),
        json!({"todos": {"content": "a"}}),
        json!({"todos": [1]}),
        todo("", "pending"),
        todo("a", "done"),
        todo(&"x".repeat(2_001), "pending"),
        json!({"todos": many}),
    ] {
        let output = run(&tool, input.clone()).await;
        assert!(output.is_error, "{input}");
        assert!(text(&output).contains("was not changed"), "{input}");
        let _ = tool.line(&input);
    }
    assert_eq!(todos.list().len(), 3);
    // As some models write it.
    let as_text = json!({"todos": three_steps()["todos"].to_string()});
    assert!(!run(&tool, as_text).await.is_error);
}

#[tokio::test]
async fn r2_the_whole_list_goes_back_after_a_compaction() {
    let todos = Arc::new(Todos::default());
    assert_eq!(todos.gathered(), None);
    run(&TodoWrite::new(todos.clone()), three_steps()).await;
    let Some(Source::Found(list)) = todos.gathered() else {
        panic!("a list")
    };
    assert_eq!(json!(list), three_steps()["todos"]);
    let gathered = Gathered {
        todos: todos.gathered(),
        ..Gathered::default()
    };
    let restored = restore(&gathered, Scale::of_window(200_000));
    assert_eq!(restored.open_todos, 2);
    assert_eq!(restored.attachments[0].value["itemCount"], 3);
}
