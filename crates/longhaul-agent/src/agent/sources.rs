//! What the tools of a session hold that a compaction must not lose (R2 to R5): asked for when it is needed.

use std::path::Path;
use std::sync::Arc;

use longhaul_core::engine::{Event, LiveConversation};
use longhaul_core::prompt::ServerInstructions;
use longhaul_core::rehydrate::{InvokedSkill, PlanFile, RestoreSourceResult};
use serde_json::Value;

use crate::event::TodoItem;

/// A question that a tool answers.
pub type Ask<T> = Arc<dyn Fn() -> T + Send + Sync>;

/// Where to ask. What is not there answers with nothing.
#[derive(Clone)]
pub struct ToolStateSources {
    /// The todo list.
    pub todos: Ask<Vec<TodoItem>>,
    /// The plan file, if there is one.
    pub plan: Ask<Option<RestoreSourceResult<PlanFile>>>,
    /// The reminder of plan mode, when it is on.
    pub plan_mode: Ask<Option<String>>,
    /// Skills that were invoked.
    pub skills: Ask<Vec<InvokedSkill>>,
    /// The list of all skills, said once when a session begins.
    pub skill_listing: Ask<Option<String>>,
    /// Whether the tools showed the model this very file, by its resolved path: after a compaction it may be read again, also
    /// outside of the workspace (R1).
    pub knows: Arc<dyn Fn(&Path) -> bool + Send + Sync>,
    /// What connected servers say about themselves.
    pub servers: Ask<Vec<ServerInstructions>>,
    /// Tools, agents and servers as attachments, as against an empty history (R5).
    pub announcements: Ask<Vec<Value>>,
    /// Hears what happens to the conversation whose tools these are: what they hold of cleared results and files must not
    /// outlive them (R7).
    pub heard: Arc<dyn Fn(&Event) + Send + Sync>,
    /// Gets the conversation when a session is opened again: what tools held is found in it.
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
            heard: Arc::new(|_| {}),
            reopened: Arc::new(|_| {}),
        }
    }
}
