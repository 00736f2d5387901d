//! The tools that are neither files nor shell, as a session needs them.

use std::path::PathBuf;
use std::sync::Arc;

use super::mcp::Servers;
use super::plan::{EnterPlanMode, ExitPlanMode, PlanState};
use super::recall::Recall;
use super::skill::{SkillTool, Skills};
use super::todo::{TodoWrite, Todos};
use super::web_fetch::{Options, WebFetch};
use crate::tool::Tool;

/// What these tools work with. A session keeps its own hold of the shared parts, for the screen and for rehydration.
pub struct Services<'a> {
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
    pub servers: Option<&'a Servers>,
}

/// The tools, in an order that is the same each time (B5): ours first, then those of servers.
pub fn services(with: Services<'_>) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(WebFetch::new(with.web)),
        Arc::new(TodoWrite::new(with.todos)),
        Arc::new(EnterPlanMode::new(with.plan.clone())),
        Arc::new(ExitPlanMode::new(with.plan)),
    ];
    if with.skills.for_model().next().is_some() {
        tools.push(Arc::new(SkillTool::new(with.skills)));
    }
    if let Some((archive, transcript)) = with.archive {
        tools.push(Arc::new(Recall::new(archive, transcript)));
    }
    let of_servers = with.servers.map(Servers::tools).unwrap_or_default();
    tools.extend(of_servers.iter().cloned());
    tools
}
