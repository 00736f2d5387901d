//! The tools that are neither files nor shell, as a session needs them.

use std::path::PathBuf;
use std::sync::Arc;

use longhaul_core::rehydrate::Gathered;

use super::mcp::Servers;
use super::plan::{EnterPlanMode, ExitPlanMode, PlanState};
use super::recall::Recall;
use super::skill::{SkillTool, Skills};
use super::todo::{TodoWrite, Todos};
use super::web_fetch::{Options, WebFetch};
use crate::tool::Tool;

/// What these tools work with. A session keeps its own hold of the shared parts, for the screen and for rehydration.
#[derive(Clone)]
pub struct Services {
    /// The todo list.
    pub todos: Arc<Todos>,
    /// Plan mode.
    pub plan: Arc<PlanState>,
    /// The skills. Without any there is no tool for them.
    pub skills: Arc<Skills>,
    /// How pages are fetched.
    pub web: Options,
    /// The archive, and the transcript it is made from. Without them there is nothing to recall from.
    pub archive: Option<(PathBuf, PathBuf)>,
    /// The MCP servers that run.
    pub servers: Option<Arc<Servers>>,
}

impl Services {
    /// What of it goes back into the window after a compaction (R2, R3, R5). Files and agents are others' to add.
    pub fn gathered(&self) -> Gathered {
        let servers = self.servers.as_ref();
        Gathered {
            todos: self.todos.gathered(),
            plan: self.plan.gathered(),
            plan_mode: self.plan.reminder(),
            skills: self.skills.gathered(),
            announcements: servers
                .and_then(|all| all.announcement())
                .into_iter()
                .collect(),
            ..Gathered::default()
        }
    }
}

/// The tools, in an order that is the same each time (B5): ours first, then those of servers.
pub fn services(with: &Services) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(WebFetch::new(with.web.clone())),
        Arc::new(TodoWrite::new(with.todos.clone())),
        Arc::new(EnterPlanMode::new(with.plan.clone())),
        Arc::new(ExitPlanMode::new(with.plan.clone())),
    ];
    if with.skills.for_model().next().is_some() {
        tools.push(Arc::new(SkillTool::new(with.skills.clone())));
    }
    if let Some((archive, transcript)) = with.archive.clone() {
        tools.push(Arc::new(Recall::new(archive, transcript)));
    }
    if let Some(servers) = &with.servers {
        tools.extend(servers.tools().iter().cloned());
    }
    tools
}
