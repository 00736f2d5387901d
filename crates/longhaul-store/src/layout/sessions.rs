//! The sessions of one project.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{SessionId, UnlistedPath, peek, subagents_folder, walk};

/// A session, as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionOverview {
    /// The session's id.
    pub id: SessionId,
    /// The path of the transcript.
    pub path: PathBuf,
    /// The transcript's size in bytes.
    pub size: u64,
    /// When the transcript was last changed.
    pub modified: SystemTime,
    /// The first thing the user said, if it is near the beginning of the file.
    pub title: Option<String>,
    /// The number of sub-agent conversations in files of their own.
    pub subagents: usize,
}

/// The sessions of a project.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct SessionList {
    /// The sessions, newest first.
    pub sessions: Vec<SessionOverview>,
    /// The paths that could not be read.
    pub problems: Vec<UnlistedPath>,
}

/// Lists the sessions in a project's folder. A folder that does not exist has none.
pub fn sessions(project_folder: &Path) -> SessionList {
    let _span = tracing::debug_span!("sessions", folder = %project_folder.display()).entered();
    let mut list = SessionList::default();
    for path in walk::children(project_folder, &mut list.problems) {
        let Some(id) = SessionId::of_transcript(&path).filter(|id| !id.is_subagent()) else {
            continue;
        };
        match session(id, &path) {
            Ok(session) => list.sessions.extend(session),
            Err(error) => list.problems.push(UnlistedPath::new(path, error)),
        }
    }
    // By time, then by name, so that the order is the same every time.
    list.sessions
        .sort_by(|a, b| (b.modified, &a.id).cmp(&(a.modified, &b.id)));
    tracing::debug!(sessions = list.sessions.len(), "listed");
    list
}

fn session(id: SessionId, path: &Path) -> std::io::Result<Option<SessionOverview>> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Ok(None);
    }
    let subagents = walk::children(&subagents_folder(path), &mut Vec::new())
        .iter()
        .filter_map(|path| SessionId::of_transcript(path))
        .filter(SessionId::is_subagent)
        .count();
    Ok(Some(SessionOverview {
        id,
        path: path.to_owned(),
        size: metadata.len(),
        modified: metadata.modified()?,
        title: peek::title(path)?,
        subagents,
    }))
}
