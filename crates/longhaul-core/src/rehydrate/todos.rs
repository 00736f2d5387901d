//! Restores the whole todo list (R2), with the user's later words against its items (ruling 18).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::restored_attachment::RestoredAttachment;

/// One item of the todo list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TodoListItem {
    /// The task.
    pub content: String,
    /// `pending`, `in_progress` or `completed`.
    pub status: String,
    /// The wording of the task while it is in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_form: Option<String>,
}

impl TodoListItem {
    /// Whether the item is not completed yet.
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
