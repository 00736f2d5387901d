//! Why an agent cannot do what it was asked.

use std::path::PathBuf;

use longhaul::branches::BranchError;
use longhaul::rewind::RewindError;
use longhaul::session::OpenError;
use longhaul::undo::UndoError;
use longhaul_store::layout::{FindError, HomeError};
use longhaul_store::{ForkError, SessionInUse};

use super::request_prefix::PrefixBuildError;

/// Why not. The session is as it was.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// It is not known where sessions lie.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// There is no such session, or no single one.
    #[error(transparent)]
    Find(#[from] FindError),
    /// Nothing to go on with.
    #[error("there is no session of {} to go on with yet: start one without --continue", cwd.display())]
    NoSession {
        /// The folder.
        cwd: PathBuf,
    },
    /// Another process has the session open.
    #[error(transparent)]
    InUse(#[from] SessionInUse),
    /// A branch was not taken up.
    #[error(transparent)]
    Branch(#[from] BranchError),
    /// Another program's session could not be copied.
    #[error(transparent)]
    Fork(#[from] ForkError),
    /// The transcript cannot be looked at.
    #[error("cannot look at {}: {source}", path.display())]
    Look {
        /// The transcript.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The session cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// What stands before the messages cannot be made.
    #[error(transparent)]
    Head(#[from] PrefixBuildError),
    /// Nothing was rewound.
    #[error(transparent)]
    Rewind(#[from] RewindError),
    /// Nothing was taken back.
    #[error(transparent)]
    Undo(#[from] UndoError),
    /// The transcript cannot be read.
    #[error(transparent)]
    Read(#[from] longhaul_store::ReadError),
}

impl AgentError {
    /// Who has the session open, if that is the reason.
    pub fn in_use(&self) -> Option<&SessionInUse> {
        match self {
            Self::InUse(in_use) | Self::Open(OpenError::InUse(in_use)) => Some(in_use),
            _ => None,
        }
    }
}
