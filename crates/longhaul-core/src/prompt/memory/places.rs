//! Where memory files are searched for.

use std::path::{Path, PathBuf};

use super::{LOCAL_NAME, MemoryFileKind, SHARED_NAMES};

/// The folders of a session. All of them are absolute.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionFolders {
    /// The user's home, which `~/` in an import refers to.
    pub user_home: Option<PathBuf>,
    /// Claude Code's folder, usually `~/.claude`.
    pub claude_home: Option<PathBuf>,
    /// Longhaul's own folder.
    pub longhaul_home: Option<PathBuf>,
    /// The root of the project.
    pub project_root: PathBuf,
    /// The working directory, usually in the project.
    pub cwd: PathBuf,
}

impl SessionFolders {
    /// Returns the files to search for, in the order in which they are sent: the user's, the project's from its root
    /// down to the working directory, then the user's own for the project.
    pub(super) fn candidates(&self) -> Vec<(PathBuf, MemoryFileKind)> {
        let mut files = Vec::new();
        if let Some(home) = &self.claude_home {
            files.push((home.join("CLAUDE.md"), MemoryFileKind::User));
        }
        if let Some(home) = &self.longhaul_home {
            files.push((home.join("CLAUDE.md"), MemoryFileKind::User));
            files.push((home.join("AGENTS.md"), MemoryFileKind::User));
        }
        let folders = self.folders();
        for folder in &folders {
            files.extend(SHARED_NAMES.map(|name| (folder.join(name), MemoryFileKind::Project)));
        }
        files.extend(
            (folders.iter()).map(|folder| (folder.join(LOCAL_NAME), MemoryFileKind::Local)),
        );
        files
    }

    /// Returns the files to search for when a file is read: those of the folders from the project's root to that file,
    /// except for the folders whose files every session has. Returns none for a file outside of the project.
    pub(super) fn candidates_for(&self, file: &Path) -> Vec<(PathBuf, MemoryFileKind)> {
        let inside = |folder: &&Path| folder.starts_with(&self.project_root);
        let known = self.folders();
        let mut folders: Vec<_> = file.ancestors().skip(1).take_while(inside).collect();
        folders.retain(|folder| !known.contains(folder));
        folders.reverse();
        let mut files = Vec::new();
        for folder in &folders {
            files.extend(SHARED_NAMES.map(|name| (folder.join(name), MemoryFileKind::Project)));
        }
        files.extend(
            (folders.iter()).map(|folder| (folder.join(LOCAL_NAME), MemoryFileKind::Local)),
        );
        files
    }

    /// Returns the folders from the project's root down to the working directory. If the working directory lies
    /// elsewhere, returns just these two.
    fn folders(&self) -> Vec<&Path> {
        if !self.cwd.starts_with(&self.project_root) {
            return vec![&self.project_root, &self.cwd];
        }
        let inside = |folder: &&Path| folder.starts_with(&self.project_root);
        let mut folders: Vec<_> = self.cwd.ancestors().take_while(inside).collect();
        folders.reverse();
        folders
    }
}
