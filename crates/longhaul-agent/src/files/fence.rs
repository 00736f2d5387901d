//! The fence around the workspace: which resolved paths are inside. `permission` decides what follows from that.

use std::path::{Path, PathBuf};

use super::{UnusableFile, resolve};
use crate::session_paths::SessionPaths;

/// What a path is needed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathPurpose {
    /// To read the path, or files inside it.
    Read,
    /// To write the path.
    Write,
}

/// Which side of the fence a path is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FenceSide {
    /// In the agent's working folder, or in one that the user opened to it.
    Inside,
    /// Anywhere else.
    Outside,
}

/// The folders that an agent works in.
#[derive(Debug, Clone)]
pub struct FolderFence {
    folders: Vec<PathBuf>,
    /// The session's own paths: long outputs and the transcript, in which the model is told to look things up.
    own: Vec<PathBuf>,
    cwd: PathBuf,
}

impl FolderFence {
    /// The fence of a session.
    pub fn of(place: &SessionPaths) -> Self {
        let resolved = |path: &Path| resolve(path).unwrap_or_else(|_| path.to_owned());
        let folders = std::iter::once(&place.cwd).chain(&place.more);
        Self {
            folders: folders.map(|path| resolved(path)).collect(),
            own: vec![
                resolved(&place.session_folder()),
                resolved(&place.transcript),
            ],
            cwd: place.cwd.clone(),
        }
    }

    /// Resolves a path from the model: `~` is the user's home, any other path is relative to the workspace.
    pub fn resolve(&self, given: &str) -> Result<PathBuf, UnusableFile> {
        if given.trim().is_empty() || given.contains('\0') {
            return Err(UnusableFile::NoPath);
        }
        let home = (given == "~" || given.starts_with("~/")).then(std::env::home_dir);
        match home.flatten() {
            Some(home) => resolve(&home.join(given[1..].trim_start_matches('/'))),
            None => resolve(&self.cwd.join(given)),
        }
    }

    /// Which side of the fence a resolved path is on.
    pub fn judge(&self, path: &Path, purpose: PathPurpose) -> FenceSide {
        let own = self.own.iter().filter(|_| purpose == PathPurpose::Read);
        if self
            .folders
            .iter()
            .chain(own)
            .any(|it| path.starts_with(it))
        {
            FenceSide::Inside
        } else {
            FenceSide::Outside
        }
    }

    /// A resolved path in the form in which it is shown: relative to the workspace if it is in there.
    pub fn shown<'a>(&self, path: &'a Path) -> std::borrow::Cow<'a, str> {
        let inside = self
            .folders
            .first()
            .and_then(|cwd| path.strip_prefix(cwd).ok());
        match inside {
            Some(inside) if !inside.as_os_str().is_empty() => inside.to_string_lossy(),
            _ => path.to_string_lossy(),
        }
    }
}
