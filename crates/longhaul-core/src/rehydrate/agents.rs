//! Agents in the background (R4): told again, so that none is started twice.

use serde_json::json;

use super::restore::RestoredAttachment;

/// How far a background agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentState {
    /// Still at work.
    Running,
    /// Done, and its result was not collected yet.
    Finished,
    /// Failed, and this was not collected yet.
    Failed,
}

impl AgentState {
    fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Finished => "completed",
            Self::Failed => "failed",
        }
    }
}

/// An agent in the background whose result was not collected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackgroundAgent {
    /// Its id.
    pub id: String,
    /// What it was told to do, in a line.
    pub description: String,
    /// How far it is.
    pub state: AgentState,
    /// The newest it said, in a line.
    pub summary: Option<String>,
}

pub(super) fn attachment(agent: &BackgroundAgent) -> RestoredAttachment {
    RestoredAttachment::whole(json!({
        "type": "task_status",
        "taskId": agent.id,
        "taskType": "local_agent",
        "description": agent.description,
        "status": agent.state.as_str(),
        "deltaSummary": agent.summary,
    }))
}
