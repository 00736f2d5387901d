//! Open work: the newest todo list, and the host's task list (X1).

use serde::{Deserialize, Serialize};

use crate::json::{JsonCursor, ObjectReader};

/// The most items that are kept.
const MOST: usize = 300;
/// The most characters of an item that are kept.
const LONGEST: usize = 600;

/// An item of a todo or task list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TodoFact {
    /// A task's number; items of a todo list have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The work to be done.
    pub content: String,
    /// The status as in the list: pending, in_progress, completed.
    pub status: String,
    /// How many messages the user had written when the item was added, or resumed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub since: u32,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl TodoFact {
    /// Whether the item is still to be done.
    pub fn is_open(&self) -> bool {
        !matches!(
            self.status.as_str(),
            "completed" | "cancelled" | "deleted" | "done"
        )
    }

    /// The `since` value of the item that replaces this one: the same, unless work on it began after the user's second
    /// newest message. In that case the user has spoken since it was called off, if it was.
    fn since(&self, status: &str, said: u32) -> u32 {
        if status == "in_progress" && self.status != status {
            self.since.max(said.saturating_sub(1))
        } else {
            self.since
        }
    }
}

/// Replaces the old todo list. Tasks stay. `said` is the number of messages that the user has written.
pub(super) fn replace(todos: &mut Vec<TodoFact>, input: ObjectReader<'_>, said: u32) {
    let Some(list) = input.get("todos") else {
        return;
    };
    let mut items = Vec::new();
    let walked = JsonCursor::new(list).array(|cursor| {
        let item = ObjectReader::new(cursor.raw()?);
        let content = item.string("content").or_else(|| item.string("activeForm"));
        if let Some(content) = content.filter(|_| items.len() < MOST) {
            let content = bounded(&content);
            let status = status(item).unwrap_or_else(|| "pending".to_owned());
            let known = todos.iter().find(|todo| todo.content == content);
            items.push(TodoFact {
                id: None,
                since: known.map_or(said, |known| known.since(&status, said)),
                content,
                status,
            });
        }
        Ok(())
    });
    if walked.is_ok() {
        todos.retain(|todo| todo.id.is_some());
        todos.splice(0..0, items);
    }
}

/// Adds a task, once its result tells its number.
pub(super) fn create(todos: &mut Vec<TodoFact>, subject: &str, answer: &str, said: u32) {
    let number: String = answer
        .split('#')
        .nth(1)
        .unwrap_or_default()
        .chars()
        .take_while(char::is_ascii_alphanumeric)
        .collect();
    if todos.len() < MOST && !number.is_empty() {
        todos.retain(|todo| todo.id.as_deref() != Some(&number));
        todos.push(TodoFact {
            id: Some(number),
            content: bounded(subject),
            status: "pending".to_owned(),
            since: said,
        });
    }
}

/// Changes a task.
pub(super) fn update(todos: &mut Vec<TodoFact>, input: ObjectReader<'_>, said: u32) {
    let Some(id) = input.string("taskId") else {
        return;
    };
    let status = status(input);
    if status.as_deref() == Some("deleted") {
        todos.retain(|todo| todo.id.as_deref() != Some(&*id));
        return;
    }
    let known = todos
        .iter_mut()
        .find(|todo| todo.id.as_deref() == Some(&*id));
    if let Some(todo) = known {
        if let Some(subject) = input.string("subject") {
            todo.content = bounded(&subject);
        }
        if let Some(status) = status {
            todo.since = todo.since(&status, said);
            todo.status = status;
        }
    }
}

fn status(item: ObjectReader<'_>) -> Option<String> {
    item.string("status").map(|status| bounded(&status))
}

fn bounded(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}
