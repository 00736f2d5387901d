//! Where an agent works, and where its session is kept. Paths only; who may touch what is in `permission`.

use std::path::PathBuf;

/// The folders of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPaths {
    /// The folder the agent works in, absolute, links resolved.
    pub cwd: PathBuf,
    /// Further folders that the user opened to it, absolute, links resolved.
    pub more: Vec<PathBuf>,
    /// The transcript.
    pub transcript: PathBuf,
}

impl SessionPaths {
    /// The session's own folder beside its transcript: sub-agents, notes, long outputs, plans.
    pub fn session_folder(&self) -> PathBuf {
        self.transcript.with_extension("")
    }

    /// The session's folder for temporary files of the agent.
    pub fn scratchpad(&self) -> PathBuf {
        self.session_folder().join("scratchpad")
    }
}
