//! Tool state of a session that a compaction must not lose (R2 to R5). It is asked for when it is needed.

use std::path::Path;
use std::sync::Arc;

use longhaul_core::engine::{Event, LiveConversation};
use longhaul_core::prompt::ServerInstructions;
use longhaul_core::rehydrate::{InvokedSkill, PlanFile, RestoreSourceResult};
use serde_json::Value;

use crate::event::TodoItem;
use crate::tool::LateTools;

/// A question that a tool answers.
pub type SourceFn<T> = Arc<dyn Fn() -> T + Send + Sync>;

/// Where to ask for the state of tools. A tool that does not exist answers with nothing.
#[derive(Clone)]
pub struct ToolStateSources {
    /// The items of the todo list.
    pub todos: SourceFn<Vec<TodoItem>>,
    /// The plan file, if there is one.
    pub plan: SourceFn<Option<RestoreSourceResult<PlanFile>>>,
    /// The plan mode reminder, while plan mode is on.
    pub plan_mode: SourceFn<Option<String>>,
    /// Skills that were invoked.
    pub skills: SourceFn<Vec<InvokedSkill>>,
    /// The list of all skills, sent once when a session begins.
    pub skill_listing: SourceFn<Option<String>>,
    /// Whether the tools have shown the model this very file, given by its resolved path. If so, it may be read again
    /// after a compaction, even outside of the workspace (R1).
    pub knows: Arc<dyn Fn(&Path) -> bool + Send + Sync>,
    /// The instructions of connected servers.
    pub servers: SourceFn<Vec<ServerInstructions>>,
    /// Tools, agents and servers as attachments, compared with an empty history (R5).
    pub announcements: SourceFn<Vec<Value>>,
    /// Tools that may come after the conversation has begun.
    pub late_tools: Option<Arc<dyn LateTools>>,
    /// Receives the events of the conversation that the tools belong to: tool state about cleared results and files
    /// must not outlive them (R7).
    pub heard: Arc<dyn Fn(&Event) + Send + Sync>,
    /// Receives the conversation when a session is reopened: tools restore their state from it.
    pub reopened: Arc<dyn Fn(&LiveConversation) + Send + Sync>,
}

impl Default for ToolStateSources {
    fn default() -> Self {
        Self {
            todos: Arc::new(Vec::new),
            plan: Arc::new(|| None),
            plan_mode: Arc::new(|| None),
            skills: Arc::new(Vec::new),
            skill_listing: Arc::new(|| None),
            knows: Arc::new(|_| false),
            servers: Arc::new(Vec::new),
            announcements: Arc::new(Vec::new),
            late_tools: None,
            heard: Arc::new(|_| {}),
            reopened: Arc::new(|_| {}),
        }
    }
}
