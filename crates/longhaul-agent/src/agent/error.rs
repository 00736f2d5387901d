//! Why an agent cannot do what it was asked to do.

use std::path::PathBuf;

use longhaul::branches::BranchError;
use longhaul::rewind::RewindError;
use longhaul::session::OpenError;
use longhaul::undo::UndoError;
use longhaul_store::layout::{FindError, HomeError};
use longhaul_store::{ForkError, SessionInUse};

use super::request_prefix::PrefixBuildError;

/// Why an agent cannot do what it was asked to do. The session is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// It is not known where sessions are stored.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// There is no such session, or more than one.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The folder has no session to resume.
    #[error("there is no session in {} to resume yet; start one without --continue", cwd.display())]
    NoSession {
        /// The folder that was searched.
        cwd: PathBuf,
    },
    /// The id that a new session was to have is no UUID.
    #[error(
        "{id:?} is not a UUID: --session-id takes one, such as 3f2b8c1e-5d47-4a9b-8e60-1c2d3e4f5a6b, and --resume the beginning of an id"
    )]
    NotUuid {
        /// What was given.
        id: String,
    },
    /// There is a session with the id that a new one was to have.
    #[error("there is a session {id} already; --resume {id} continues it")]
    SessionExists {
        /// The id.
        id: String,
    },
    /// Another process has the session open.
    #[error(transparent)]
    InUse(#[from] SessionInUse),
    /// Another process has the session open, and the user wants no copy of it.
    #[error("nothing was opened")]
    NotCopied,
    /// The branch could not be resumed.
    #[error(transparent)]
    Branch(#[from] BranchError),
    /// Another program's session could not be copied.
    #[error(transparent)]
    Fork(#[from] ForkError),
    /// The transcript's metadata cannot be read.
    #[error("cannot access {}: {source}", path.display())]
    Look {
        /// The path of the transcript.
        path: PathBuf,
        /// Why it cannot be read.
        source: std::io::Error,
    },
    /// The session cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The request prefix cannot be built.
    #[error(transparent)]
    Head(#[from] PrefixBuildError),
    /// The rewind failed; nothing was changed.
    #[error(transparent)]
    Rewind(#[from] RewindError),
    /// The undo failed; nothing was changed.
    #[error(transparent)]
    Undo(#[from] UndoError),
    /// The transcript cannot be read.
    #[error(transparent)]
    Read(#[from] longhaul_store::ReadError),
}

impl AgentError {
    /// Which process has the session open, if that is the reason.
    pub fn in_use(&self) -> Option<&SessionInUse> {
        match self {
            Self::InUse(in_use) | Self::Open(OpenError::InUse(in_use)) => Some(in_use),
            _ => None,
        }
    }
}
