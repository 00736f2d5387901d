//! Restores tool state from the conversation when a session is reopened: the todo list, skills that were invoked.

use std::collections::HashMap;
use std::path::PathBuf;

use longhaul_core::engine::LiveConversation;

use longhaul_core::json::ObjectReader;
use longhaul_core::message::{BlockKind, EntryView};
use longhaul_core::rehydrate::InvokedSkill;
use serde::Deserialize;
use serde_json::Value;

use crate::event::TodoItem;
use crate::tools::skill::{self, Skills};
use crate::tools::todo::{self, TodoList};

/// Restores the tools of a session from the conversation.
pub(super) fn refill(live: &LiveConversation, todos: &TodoList, skills: &Skills) {
    let mut list: Option<Vec<TodoItem>> = None;
    // Calls of the skill tool whose results have not been seen yet.
    let mut invoked: HashMap<String, String> = HashMap::new();
    for view in live.views() {
        if let Some(attachment) = view.visible_attachment() {
            match attachment.string("type").as_deref() {
                Some("todo") => list = attached(attachment, "content").or(list),
                Some("invoked_skills") => remember(attachment, view, skills),
                _ => {}
            }
        }
        for block in view.facets.blocks.iter().filter(|block| !block.inner) {
            let body = || serde_json::from_slice::<Value>(block.body.of(view.line)).ok();
            let id = || view.text(block.id).into_owned();
            match block.kind {
                BlockKind::ToolUse => match &*view.text(block.name) {
                    todo::NAME => list = body().and_then(|it| todo::read(&it).ok()).or(list),
                    skill::NAME => {
                        let name = body().and_then(|it| Some(it["skill"].as_str()?.to_owned()));
                        invoked.extend(name.map(|name| (id(), name)));
                    }
                    _ => {}
                },
                BlockKind::ToolResult if !block.is_error => {
                    let name = invoked.remove(&id());
                    let content = body().and_then(|it| Some(it.as_str()?.to_owned()));
                    if let Some((name, content)) = name.zip(content) {
                        let known = skills.all().iter().find(|skill| skill.name == name);
                        skills.remember(InvokedSkill {
                            path: known.map_or_else(PathBuf::new, |skill| skill.file.clone()),
                            name,
                            content,
                            at: view.timestamp().unwrap_or_default(),
                        });
                    }
                }
                _ => {}
            }
        }
    }
    if let Some(list) = list {
        todos.set(list);
    }
}

fn attached<T: for<'a> Deserialize<'a>>(attachment: ObjectReader<'_>, field: &str) -> Option<T> {
    serde_json::from_slice(attachment.get(field)?).ok()
}

#[derive(Deserialize)]
struct AttachedSkill {
    name: String,
    path: PathBuf,
    content: String,
}

fn remember(attachment: ObjectReader<'_>, view: EntryView<'_>, skills: &Skills) {
    let all: Option<Vec<AttachedSkill>> = attached(attachment, "skills");
    for AttachedSkill {
        name,
        path,
        content,
    } in all.into_iter().flatten()
    {
        skills.remember(InvokedSkill {
            name,
            path,
            content,
            at: view.timestamp().unwrap_or_default(),
        });
    }
}
