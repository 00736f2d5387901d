//! The tools of a session that touch neither files nor the shell.

use std::path::PathBuf;
use std::sync::Arc;

use longhaul_core::prompt::UserPresence;
use longhaul_core::rehydrate::RestoreInput;

use super::ask_user::AskUserQuestionTool;
use super::mcp::{CallServerTool, McpServers};
use super::plan::{EnterPlanModeTool, ExitPlanModeTool, PlanState};
use super::recall::RecallTool;
use super::skill::{SkillTool, Skills};
use super::todo::{TodoList, TodoWriteTool};
use super::web_fetch::{WebFetchOptions, WebFetchTool};
use crate::tool::Tool;

/// What these tools work with. A session keeps its own references to the shared parts, for the screen and for
/// rehydration.
#[derive(Clone)]
pub struct ToolServices {
    /// The todo list.
    pub todos: Arc<TodoList>,
    /// The state of plan mode.
    pub plan: Arc<PlanState>,
    /// The skills. Without any, there is no skill tool.
    pub skills: Arc<Skills>,
    /// How pages are fetched.
    pub web: WebFetchOptions,
    /// The archive, and the transcript that it is built from. Without them, there is no recall tool.
    pub archive: Option<(PathBuf, PathBuf)>,
    /// The MCP servers, if there are any.
    pub servers: Option<Arc<McpServers>>,
    /// Whether a user is present. Without one, nobody can be asked.
    pub presence: UserPresence,
}

impl ToolServices {
    /// The state that goes back into the window after a compaction (R2, R3, R5). Files and agents are added elsewhere.
    pub fn gathered(&self) -> RestoreInput {
        let servers = self.servers.as_ref();
        RestoreInput {
            todos: self.todos.gathered(),
            plan: self.plan.gathered(),
            plan_mode: self.plan.reminder(),
            skills: self.skills.gathered(),
            announcements: servers
                .and_then(|all| all.announcement())
                .into_iter()
                .collect(),
            ..RestoreInput::default()
        }
    }
}

/// Our own tools, always in the same order (B5). Those of servers are added where a conversation is built.
pub fn services(with: &ToolServices) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(WebFetchTool::new(with.web.clone())),
        Arc::new(TodoWriteTool::new(with.todos.clone())),
        Arc::new(EnterPlanModeTool::new(with.plan.clone())),
        Arc::new(ExitPlanModeTool::new(with.plan.clone())),
    ];
    if with.presence == UserPresence::Attended {
        tools.push(Arc::new(AskUserQuestionTool));
    }
    if with.skills.for_model().next().is_some() {
        tools.push(Arc::new(SkillTool::new(with.skills.clone())));
    }
    if let Some((archive, transcript)) = with.archive.clone() {
        tools.push(Arc::new(RecallTool::new(archive, transcript)));
    }
    if let Some(servers) = &with.servers {
        tools.push(Arc::new(CallServerTool::new(servers.clone())));
    }
    tools
}
