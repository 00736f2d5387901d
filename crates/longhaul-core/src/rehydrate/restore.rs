//! From what the host gathered to attachments, in a fixed order (R6): files, todo, plan, plan mode, skills, agents,
//! announcements.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::agents::{self, BackgroundAgent};
use super::files::{self, FileText};
use super::skills::{self, InvokedSkill};
use super::todos::{self, TodoListItem};
use crate::tokens::RoughEstimator;
use crate::window::WindowScale;

/// What one source gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreSourceResult<T> {
    /// What it holds.
    Found(T),
    /// It could not be had.
    Failed {
        /// What was wanted, for people.
        what: String,
        /// Why not.
        why: String,
    },
}

/// The plan file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanFile {
    /// Its path.
    pub path: PathBuf,
    /// Its text, whole.
    pub text: String,
}

/// Everything a host gathers. What it does not have stays empty.
#[derive(Debug, Clone, Default)]
pub struct RestoreInput {
    /// The files that [`super::ReadFiles::wanted`] named, in that order.
    pub files: Vec<RestoreSourceResult<FileText>>,
    /// The todo list.
    pub todos: Option<RestoreSourceResult<Vec<TodoListItem>>>,
    /// The plan file.
    pub plan: Option<RestoreSourceResult<PlanFile>>,
    /// The reminder of plan mode, when it is on.
    pub plan_mode: Option<String>,
    /// Skills that were invoked.
    pub skills: Option<RestoreSourceResult<Vec<InvokedSkill>>>,
    /// Agents in the background.
    pub agents: Option<RestoreSourceResult<Vec<BackgroundAgent>>>,
    /// What the user has said since that calls todos or the plan off. The engine fills it in.
    pub called_off: CancellationWords,
    /// Tools, agents and MCP instructions, announced as a delta against an empty history (R5): attachments as they are.
    pub announcements: Vec<Value>,
}

/// Words by which the user called work off (ruling 18): what is older carries them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CancellationWords {
    /// For open items of the todo list, by their content.
    pub todos: BTreeMap<String, String>,
    /// For the plan.
    pub plan: Option<String>,
}

/// What goes back into the window.
#[derive(Debug, Default)]
pub struct RestoredContext {
    /// The attachments in order.
    pub attachments: Vec<RestoredAttachment>,
    /// Files whose content is in them.
    pub files: Vec<PathBuf>,
    /// Open todos that are in them.
    pub open_todos: usize,
    /// What was left out or cut, for the loss report.
    pub notes: Vec<String>,
}

/// One attachment.
#[derive(Debug, Clone, PartialEq)]
pub struct RestoredAttachment {
    /// The `attachment` of its entry.
    pub value: Value,
    pub(super) is_cut: bool,
}

impl RestoredAttachment {
    pub(super) fn whole(value: Value) -> Self {
        Self {
            value,
            is_cut: false,
        }
    }

    /// Its size as it is written.
    pub fn tokens(&self) -> u64 {
        RoughEstimator::text(&self.value.to_string()).unpadded()
    }
}

/// Makes the attachments.
pub fn restore(gathered: &RestoreInput, scale: WindowScale) -> RestoredContext {
    let files = files::restore(&gathered.files, scale);
    let mut done = RestoredContext {
        attachments: files.attachments,
        files: files.restored,
        notes: files.notes,
        open_todos: 0,
    };
    if let Some(todos) = found(&gathered.todos, &mut done.notes) {
        done.open_todos = todos.iter().filter(|todo| todo.is_open()).count();
        let said = &gathered.called_off.todos;
        done.attachments.extend(todos::attachment(todos, said));
    }
    if let Some(plan) = found(&gathered.plan, &mut done.notes) {
        let mut value = json!({
            "type": "plan_file_reference",
            "planFilePath": plan.path,
            "planContent": plan.text,
        });
        if let Some(said) = &gathered.called_off.plan {
            value["calledOffBy"] = json!(said);
        }
        done.attachments.push(RestoredAttachment::whole(value));
    }
    if let Some(reminder) = &gathered.plan_mode {
        done.attachments.push(RestoredAttachment::whole(
            json!({"type": "plan_mode", "content": reminder}),
        ));
    }
    if let Some(invoked) = found(&gathered.skills, &mut done.notes) {
        let attachment = skills::attachment(invoked, scale, &mut done.notes);
        done.attachments.extend(attachment);
    }
    if let Some(running) = found(&gathered.agents, &mut done.notes) {
        done.attachments
            .extend(running.iter().map(agents::attachment));
    }
    let announced = gathered.announcements.iter().cloned();
    done.attachments
        .extend(announced.map(RestoredAttachment::whole));
    done
}

fn found<'a, T>(
    source: &'a Option<RestoreSourceResult<T>>,
    notes: &mut Vec<String>,
) -> Option<&'a T> {
    match source.as_ref()? {
        RestoreSourceResult::Found(value) => Some(value),
        RestoreSourceResult::Failed { what, why } => {
            notes.push(format!("{what} was not restored: {why}"));
            None
        }
    }
}
