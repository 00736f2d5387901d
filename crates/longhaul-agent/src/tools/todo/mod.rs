//! TodoWrite: the steps of the current work (Q1), which survive a compaction (R2).
//!
//! The list is shared: the tool writes it, a screen watches it, and rehydration restores it.

mod list;

use std::sync::Arc;

use longhaul_core::figures::counted;
use longhaul_core::normalize::fragment::fill;
use serde_json::Value;

use super::typed::TypedTool;
use crate::event::{TodoItem, TodoStatus};
use crate::tool::{CallContext, ToolAccess, ToolCallOutput};

pub use list::TodoList;
pub(crate) use list::read;

/// The tool's name.
pub const NAME: &str = "TodoWrite";

/// The todo tool.
pub struct TodoWriteTool {
    todos: Arc<TodoList>,
}

impl TodoWriteTool {
    /// Writes to this list.
    pub fn new(todos: Arc<TodoList>) -> Self {
        Self { todos }
    }
}

impl TypedTool for TodoWriteTool {
    const NAME: &'static str = NAME;
    const DESCRIPTION: &'static str = include_str!("fragments/description.md");
    const SCHEMA: &'static str = include_str!("fragments/schema.json");
    type Input = Value;

    fn access(&self, _: &Value) -> ToolAccess {
        ToolAccess::Nothing
    }

    fn line(&self, input: &Value) -> String {
        let todos = read(input).unwrap_or_default();
        let now = todos
            .iter()
            .find(|todo| todo.status == TodoStatus::InProgress);
        match now {
            Some(todo) if !todo.active_form.is_empty() => todo.active_form.clone(),
            Some(todo) => todo.content.clone(),
            None => counted(todos.len() as u64, "step"),
        }
    }

    async fn run(&self, input: Value, _: &CallContext) -> Result<ToolCallOutput, String> {
        let todos = read(&input).map_err(|why| {
            let gaps = [("why", &*why)];
            fill(include_str!("fragments/not_understood.md"), &gaps)
        })?;
        let output = told(&todos);
        self.todos.set(todos);
        Ok(output)
    }
}

fn told(todos: &[TodoItem]) -> ToolCallOutput {
    if todos.is_empty() {
        return ToolCallOutput::text(
            include_str!("fragments/emptied.md").trim_end(),
            "an empty list",
        );
    }
    let is_done = |todo: &&TodoItem| todo.status == TodoStatus::Completed;
    let done = todos.iter().filter(is_done).count();
    let (open, done) = ((todos.len() - done).to_string(), done.to_string());
    let text = fill(
        include_str!("fragments/written.md"),
        &[("open", &open), ("done", &done)],
    );
    let marks = todos.iter().map(|todo| {
        let mark = match todo.status {
            TodoStatus::Pending => " ",
            TodoStatus::InProgress => "~",
            TodoStatus::Completed => "x",
        };
        format!("[{mark}] {}", todo.content)
    });
    let detail = marks.collect::<Vec<_>>().join("\n");
    ToolCallOutput::text(text, format!("{open} open, {done} done")).with_detail(detail)
}
