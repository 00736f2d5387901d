//! The todo list of a session, and how it is parsed from a call.

use std::sync::{Arc, Mutex, PoisonError};

use longhaul_core::rehydrate::{self, RestoreSourceResult};
use serde_json::Value;

use crate::event::{TodoItem, TodoStatus};

/// The maximum number of steps. Nobody reads a longer list.
const MOST: usize = 200;
/// The maximum length of a step, in characters. The whole list goes back into the window.
const LONGEST: usize = 2_000;

/// Called with each new list.
type TodoWatcher = Arc<dyn Fn(&[TodoItem]) + Send + Sync>;

/// The todo list of a session.
pub struct TodoList {
    list: Mutex<Vec<TodoItem>>,
    watcher: TodoWatcher,
}

impl Default for TodoList {
    fn default() -> Self {
        Self::watched(|_| {})
    }
}

impl TodoList {
    /// An empty list. The watcher is called with each list that follows.
    pub fn watched(watcher: impl Fn(&[TodoItem]) + Send + Sync + 'static) -> Self {
        Self {
            list: Mutex::default(),
            watcher: Arc::new(watcher),
        }
    }

    /// The items of the list.
    pub fn list(&self) -> Vec<TodoItem> {
        let list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.clone()
    }

    /// Replaces the list: from a call, or from the transcript of a resumed session.
    pub fn set(&self, todos: Vec<TodoItem>) {
        // The watcher is called outside of the lock, because it may ask for the list.
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.clone_from(&todos);
        drop(list);
        (self.watcher)(&todos);
    }

    /// The list for rehydration (R2); `None` if it is empty.
    pub fn gathered(&self) -> Option<RestoreSourceResult<Vec<rehydrate::TodoListItem>>> {
        let list = self.list();
        let todos = list.into_iter().map(|todo| rehydrate::TodoListItem {
            content: todo.content,
            status: word(todo.status).to_owned(),
            active_form: Some(todo.active_form).filter(|form| !form.is_empty()),
        });
        let todos: Vec<_> = todos.collect();
        (!todos.is_empty()).then_some(RestoreSourceResult::Found(todos))
    }
}

/// Parses a call's input.
///
/// # Errors
/// What is wrong with the input, as half a sentence for the model.
pub(crate) fn read(input: &Value) -> Result<Vec<TodoItem>, String> {
    let given = match input.get("todos") {
        // Some models send the list as a text.
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_default(),
        Some(given) => given.clone(),
        None => return Err("`todos` is missing".to_owned()),
    };
    let Value::Array(items) = given else {
        return Err("`todos` is not a list".to_owned());
    };
    if items.len() > MOST {
        return Err(format!("more than {MOST} steps"));
    }
    let read = items.into_iter().enumerate().map(|(at, item)| {
        let number = at + 1;
        let todo: TodoItem =
            serde_json::from_value(item).map_err(|error| format!("step {number}: {error}"))?;
        if todo.content.trim().is_empty() {
            return Err(format!("step {number} is empty"));
        }
        if todo.content.len().max(todo.active_form.len()) > LONGEST {
            return Err(format!("step {number} is longer than {LONGEST} characters"));
        }
        Ok(todo)
    });
    read.collect()
}

/// The status as transcripts write it.
fn word(status: TodoStatus) -> &'static str {
    match status {
        TodoStatus::Pending => "pending",
        TodoStatus::InProgress => "in_progress",
        TodoStatus::Completed => "completed",
    }
}
