//! Reports background agents again (R4), so that none is started twice.

use serde_json::json;

use super::restored_attachment::RestoredAttachment;

/// The state of a background agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentState {
    /// The agent is still working.
    Running,
    /// The agent has finished, and its result has not been collected yet.
    Finished,
    /// The agent has failed, and the failure has not been collected yet.
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

/// A background agent whose result has not been collected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackgroundAgent {
    /// The agent's id.
    pub id: String,
    /// The agent's task, in one line.
    pub description: String,
    /// The agent's state.
    pub state: AgentState,
    /// The agent's newest message, in one line.
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
