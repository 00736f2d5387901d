//! The todo list of a session, and how one is read from a call.

use std::sync::{Arc, Mutex, PoisonError};

use longhaul_core::rehydrate::{self, RestoreSourceResult};
use serde_json::Value;

use crate::event::{TodoItem, TodoStatus};

/// More steps than this are no list that anybody reads.
const MOST: usize = 200;
/// The longest step, in characters. The list goes back into the window whole.
const LONGEST: usize = 2_000;

/// Hears of a new list.
type Watcher = Arc<dyn Fn(&[TodoItem]) + Send + Sync>;

/// The list of a session.
pub struct TodoList {
    list: Mutex<Vec<TodoItem>>,
    watcher: Watcher,
}

impl Default for TodoList {
    fn default() -> Self {
        Self::watched(|_| {})
    }
}

impl TodoList {
    /// An empty list. The watcher hears of each that comes after it.
    pub fn watched(watcher: impl Fn(&[TodoItem]) + Send + Sync + 'static) -> Self {
        Self {
            list: Mutex::default(),
            watcher: Arc::new(watcher),
        }
    }

    /// What is on it.
    pub fn list(&self) -> Vec<TodoItem> {
        let list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.clone()
    }

    /// Replaces it: by a call, or by what the transcript of a resumed session holds.
    pub fn set(&self, todos: Vec<TodoItem>) {
        // Told outside of the lock: a watcher may ask for the list.
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.clone_from(&todos);
        drop(list);
        (self.watcher)(&todos);
    }

    /// The list as rehydration takes it (R2); none if there is nothing on it.
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

/// Reads a call's input, or says what is wrong with it.
///
/// # Errors
/// What is wrong, as half a sentence for the model.
pub fn read(input: &Value) -> Result<Vec<TodoItem>, String> {
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

/// As transcripts write it.
fn word(status: TodoStatus) -> &'static str {
    match status {
        TodoStatus::Pending => "pending",
        TodoStatus::InProgress => "in_progress",
        TodoStatus::Completed => "completed",
    }
}
