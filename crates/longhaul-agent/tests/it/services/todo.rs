//! The todo list.

use std::sync::{Arc, Mutex};

use longhaul_agent::event::{TodoItem, TodoStatus};
use longhaul_agent::tool::Tool;
use longhaul_agent::tools::todo::{TodoList, TodoWriteTool};
use longhaul_core::rehydrate::{RestoreInput, RestoreSourceResult, restore};
use longhaul_core::window::WindowScale;
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
    let seen: Arc<Mutex<Vec<Vec<TodoItem>>>> = Arc::default();
    let shown = seen.clone();
    let todos = Arc::new(TodoList::watched(move |list| {
        shown.lock().unwrap().push(list.to_vec());
    }));
    let tool = TodoWriteTool::new(todos.clone());
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
    let todos = Arc::new(TodoList::default());
    let tool = TodoWriteTool::new(todos.clone());
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
    // Some models write the list as a text.
    let as_text = json!({"todos": three_steps()["todos"].to_string()});
    assert!(!run(&tool, as_text).await.is_error);
}

#[tokio::test]
async fn r2_the_whole_list_goes_back_after_a_compaction() {
    let todos = Arc::new(TodoList::default());
    assert_eq!(todos.gathered(), None);
    run(&TodoWriteTool::new(todos.clone()), three_steps()).await;
    let Some(RestoreSourceResult::Found(list)) = todos.gathered() else {
        panic!("a list")
    };
    assert_eq!(json!(list), three_steps()["todos"]);
    let gathered = RestoreInput {
        todos: todos.gathered(),
        ..RestoreInput::default()
    };
    let restored = restore(&gathered, WindowScale::of_window(200_000));
    assert_eq!(restored.open_todos, 2);
    assert_eq!(restored.attachments[0].value["itemCount"], 3);
}
