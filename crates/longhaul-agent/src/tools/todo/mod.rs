//! TodoWrite: the steps of the work in hand (Q1), which outlive a compaction (R2).
//!
//! The list is shared: the tool writes it, a screen watches it, rehydration takes it along.

mod list;

use std::sync::Arc;

use longhaul::Boxed;
use longhaul_core::normalize::fragment::fill;
use serde_json::Value;

use super::definition::definition;
use crate::event::{Todo, TodoStatus};
use crate::tool::{Access, Call, Output, Tool};

pub use list::{Todos, read};

/// The tool's name.
pub const NAME: &str = "TodoWrite";

/// The tool.
pub struct TodoWrite {
    todos: Arc<Todos>,
}

impl TodoWrite {
    /// Writes to this list.
    pub fn new(todos: Arc<Todos>) -> Self {
        Self { todos }
    }
}

impl Tool for TodoWrite {
    fn name(&self) -> &str {
        NAME
    }

    fn definition(&self) -> Value {
        definition(
            NAME,
            include_str!("fragments/description.md"),
            include_str!("fragments/schema.json"),
        )
    }

    fn access(&self, _: &Value) -> Access {
        Access::Nothing
    }

    fn line(&self, input: &Value) -> String {
        let todos = read(input).unwrap_or_default();
        let now = todos
            .iter()
            .find(|todo| todo.status == TodoStatus::InProgress);
        match now {
            Some(todo) if !todo.active_form.is_empty() => todo.active_form.clone(),
            Some(todo) => todo.content.clone(),
            None => format!("{} steps", todos.len()),
        }
    }

    fn run<'a>(&'a self, input: Value, _: &'a Call) -> Boxed<'a, Output> {
        Box::pin(async move {
            match read(&input) {
                Ok(todos) => {
                    let output = told(&todos);
                    self.todos.set(todos);
                    output
                }
                Err(why) => Output::error(fill(
                    include_str!("fragments/not_understood.md"),
                    &[("why", &why)],
                )),
            }
        })
    }
}

fn told(todos: &[Todo]) -> Output {
    if todos.is_empty() {
        return Output::text(
            include_str!("fragments/emptied.md").trim_end(),
            "an empty list",
        );
    }
    let is_done = |todo: &&Todo| todo.status == TodoStatus::Completed;
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
    Output::text(text, format!("{open} open, {done} done")).with_detail(detail)
}
