//! The paths at which an agent works and at which its session is stored. `permission` decides which calls may use
//! which paths.

use std::path::PathBuf;

use longhaul::session::new_session_id;
use longhaul_store::layout::subagents_folder;

/// The folders of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPaths {
    /// The folder that the agent works in, absolute, links resolved.
    pub cwd: PathBuf,
    /// Further folders that the user opened to the agent, absolute, links resolved.
    pub more: Vec<PathBuf>,
    /// The session's transcript.
    pub transcript: PathBuf,
}

impl SessionPaths {
    /// The session's own folder next to its transcript: sub-agents, notes, long outputs, plans.
    pub fn session_folder(&self) -> PathBuf {
        self.transcript.with_extension("")
    }

    /// The session's folder for temporary files of the agent.
    pub fn scratchpad(&self) -> PathBuf {
        self.session_folder().join("scratchpad")
    }

    /// An id and a transcript path for a new sub-agent of the session.
    pub(crate) fn new_sub_agent(&self) -> (String, PathBuf) {
        let id: String = new_session_id()
            .chars()
            .filter(|c| *c != '-')
            .take(7)
            .collect();
        let id = format!("a{id}");
        let file = format!("agent-{id}.jsonl");
        (id, subagents_folder(&self.transcript).join(file))
    }
}
