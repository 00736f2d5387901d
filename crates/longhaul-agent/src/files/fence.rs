//! The fence around the workspace: which resolved paths are inside. What follows from that is decided in `permission`.

use std::path::{Path, PathBuf};

use super::{UnusableFile, resolve};
use crate::session_paths::SessionPaths;

/// What a path is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathPurpose {
    /// To read it or what is below it.
    Read,
    /// To write it.
    Write,
}

/// Which side of the fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FenceSide {
    /// In the folder the agent works in, or in one that the user opened to it.
    Inside,
    /// Anywhere else.
    Outside,
}

/// The folders that an agent works in.
#[derive(Debug, Clone)]
pub struct FolderFence {
    folders: Vec<PathBuf>,
    /// The session's own: long outputs and the transcript, which the model is told to look things up in.
    own: Vec<PathBuf>,
    cwd: PathBuf,
}

impl FolderFence {
    /// The fence of a place.
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

    /// Where a path as the model gave it leads: `~` is the user's home, all else is relative to the workspace.
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

    /// A resolved path as it is shown: relative to the workspace if it is in there.
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
