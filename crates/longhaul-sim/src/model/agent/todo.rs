//! The agent's todo list: made up for a prompt, updated during the work, closed at the end.

use serde_json::{Value, json};

use super::turn::{AgentTurn, PlannedCall};
use crate::model::toolbox::{OfferedTool, ToolPurpose, kind_of_name};

/// The state of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SimTodoState {
    Pending,
    Going,
    Done,
}

impl AgentTurn<'_> {
    /// The newest todo list for this prompt.
    fn todos(&self) -> Option<Vec<(String, SimTodoState)>> {
        let exchange = self.view.since_prompt().iter().rev().find(|exchange| {
            kind_of_name(exchange.name) == ToolPurpose::Todo && exchange.succeeded()
        })?;
        let entries = exchange.input.get("todos")?.as_array()?;
        Some(
            entries
                .iter()
                .filter_map(|entry| {
                    let content = entry
                        .get("content")
                        .or_else(|| entry.get("task"))?
                        .as_str()?;
                    let state = match entry.get("status").and_then(Value::as_str) {
                        Some("completed" | "done") => SimTodoState::Done,
                        Some("in_progress") => SimTodoState::Going,
                        _ => SimTodoState::Pending,
                    };
                    Some((content.to_owned(), state))
                })
                .collect(),
        )
    }

    /// Whether there is a list with an open entry.
    pub(super) fn has_open_todos(&self) -> bool {
        self.todos()
            .is_some_and(|todos| todos.iter().any(|(_, state)| *state != SimTodoState::Done))
    }

    /// Whether there is a list for this prompt.
    pub(super) fn has_todos(&self) -> bool {
        self.todos().is_some()
    }

    /// Begins the list, or advances it.
    pub(super) fn move_on(&mut self, offer: OfferedTool<'_>) -> Option<PlannedCall> {
        let Some(mut todos) = self.todos() else {
            let todos = self.fresh_todos();
            return Some(self.todo_call(offer, &todos, "write down the steps"));
        };
        for entry in &mut todos {
            if entry.1 == SimTodoState::Going {
                entry.1 = SimTodoState::Done;
            }
        }
        let next = todos
            .iter_mut()
            .find(|(_, state)| *state == SimTodoState::Pending)?;
        next.1 = SimTodoState::Going;
        Some(self.todo_call(offer, &todos, "bring the todo list up to date"))
    }

    /// Marks all entries of the list as done.
    pub(super) fn close_todos(&mut self, offer: OfferedTool<'_>) -> Option<PlannedCall> {
        let mut todos = self.todos()?;
        todos
            .iter_mut()
            .for_each(|(_, state)| *state = SimTodoState::Done);
        Some(self.todo_call(offer, &todos, "close the todo list"))
    }

    fn fresh_todos(&mut self) -> Vec<(String, SimTodoState)> {
        let topic = self.topic();
        let mut todos = vec![
            (
                format!("Find where {topic} is dealt with"),
                SimTodoState::Going,
            ),
            (format!("Read what bears on {topic}"), SimTodoState::Pending),
        ];
        let more = [
            "Note what is missing",
            "Make the smallest change that helps",
            "Run the checks",
            "Look over the result once more",
        ];
        let count = self.chance.between(1, more.len());
        todos.extend(
            more.iter()
                .take(count)
                .map(|step| ((*step).to_owned(), SimTodoState::Pending)),
        );
        todos
    }

    pub(super) fn todo_call(
        &mut self,
        offer: OfferedTool<'_>,
        todos: &[(String, SimTodoState)],
        doing: &str,
    ) -> PlannedCall {
        let entries: Vec<Value> = todos
            .iter()
            .enumerate()
            .map(|(index, (content, state))| {
                let status = match state {
                    SimTodoState::Pending => "pending",
                    SimTodoState::Going => "in_progress",
                    SimTodoState::Done => "completed",
                };
                json!({
                    "content": content, "task": content, "status": status, "id": (index + 1).to_string(),
                    "activeForm": format!("Working on: {content}"), "priority": "medium",
                })
            })
            .collect();
        self.call(offer, json!({ "todos": entries }), doing.to_owned())
    }
}
