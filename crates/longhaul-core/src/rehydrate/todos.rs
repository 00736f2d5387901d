//! The todo list, whole (R2), with what the user has said since against items of it (ruling 18).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::restore::RestoredAttachment;

/// One item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TodoListItem {
    /// What is to be done.
    pub content: String,
    /// `pending`, `in_progress` or `completed`.
    pub status: String,
    /// How it reads while it is being done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_form: Option<String>,
}

impl TodoListItem {
    /// Whether it is not done yet.
    pub fn is_open(&self) -> bool {
        self.status != "completed"
    }
}

pub(super) fn attachment(
    todos: &[TodoListItem],
    called_off: &BTreeMap<String, String>,
) -> Option<RestoredAttachment> {
    let items: Vec<Value> = todos
        .iter()
        .map(|todo| {
            let mut item = json!(todo);
            if let Some(said) = called_off.get(&todo.content).filter(|_| todo.is_open()) {
                item["calledOffBy"] = json!(said);
            }
            item
        })
        .collect();
    (!todos.is_empty()).then(|| {
        RestoredAttachment::whole(json!({
            "type": "todo",
            "content": items,
            "itemCount": todos.len(),
            "context": "post-compact",
        }))
    })
}
