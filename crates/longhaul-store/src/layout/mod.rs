//! Where transcripts are: the layout that Claude Code uses, for its sessions and for ours (M3, G2).
//!
//! Sessions are in `<root>/projects/<folder>/<session>.jsonl`, and the conversations of a session's sub-agents in
//! `<root>/projects/<folder>/<session>/subagents/agent-*.jsonl`. Everything here is read-only;
//! [`ownership`](crate::ownership) decides which program may change which session.

mod find;
mod folder;
mod home;
mod notes;
mod peek;
mod session;
mod sessions;
mod walk;

use std::io;
use std::path::PathBuf;

pub use find::{FindError, find_session};
pub use folder::folder_name;
pub use home::{Env, Home, HomeError, HomeOwner};
pub use notes::NotesFiles;
pub use peek::working_folder;
pub use session::{BadSessionId, SessionId, subagents_folder};
pub use sessions::{SessionList, SessionOverview, sessions};
pub use walk::{Transcripts, transcripts_under};

pub(crate) use folder::is_one_name;
pub(crate) use walk::children;

/// The extension of transcripts.
pub(crate) const EXTENSION: &str = "jsonl";

/// A path that could not be read. The rest of the list is valid.
#[derive(Debug, thiserror::Error)]
#[error("cannot look at {}: {source}", path.display())]
#[non_exhaustive]
pub struct UnlistedPath {
    /// The path of the file or folder.
    pub path: PathBuf,
    /// The underlying error.
    pub source: io::Error,
}

impl UnlistedPath {
    pub(crate) fn new(path: impl Into<PathBuf>, source: io::Error) -> Self {
        let path = path.into();
        tracing::debug!(path = %path.display(), error = %source, "left out of a list");
        Self { path, source }
    }
}
