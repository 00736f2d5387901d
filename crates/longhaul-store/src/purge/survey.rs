//! Lists the content of the projects folder, grouped by session. Links are noted, never followed.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::archive::is_archive_name;
use crate::fork;
use crate::layout::{SessionId, UnlistedPath, children};
use crate::lease;

/// Everything in the projects folder.
#[derive(Debug, Default)]
pub(super) struct ProjectsSurvey {
    pub(super) units: Vec<PurgeUnit>,
    /// The folders of the projects.
    pub(super) projects: Vec<PathBuf>,
}

/// Files that are deleted together.
#[derive(Debug, Default)]
pub(super) struct PurgeUnit {
    /// The session's id, or the name of a file that an interrupted fork left; `None` for anything else.
    pub(super) name: Option<String>,
    pub(super) files: Vec<SurveyedFile>,
    pub(super) folders: Vec<PathBuf>,
}

/// A file or link.
#[derive(Debug)]
pub(super) struct SurveyedFile {
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    pub(super) modified: Option<SystemTime>,
}

impl ProjectsSurvey {
    pub(super) fn of(projects: &Path, problems: &mut Vec<UnlistedPath>) -> Self {
        let mut survey = Self::default();
        let mut strays = PurgeUnit::default();
        for path in children(projects, problems) {
            if path.is_symlink() || !path.is_dir() {
                strays.add(path, problems);
            } else {
                survey.project(&path, &mut strays, problems);
                survey.projects.push(path);
            }
        }
        survey.units.push(strays);
        survey
    }

    fn project(&mut self, folder: &Path, strays: &mut PurgeUnit, problems: &mut Vec<UnlistedPath>) {
        let mut units: BTreeMap<String, PurgeUnit> = BTreeMap::new();
        for path in children(folder, problems) {
            match unit_name(&path) {
                Some(name) => units.entry(name).or_default().add(path, problems),
                None => strays.add(path, problems),
            }
        }
        self.units
            .extend(units.into_iter().map(|(name, unit)| PurgeUnit {
                name: Some(name),
                ..unit
            }));
    }
}

/// The session that a file or folder in a project's folder belongs to.
fn unit_name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    if fork::is_temporary(name) {
        return Some(name.to_owned());
    }
    // A lease file that a killed process left is deleted with the session.
    let transcript = lease::transcript_of(path);
    if let Some(id) = SessionId::of_transcript(transcript.as_deref().unwrap_or(path)) {
        return Some(id.as_str().to_owned());
    }
    // A folder belongs to a session if it has the same name as a session next to it, or looks like a session's folder:
    // with files of sub-agents, or the archive of another program's session.
    let id = SessionId::parse(name).ok()?;
    let beside = path.with_file_name(id.file_name());
    let is_of_session = beside.is_symlink()
        || beside.is_file()
        || path.join("subagents").is_dir()
        || holds_archive(path);
    (is_of_session && path.is_dir() && !path.is_symlink()).then(|| name.to_owned())
}

fn holds_archive(folder: &Path) -> bool {
    // A folder that cannot be listed is reported elsewhere.
    let files = children(folder, &mut Vec::new());
    files.iter().any(|file| is_archive(file))
}

fn is_archive(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(is_archive_name)
}

impl PurgeUnit {
    /// The files that determine the age of the session. An archive is not the session: searching an old session does
    /// not keep it longer.
    pub(super) fn dated(&self) -> Vec<&SurveyedFile> {
        let own: Vec<&SurveyedFile> = (self.files.iter())
            .filter(|found| !is_archive(&found.path))
            .collect();
        if own.is_empty() {
            self.files.iter().collect()
        } else {
            own
        }
    }

    /// Adds a file, a link, or everything in a folder.
    fn add(&mut self, path: PathBuf, problems: &mut Vec<UnlistedPath>) {
        let mut paths = vec![path];
        while let Some(path) = paths.pop() {
            match fs::symlink_metadata(&path) {
                Ok(metadata) if metadata.is_dir() => {
                    paths.extend(children(&path, problems));
                    self.folders.push(path);
                }
                Ok(metadata) => self.files.push(SurveyedFile::new(path, &metadata)),
                Err(error) => problems.push(UnlistedPath::new(path, error)),
            }
        }
    }
}

impl SurveyedFile {
    fn new(path: PathBuf, metadata: &Metadata) -> Self {
        Self {
            path,
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
        }
    }
}
