//! Where the path of a call led when its permission was decided. If the path leads elsewhere by the time the call runs,
//! the call is refused: nobody agreed to that.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::files::{FolderFence, UnusableFile};
use crate::session_paths::SessionPaths;
use crate::tool::ToolAccess;

/// The maximum number of remembered paths; a call runs soon after its decision.
const REMEMBERED: usize = 1_000;

/// The paths that permissions were decided for.
pub(super) struct JudgedPaths {
    pub(super) fence: FolderFence,
    paths: Mutex<HashMap<String, PathBuf>>,
}

impl JudgedPaths {
    pub(super) fn new(place: &SessionPaths) -> Self {
        Self {
            fence: FolderFence::of(place),
            paths: Mutex::default(),
        }
    }

    /// Resolves and remembers a path for the permission decision. `None` if the path is unusable and the call will be
    /// refused.
    fn judge(&self, given: &str) -> Option<PathBuf> {
        let path = self.fence.resolve(given).ok()?;
        let mut paths = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        if paths.len() >= REMEMBERED {
            paths.clear();
        }
        paths.insert(given.to_owned(), path.clone());
        Some(path)
    }

    /// What a call would touch, by where its path leads: nothing if the path is unusable, because the call will be
    /// refused.
    pub(super) fn access(&self, given: &str, kind: fn(PathBuf) -> ToolAccess) -> ToolAccess {
        self.judge(given).map_or(ToolAccess::Nothing, kind)
    }

    /// Where a path leads now, if that is where it led when the permission was decided.
    pub(super) fn path(&self, given: &str) -> Result<PathBuf, UnusableFile> {
        let path = self.fence.resolve(given)?;
        let paths = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        match paths.get(given) {
            Some(judged) if *judged != path => Err(UnusableFile::Swapped(path)),
            _ => Ok(path),
        }
    }

    pub(super) fn shown(&self, path: &Path) -> String {
        self.fence.shown(path).into_owned()
    }

    /// A given path in the form in which it is shown.
    pub(super) fn line(&self, given: &str) -> String {
        match self.fence.resolve(given) {
            Ok(path) => self.shown(&path),
            Err(_) => given.to_owned(),
        }
    }
}
