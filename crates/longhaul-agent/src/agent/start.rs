//! Which session an agent works on (G2): a new one, the newest of this folder, or one by its id. Another program's is copied
//! first, and the copy is ours. One that another process has open is not worked on; what is done instead is in `resuming.rs`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use longhaul::hooks::StartSource;
use longhaul::session::new_session_id;
use longhaul_store::layout::{Home, SessionId, find_session, sessions};
use longhaul_store::ownership::is_ours;
use longhaul_store::{Lease, LeaseError, SessionInUse, fork};

use super::agent_spec::AgentSpec;
use super::error::AgentError;

/// Which session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SessionChoice {
    /// A new one.
    #[default]
    New,
    /// The newest one of the folder.
    Continue,
    /// The one whose id is this or begins like this, or the transcript at this path.
    Resume(String),
}

/// Takes a transcript away in which nothing was ever said.
pub(crate) fn forget_if_empty(transcript: &std::path::Path) {
    if std::fs::metadata(transcript).is_ok_and(|file| file.len() == 0) {
        // If it cannot be, it is an empty file that no list shows.
        let _ = std::fs::remove_file(transcript);
    }
}

/// A session that was settled on.
#[derive(Debug, Clone)]
pub(crate) struct ChosenSession {
    pub(crate) id: String,
    pub(crate) transcript: PathBuf,
    pub(crate) source: StartSource,
    /// Said to the user.
    pub(crate) notice: Option<String>,
    /// Keeps other processes from it until it is open and has taken its own share of it; none where no lock can be had, and for a new one.
    pub(crate) lease: Option<Arc<Lease>>,
}

impl ChosenSession {
    /// A new session.
    pub(crate) fn new(recipe: &AgentSpec, source: StartSource) -> Result<Self, AgentError> {
        let home = Home::longhaul(&recipe.env)?;
        let id = new_session_id();
        Ok(Self {
            transcript: home.project_folder(&recipe.cwd).join(format!("{id}.jsonl")),
            id,
            source,
            notice: None,
            lease: None,
        })
    }

    pub(crate) fn on(recipe: &AgentSpec, start: &SessionChoice) -> Result<Self, AgentError> {
        match start {
            SessionChoice::New => Self::new(recipe, StartSource::Startup),
            SessionChoice::Continue => Self::newest(recipe),
            SessionChoice::Resume(id) => Self::named(recipe, id),
        }
    }

    fn newest(recipe: &AgentSpec) -> Result<Self, AgentError> {
        let home = Home::longhaul(&recipe.env)?;
        let (folders, _) = home.find_project(&recipe.cwd);
        let all = folders.iter().flat_map(|folder| sessions(folder).sessions);
        // One in which nothing was ever said is none.
        let newest = all
            .filter(|session| session.size > 0)
            .max_by_key(|session| session.modified);
        let newest = newest.ok_or_else(|| AgentError::NoSession {
            cwd: recipe.cwd.clone(),
        })?;
        Self::ours(newest.path)
    }

    fn named(recipe: &AgentSpec, id: &str) -> Result<Self, AgentError> {
        let home = Home::longhaul(&recipe.env)?;
        let as_path = PathBuf::from(id);
        let path = if as_path.is_file() {
            as_path
        } else {
            let claude = Home::claude(&recipe.env).ok();
            let homes: Vec<&Home> = std::iter::once(&home).chain(&claude).collect();
            find_session(&homes, id)?
        };
        let look = |source| AgentError::Look {
            path: path.clone(),
            source,
        };
        if is_ours(&path, &home).map_err(look)? {
            return Self::ours(path);
        }
        let why = format!(
            "{} belongs to another program and stays as it is",
            path.display()
        );
        Self::copy_of(recipe, &path, &why)
    }

    /// A copy of a session, for this reason.
    pub(crate) fn copy_of(recipe: &AgentSpec, path: &Path, why: &str) -> Result<Self, AgentError> {
        let home = Home::longhaul(&recipe.env)?;
        let new = new_session_id();
        let new = SessionId::parse(&new).map_err(longhaul_store::layout::FindError::from)?;
        let copy = fork(path, &home, &new, SystemTime::now())?;
        Ok(Self {
            notice: Some(format!("{why}; this goes on in a copy, session {new}.")),
            id: new.as_str().to_owned(),
            transcript: copy,
            source: StartSource::Fork,
            lease: None,
        })
    }

    fn ours(transcript: PathBuf) -> Result<Self, AgentError> {
        let id = SessionId::of_transcript(&transcript);
        Ok(Self {
            id: id.map_or_else(new_session_id, |id| id.as_str().to_owned()),
            lease: lease(&transcript)?,
            transcript,
            source: StartSource::Resume,
            notice: None,
        })
    }
}

/// The lease of a session that goes on. Taken before hooks are told and the old session is left: a session that is in use
/// changes nothing.
fn lease(transcript: &Path) -> Result<Option<Arc<Lease>>, SessionInUse> {
    match Lease::take(transcript) {
        Ok(lease) => Ok(Some(lease)),
        Err(LeaseError::InUse(in_use)) => Err(in_use),
        // The session itself is opened without one then, and says so.
        Err(LeaseError::NotTaken { .. }) => Ok(None),
    }
}
