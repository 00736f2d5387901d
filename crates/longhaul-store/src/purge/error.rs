//! Errors that prevent a purge.

use std::io;
use std::path::PathBuf;

use crate::layout::SessionId;

/// No plan could be made; nothing was deleted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PurgeError {
    /// The home belongs to another program.
    #[error("{} belongs to another program: its sessions are not deleted here", path.display())]
    NotOurs {
        /// The root of the home.
        path: PathBuf,
    },
    /// The home is the whole disk, or holds the user's home folder.
    #[error("{} is not a folder of Longhaul's own: set LONGHAUL_HOME to one before purging", path.display())]
    TooWide {
        /// The root of the home.
        path: PathBuf,
    },
    /// `projects` is a link or a file, so what it leads to may not be ours.
    #[error("{} is not a folder but a link or a file: nothing is deleted through it", path.display())]
    NotAFolder {
        /// The path of `projects`.
        path: PathBuf,
    },
    /// No session has this id.
    #[error("no session {id} found under {}", projects.display())]
    NoSuchSession {
        /// The id of the session.
        id: SessionId,
        /// The projects folder that was searched.
        projects: PathBuf,
    },
    /// The home cannot be read.
    #[error("cannot look at {}: {source}", path.display())]
    Unreadable {
        /// The path that cannot be read.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
}
