//! What goes back into the window of the main conversation after a compaction (R1 to R6), and its fresh head.

use std::path::Path;
use std::sync::Arc;

use longhaul::hooks::{HookEvent, LoadReason, MemoryType};
use longhaul::{Boxed, Wanted, Workspace};
use longhaul_core::engine::GatheredContext;
use longhaul_core::models::ModelSpec;
use longhaul_core::prompt::memory::{Found, Kind, Notice, is_memory_file};
use longhaul_core::rehydrate::{BackgroundAgent, Source, Todo};
use serde_json::Value;

use super::head::Heads;
use super::restore::Restoring;
use super::ring::Ringer;
use super::sources::{Ask, Sources};
use crate::event::TodoStatus;

/// The workspace of an agent.
pub(crate) struct AgentWorkspace {
    pub(crate) heads: Arc<Heads>,
    pub(crate) spec: Arc<ModelSpec>,
    pub(crate) sources: Sources,
    pub(crate) ringer: Ringer,
    /// Agents in the background whose result was not collected (R4).
    pub(crate) agents: Ask<Vec<BackgroundAgent>>,
    /// What kinds of agents there are, as an attachment (R5).
    pub(crate) kinds: Option<Value>,
}

impl Workspace for AgentWorkspace {
    fn gather<'a>(&'a self, wanted: &'a Wanted) -> Boxed<'a, GatheredContext> {
        Box::pin(async move {
            let plan = (self.sources.plan)();
            let plan_path = match &plan {
                Some(Source::Found(plan)) => Some(plan.path.clone()),
                _ => None,
            };
            let restoring = Restoring {
                place: self.heads.place().clone(),
                reads: self.heads.reads().clone(),
                sources: self.sources.clone(),
            };
            // Those come back another way.
            let comes_back = |path: &Path| {
                is_memory_file(path)
                    || Some(path) == plan_path.as_deref()
                    || path == self.heads.place().transcript
            };
            let found = (wanted.files.iter())
                .filter(|file| !comes_back(&file.path))
                .map(|file| restoring.find(file.clone()))
                .filter(|found| !found.as_ref().is_ok_and(|file| comes_back(&file.path)));
            let mut gathered = GatheredContext::default();
            gathered.gathered.files = Restoring::read(found.collect()).await;
            gathered.head = self.head().await;
            let into = &mut gathered.gathered;
            let todos: Vec<Todo> = (self.sources.todos)().into_iter().map(todo).collect();
            into.todos = (!todos.is_empty()).then_some(Source::Found(todos));
            into.plan = plan;
            into.plan_mode = (self.sources.plan_mode)();
            let mut skills = (self.sources.skills)();
            skills.retain(|skill| !self.heads.reads().denies(&skill.path));
            into.skills = (!skills.is_empty()).then_some(Source::Found(skills));
            let agents = (self.agents)();
            into.agents = (!agents.is_empty()).then_some(Source::Found(agents));
            into.announcements = self.kinds.iter().cloned().collect();
            into.announcements.extend((self.sources.announcements)());
            gathered
        })
    }

    fn compact_instructions(&self) -> Boxed<'_, Option<String>> {
        Box::pin(async { Some(self.heads.compact_instructions()) })
    }
}

/// The workspace of a sub-agent: its files, and what the project says about compactions.
pub(crate) struct SubAgentWorkspace {
    pub(crate) heads: Arc<Heads>,
    pub(crate) restoring: Restoring,
}

impl Workspace for SubAgentWorkspace {
    fn gather<'a>(&'a self, wanted: &'a Wanted) -> Boxed<'a, GatheredContext> {
        self.restoring.gather(wanted)
    }

    fn compact_instructions(&self) -> Boxed<'_, Option<String>> {
        Box::pin(async { Some(self.heads.compact_instructions()) })
    }
}

impl AgentWorkspace {
    /// Memory files are read again, and hooks hear of it (C1).
    async fn head(&self) -> Option<longhaul_core::prompt::RequestHead> {
        let made = match self.heads.make() {
            Ok(made) => made,
            Err(error) => {
                tracing::warn!(%error, "the head stays as it was");
                return None;
            }
        };
        loaded(&self.ringer, &made.found, LoadReason::Compact).await;
        for notice in &made.found.notices {
            // What was there at the start was told then; an import may be new.
            if matches!(notice, Notice::NotAgreed { .. } | Notice::Denied { .. }) {
                self.ringer.teller.notice(notice.to_string());
            }
        }
        match made.prompt.head(&self.spec) {
            Ok(head) => Some(head),
            Err(error) => {
                tracing::warn!(%error, "the head stays as it was");
                None
            }
        }
    }
}

/// Tells hooks which memory files were loaded.
pub(crate) async fn loaded(ringer: &Ringer, found: &Found, reason: LoadReason) {
    loaded_for(ringer, found, reason, None).await;
}

/// The same where the reading of a file brought them.
pub(crate) async fn loaded_for(
    ringer: &Ringer,
    found: &Found,
    reason: LoadReason,
    read: Option<&Path>,
) {
    for file in &found.files {
        let event = HookEvent::InstructionsLoaded {
            file_path: file.path.clone(),
            memory_type: match file.kind {
                Kind::User => MemoryType::User,
                Kind::Project => MemoryType::Project,
                Kind::Local => MemoryType::Local,
            },
            load_reason: match (&file.imported_by, reason) {
                (Some(_), LoadReason::SessionStart) => LoadReason::Include,
                _ => reason,
            },
            globs: Vec::new(),
            trigger_file_path: read.map(Path::to_owned),
            parent_file_path: file.imported_by.clone(),
        };
        let _ = ringer.ring(event).await;
    }
}

fn todo(todo: crate::event::Todo) -> Todo {
    let status = match todo.status {
        TodoStatus::Pending => "pending",
        TodoStatus::InProgress => "in_progress",
        TodoStatus::Completed => "completed",
    };
    Todo {
        content: todo.content,
        status: status.to_owned(),
        active_form: (!todo.active_form.is_empty()).then_some(todo.active_form),
    }
}
