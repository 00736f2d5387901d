//! Which session an agent works on (G2): a new one, the newest of this folder, or one given by its id. Another
//! program's session is copied first, and the copy is ours. A session that another process has open is not used;
//! `resuming.rs` decides what happens instead.

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

/// Which session to open.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SessionChoice {
    /// A new session.
    #[default]
    New,
    /// A new session with this id, which none may have yet.
    NewWithId(String),
    /// The newest session of the folder.
    Continue,
    /// The session whose id equals or begins with this, or the transcript at this path.
    Resume(String),
}

/// Deletes a transcript that contains no prompt.
pub(crate) fn forget_if_empty(transcript: &std::path::Path) {
    if std::fs::metadata(transcript).is_ok_and(|file| file.len() == 0) {
        // If this fails, an empty file remains, which no list shows.
        let _ = std::fs::remove_file(transcript);
    }
}

/// The session that was chosen.
#[derive(Debug, Clone)]
pub(crate) struct ChosenSession {
    pub(crate) id: String,
    pub(crate) transcript: PathBuf,
    pub(crate) source: StartSource,
    /// A notice for the user.
    pub(crate) notice: Option<String>,
    /// Keeps other processes away until the session is open and holds its own share of the lease; `None` if no lock can
    /// be taken, and for a new session.
    pub(crate) lease: Option<Arc<Lease>>,
}

impl ChosenSession {
    /// A new session with an id of the user's choice.
    fn with_id(recipe: &AgentSpec, id: &str) -> Result<Self, AgentError> {
        if !is_uuid(id) {
            return Err(AgentError::NotUuid { id: id.to_owned() });
        }
        // File names do not differ in case everywhere.
        let id = id.to_ascii_lowercase();
        let new = Self::of_id(recipe, StartSource::Startup, id)?;
        if new.transcript.exists() {
            return Err(AgentError::SessionExists { id: new.id });
        }
        Ok(new)
    }

    /// A new session.
    pub(crate) fn new(recipe: &AgentSpec, source: StartSource) -> Result<Self, AgentError> {
        Self::of_id(recipe, source, new_session_id())
    }

    fn of_id(recipe: &AgentSpec, source: StartSource, id: String) -> Result<Self, AgentError> {
        let home = Home::longhaul(&recipe.env)?;
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
            SessionChoice::NewWithId(id) => Self::with_id(recipe, id),
            SessionChoice::Continue => Self::newest(recipe),
            SessionChoice::Resume(id) => Self::named(recipe, id),
        }
    }

    fn newest(recipe: &AgentSpec) -> Result<Self, AgentError> {
        let home = Home::longhaul(&recipe.env)?;
        let (folders, _) = home.find_project(&recipe.cwd);
        let all = folders.iter().flat_map(|folder| sessions(folder).sessions);
        // A session without prompts does not count.
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

    /// A copy of a session, made for this reason.
    pub(crate) fn copy_of(recipe: &AgentSpec, path: &Path, why: &str) -> Result<Self, AgentError> {
        let home = Home::longhaul(&recipe.env)?;
        let new = new_session_id();
        let new = SessionId::parse(&new).map_err(longhaul_store::layout::FindError::from)?;
        let copy = fork(path, &home, &new, SystemTime::now())?;
        Ok(Self {
            notice: Some(format!("{why}; continuing in a copy, session {new}.")),
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

/// Whether an id has the form of a UUID, as other programs that read transcripts expect.
fn is_uuid(id: &str) -> bool {
    let is_hex = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parts: Vec<&str> = id.split('-').collect();
    parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12]) && parts.into_iter().all(is_hex)
}

/// Takes the lease of a session that is resumed. This happens before hooks are notified and the old session is left, so
/// that a session in use changes nothing.
fn lease(transcript: &Path) -> Result<Option<Arc<Lease>>, SessionInUse> {
    match Lease::take(transcript) {
        Ok(lease) => Ok(Some(lease)),
        Err(LeaseError::InUse(in_use)) => Err(in_use),
        // The session itself is then opened without a lease, and reports that.
        Err(_) => Ok(None),
    }
}
