//! The folders that the user opened to the agent, and which files in them are delicate.

use std::path::{Path, PathBuf};

use super::paths::{LocatedPath, tidy};
use crate::session_paths::SessionPaths;

/// Where an agent may read without asking.
#[derive(Debug, Clone)]
pub struct ReadableWorkspace {
    pub(crate) cwd: PathBuf,
    pub(crate) home: Option<PathBuf>,
    folders: Vec<PathBuf>,
    /// The session's own folder and transcript: they may be read, but not written.
    own: Vec<PathBuf>,
    /// Other paths that may be read, but not written.
    shown: Vec<PathBuf>,
}

impl ReadableWorkspace {
    /// The workspace of a session; `home` is the user's home folder.
    pub fn new(place: &SessionPaths, home: Option<PathBuf>) -> Self {
        let real = |path: &PathBuf| LocatedPath::find(path).real;
        Self {
            cwd: place.cwd.clone(),
            folders: std::iter::once(&place.cwd)
                .chain(&place.more)
                .map(real)
                .collect(),
            own: own(place),
            shown: Vec::new(),
            home,
        }
    }

    /// Records that the session is stored elsewhere.
    pub(crate) fn keep_in(&mut self, place: &SessionPaths) {
        self.own = own(place);
    }

    /// Lets the files in this folder be read.
    pub(crate) fn show(&mut self, folder: &Path) {
        self.shown.push(LocatedPath::find(folder).real);
    }

    /// Opens a further folder.
    pub(crate) fn add(&mut self, folder: &Path) {
        self.folders
            .push(LocatedPath::find(&self.cwd.join(folder)).real);
    }

    /// Whether a path lies in the workspace, by its resolved location.
    pub(crate) fn holds(&self, path: &LocatedPath) -> bool {
        self.folders
            .iter()
            .any(|folder| path.real.starts_with(folder))
    }

    /// Whether a path may be read without asking.
    pub(crate) fn may_read(&self, path: &LocatedPath) -> bool {
        let mut own = self.own.iter().chain(&self.shown);
        self.holds(path) || own.any(|own| path.real.starts_with(own))
    }

    /// A path for people: relative to the working folder where that is shorter.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let tidy = tidy(path);
        tidy.strip_prefix(&self.cwd)
            .unwrap_or(&tidy)
            .display()
            .to_string()
    }
}

fn own(place: &SessionPaths) -> Vec<PathBuf> {
    let real = |path: PathBuf| LocatedPath::find(&path).real;
    vec![real(place.session_folder()), real(place.transcript.clone())]
}

const FOLDERS: &[&str] = &[
    ".git",
    ".claude",
    ".longhaul",
    ".ssh",
    ".gnupg",
    ".vscode",
    ".idea",
    ".husky",
];
const FILES: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".inputrc",
    ".gitconfig",
    ".gitmodules",
    ".mcp.json",
    ".claude.json",
    ".npmrc",
    ".netrc",
    ".pypirc",
    ".envrc",
    ".ripgreprc",
    "config.fish",
];

impl ReadableWorkspace {
    /// The part of a path that makes writing it delicate: its name, or the folder that contains it. `None` if there is
    /// none. The location of the workspace itself does not count.
    pub(crate) fn delicate(&self, path: &LocatedPath) -> Option<String> {
        [&path.named, &path.real].into_iter().find_map(|path| {
            let inside = self
                .folders
                .iter()
                .find_map(|folder| path.strip_prefix(folder).ok());
            let below = inside.unwrap_or(path);
            below.components().find_map(|component| {
                let name = component.as_os_str().to_string_lossy().to_lowercase();
                is_delicate(&name).then_some(name)
            })
        })
    }
}

fn is_delicate(name: &str) -> bool {
    FOLDERS.contains(&name) || FILES.contains(&name) || name == ".env" || name.starts_with(".env.")
}
