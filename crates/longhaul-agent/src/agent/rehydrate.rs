//! What goes back into the window of the main conversation after a compaction (R1 to R6), and its new request prefix.

use std::path::Path;
use std::sync::Arc;

use longhaul::hooks::{HookEvent, LoadReason, MemoryType};
use longhaul::{Boxed, RestoreRequest, Workspace};
use longhaul_core::engine::GatheredContext;
use longhaul_core::models::ModelSpec;
use longhaul_core::prompt::memory::{
    FoundMemoryFiles, MemoryFileKind, MemoryFileNotice, is_memory_file,
};
use longhaul_core::rehydrate::{BackgroundAgent, RestoreSourceResult, TodoListItem};
use serde_json::Value;

use super::hook_runner::HookRunner;
use super::request_prefix::PrefixBuilder;
use super::restore::FileRestorer;
use super::sources::{SourceFn, ToolStateSources};
use crate::event::TodoStatus;

/// The workspace of the main conversation.
pub(crate) struct AgentWorkspace {
    pub(crate) prefixes: Arc<PrefixBuilder>,
    pub(crate) spec: Arc<ModelSpec>,
    pub(crate) sources: ToolStateSources,
    pub(crate) hook_runner: HookRunner,
    /// Agents in the background whose result was not collected (R4).
    pub(crate) agents: SourceFn<Vec<BackgroundAgent>>,
    /// The available kinds of agents, as an attachment (R5).
    pub(crate) kinds: Option<Value>,
}

impl Workspace for AgentWorkspace {
    fn gather<'a>(&'a self, wanted: &'a RestoreRequest) -> Boxed<'a, GatheredContext> {
        Box::pin(async move {
            let plan = (self.sources.plan)();
            let plan_path = match &plan {
                Some(RestoreSourceResult::Found(plan)) => Some(plan.path.clone()),
                _ => None,
            };
            let restoring = FileRestorer {
                place: self.prefixes.place().clone(),
                reads: self.prefixes.reads().clone(),
                sources: self.sources.clone(),
            };
            // Those are restored in another way.
            let comes_back = |path: &Path| {
                is_memory_file(path)
                    || Some(path) == plan_path.as_deref()
                    || path == self.prefixes.place().transcript
            };
            let found = (wanted.files.iter())
                .filter(|file| !comes_back(&file.path))
                .map(|file| restoring.find(file.clone()))
                .filter(|found| !found.as_ref().is_ok_and(|file| comes_back(&file.path)));
            let mut gathered = GatheredContext::default();
            gathered.gathered.files = FileRestorer::read(found.collect()).await;
            gathered.prefix = self.request_prefix().await;
            let into = &mut gathered.gathered;
            let todos: Vec<TodoListItem> = (self.sources.todos)().into_iter().map(todo).collect();
            into.todos = (!todos.is_empty()).then_some(RestoreSourceResult::Found(todos));
            into.plan = plan;
            into.plan_mode = (self.sources.plan_mode)();
            let mut skills = (self.sources.skills)();
            skills.retain(|skill| !self.prefixes.reads().denies(&skill.path));
            into.skills = (!skills.is_empty()).then_some(RestoreSourceResult::Found(skills));
            let agents = (self.agents)();
            into.agents = (!agents.is_empty()).then_some(RestoreSourceResult::Found(agents));
            into.announcements = self.kinds.iter().cloned().collect();
            into.announcements.extend((self.sources.announcements)());
            gathered
        })
    }

    fn compact_instructions(&self) -> Boxed<'_, Option<String>> {
        Box::pin(async { Some(self.prefixes.compact_instructions()) })
    }
}

/// The workspace of a sub-agent: its files, and the project's compaction instructions.
pub(crate) struct SubAgentWorkspace {
    pub(crate) heads: Arc<PrefixBuilder>,
    pub(crate) restorer: FileRestorer,
}

impl Workspace for SubAgentWorkspace {
    fn gather<'a>(&'a self, wanted: &'a RestoreRequest) -> Boxed<'a, GatheredContext> {
        self.restorer.gather(wanted)
    }

    fn compact_instructions(&self) -> Boxed<'_, Option<String>> {
        Box::pin(async { Some(self.heads.compact_instructions()) })
    }
}

impl AgentWorkspace {
    /// Builds the request prefix. Memory files are read again, and hooks are notified (C1).
    async fn request_prefix(&self) -> Option<longhaul_core::prompt::RequestPrefix> {
        let made = match self.prefixes.make() {
            Ok(made) => made,
            Err(error) => {
                tracing::warn!(%error, "the request prefix stays as it was");
                return None;
            }
        };
        loaded(&self.hook_runner, &made.found, LoadReason::Compact).await;
        for notice in &made.found.notices {
            // The notices of the start were shown then; an import may be new.
            if matches!(
                notice,
                MemoryFileNotice::NotAgreed { .. } | MemoryFileNotice::Denied { .. }
            ) {
                self.hook_runner.event_sink.notice(notice.to_string());
            }
        }
        match made.prompt.request_prefix(&self.spec) {
            Ok(head) => Some(head),
            Err(error) => {
                tracing::warn!(%error, "the request prefix stays as it was");
                None
            }
        }
    }
}

/// Tells hooks which memory files were loaded.
pub(crate) async fn loaded(ringer: &HookRunner, found: &FoundMemoryFiles, reason: LoadReason) {
    loaded_for(ringer, found, reason, None).await;
}

/// Tells hooks which memory files were loaded because a file was read.
pub(crate) async fn loaded_for(
    ringer: &HookRunner,
    found: &FoundMemoryFiles,
    reason: LoadReason,
    read: Option<&Path>,
) {
    for file in &found.files {
        let event = HookEvent::InstructionsLoaded {
            file_path: file.path.clone(),
            memory_type: match file.kind {
                MemoryFileKind::User => MemoryType::User,
                MemoryFileKind::Project => MemoryType::Project,
                MemoryFileKind::Local => MemoryType::Local,
            },
            load_reason: match (&file.imported_by, reason) {
                (Some(_), LoadReason::SessionStart) => LoadReason::Include,
                _ => reason,
            },
            globs: Vec::new(),
            trigger_file_path: read.map(Path::to_owned),
            parent_file_path: file.imported_by.clone(),
        };
        let _ = ringer.run_hooks(event).await;
    }
}

fn todo(todo: crate::event::TodoItem) -> TodoListItem {
    let status = match todo.status {
        TodoStatus::Pending => "pending",
        TodoStatus::InProgress => "in_progress",
        TodoStatus::Completed => "completed",
    };
    TodoListItem {
        content: todo.content,
        status: status.to_owned(),
        active_form: (!todo.active_form.is_empty()).then_some(todo.active_form),
    }
}
