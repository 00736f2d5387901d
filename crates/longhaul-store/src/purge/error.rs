//! Why nothing is purged.

use std::io;
use std::path::PathBuf;

use crate::layout::SessionId;

/// There is no plan; nothing was deleted.
#[derive(Debug, thiserror::Error)]
pub enum PurgeError {
    /// The home belongs to another program.
    #[error("{} belongs to another program: its sessions are not deleted here", path.display())]
    NotOurs {
        /// Its root.
        path: PathBuf,
    },
    /// The home is the whole disk, or holds the user's home folder.
    #[error("{} is no folder of Longhaul's own: set LONGHAUL_HOME to one before purging", path.display())]
    TooWide {
        /// Its root.
        path: PathBuf,
    },
    /// `projects` is a link or a file: what it leads to may not be ours.
    #[error("{} is not a folder but a link or a file: nothing is deleted through it", path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// No session of this id.
    #[error("no session {id} found under {}", projects.display())]
    NoSuchSession {
        /// The id.
        id: SessionId,
        /// Where it was looked for.
        projects: PathBuf,
    },
    /// The home cannot be looked at.
    #[error("cannot look at {}: {source}", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}
