//! The folder that commands run in: where the last one ended, as long as that is inside of the workspace.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::system;
use crate::files::{FenceSide, FolderFence, PathPurpose};
use crate::session_paths::SessionPaths;

const MOVED: &str = include_str!("moved.md");

pub(super) struct ShellFolder {
    home: PathBuf,
    now: Mutex<PathBuf>,
}

impl ShellFolder {
    pub(super) fn new(place: &SessionPaths) -> Self {
        Self {
            home: place.cwd.clone(),
            now: Mutex::new(place.cwd.clone()),
        }
    }

    /// The folder that the next command runs in.
    pub(super) fn now(&self) -> PathBuf {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        // A command may have deleted the folder that it was in.
        if !now.is_dir() {
            now.clone_from(&self.home);
        }
        now.clone()
    }

    /// Takes the folder that a command ended in from this file. If the shell is moved back, returns a note for the
    /// model.
    pub(super) fn ended_in(&self, said: &Path, fence: &FolderFence) -> Option<String> {
        let said = std::fs::read(said).ok()?;
        let path = system::path_of(said.strip_suffix(b"\n")?)?;
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        if path == *now {
            return None;
        }
        match fence.judge(&path, PathPurpose::Write) {
            FenceSide::Inside => {
                *now = path;
                None
            }
            FenceSide::Outside => {
                now.clone_from(&self.home);
                let folder = self.home.display().to_string();
                Some(MOVED.trim_end().replace("{folder}", &folder))
            }
        }
    }
}
