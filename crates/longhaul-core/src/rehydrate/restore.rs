//! Turns what the host gathered into attachments, in a fixed order (R6): files, todo, plan, plan mode, skills, agents,
//! announcements.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::agents::{self, BackgroundAgent};
use super::files::{self, FileText};
use super::restored_attachment::RestoredAttachment;
use super::skills::{self, InvokedSkill};
use super::source_result::RestoreSourceResult;
use super::todos::{self, TodoListItem};
use crate::window::WindowScale;

/// The plan file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanFile {
    /// The path of the plan file.
    pub path: PathBuf,
    /// The whole text of the plan file.
    pub text: String,
}

/// Everything that a host gathers. Sources that it does not have stay empty.
#[derive(Debug, Clone, Default)]
pub struct RestoreInput {
    /// The files that [`super::ReadFiles::wanted`] named, in that order.
    pub files: Vec<RestoreSourceResult<FileText>>,
    /// The todo list.
    pub todos: Option<RestoreSourceResult<Vec<TodoListItem>>>,
    /// The plan file.
    pub plan: Option<RestoreSourceResult<PlanFile>>,
    /// The reminder of plan mode, if it is on.
    pub plan_mode: Option<String>,
    /// The skills that were invoked.
    pub skills: Option<RestoreSourceResult<Vec<InvokedSkill>>>,
    /// The background agents.
    pub agents: Option<RestoreSourceResult<Vec<BackgroundAgent>>>,
    /// The user's later words that cancel todos or the plan. The engine fills this in.
    pub called_off: CancellationWords,
    /// Tools, agents and MCP instructions, announced as a delta against an empty history (R5). They are complete
    /// attachments.
    pub announcements: Vec<Value>,
}

/// The words by which the user cancelled work (ruling 18). Older work is restored together with them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CancellationWords {
    /// The words that cancel open items of the todo list, by the items' content.
    pub todos: BTreeMap<String, String>,
    /// The words that cancel the plan.
    pub plan: Option<String>,
}

/// The restored context.
#[derive(Debug, Default)]
pub struct RestoredContext {
    /// The attachments, in order.
    pub attachments: Vec<RestoredAttachment>,
    /// The files whose content is in the attachments.
    pub files: Vec<PathBuf>,
    /// The number of open todos in the attachments.
    pub open_todos: usize,
    /// The sources that were left out or cut, for the loss report.
    pub notes: Vec<String>,
}

/// Creates the attachments.
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
