//! Deletes sessions that the user wants gone, and reports what was deleted (G2).
//!
//! A purge has two steps: [`plan`] lists files and changes nothing, [`PurgePlan::execute`] deletes what was listed and
//! nothing else. Only files inside the `projects` folder of our own home are deleted; links are removed, never
//! followed. The archives there are deleted with their sessions, including those of other programs' sessions: they hold
//! only copies.

mod error;
mod execute;
mod survey;

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

pub use error::PurgeError;
pub use execute::{KeptReason, PurgeReport, UndeletedFile};

use crate::layout::{Home, HomeOwner, SessionId, UnlistedPath};
use survey::{ProjectsSurvey, SurveyedFile};

/// Which sessions to delete.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PurgeWhat {
    /// Sessions none of whose files changed within this time.
    OlderThan(Duration),
    /// One session.
    Session(SessionId),
    /// All sessions and everything else in the projects folder.
    Everything,
}

/// A file to be deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PurgeItem {
    /// The file, or a link, which is deleted without its target.
    pub path: PathBuf,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// How long ago the file changed, relative to the time of the plan.
    pub age: Duration,
    modified: Option<SystemTime>,
}

/// The files that would be deleted.
#[derive(Debug)]
pub struct PurgePlan {
    items: Vec<PurgeItem>,
    problems: Vec<UnlistedPath>,
    /// Folders that are deleted too if they become empty, inner ones first.
    folders: Vec<PathBuf>,
}

impl PurgePlan {
    /// The files to delete.
    pub fn items(&self) -> &[PurgeItem] {
        &self.items
    }

    /// The paths that could not be read, and so are not in the plan.
    pub fn problems(&self) -> &[UnlistedPath] {
        &self.problems
    }

    /// The total size of the files.
    pub fn bytes(&self) -> u64 {
        self.items.iter().map(|item| item.bytes).sum()
    }
}

/// Lists the files that would be deleted, including sub-agents' files with their session.
///
/// # Errors
/// Fails if the home is another program's, is not a folder of its own or cannot be looked at, and if there is no such
/// session. Nothing is deleted by a plan.
pub fn plan(home: &Home, what: &PurgeWhat, now: SystemTime) -> Result<PurgePlan, PurgeError> {
    let _span = tracing::debug_span!("plan", root = %home.root().display(), ?what).entered();
    let mut plan = PurgePlan {
        items: Vec::new(),
        problems: Vec::new(),
        folders: Vec::new(),
    };
    if let Some(projects) = safe_projects(home)? {
        let survey = ProjectsSurvey::of(&projects, &mut plan.problems);
        plan.take(survey, what, now);
    }
    if let (PurgeWhat::Session(id), true) = (what, plan.items.is_empty()) {
        return Err(PurgeError::NoSuchSession {
            id: id.clone(),
            projects: home.projects(),
        });
    }
    plan.items.sort_by(|a, b| a.path.cmp(&b.path));
    plan.folders
        .sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
    tracing::debug!(files = plan.items.len(), bytes = plan.bytes(), "planned");
    Ok(plan)
}

impl PurgePlan {
    fn take(&mut self, survey: ProjectsSurvey, what: &PurgeWhat, now: SystemTime) {
        let age = |found: &SurveyedFile| {
            found
                .modified
                .and_then(|time| now.duration_since(time).ok())
                .unwrap_or_default()
        };
        for unit in survey.units {
            let goes = match what {
                PurgeWhat::Everything => true,
                PurgeWhat::Session(id) => unit.name.as_deref() == Some(id.as_str()),
                PurgeWhat::OlderThan(limit) => {
                    unit.name.is_some() && unit.dated().into_iter().all(|found| age(found) > *limit)
                }
            };
            if goes {
                self.folders.extend(unit.folders);
                self.items
                    .extend(unit.files.into_iter().map(|found| PurgeItem {
                        age: age(&found),
                        path: found.path,
                        bytes: found.bytes,
                        modified: found.modified,
                    }));
            }
        }
        // A project's folder is deleted if nothing is left in it, unless the purge does not touch it.
        let touched =
            |folder: &PathBuf| self.items.iter().any(|item| item.path.starts_with(folder));
        let everything = *what == PurgeWhat::Everything;
        let emptied: Vec<PathBuf> = (survey.projects.into_iter())
            .filter(|folder| everything || touched(folder))
            .collect();
        self.folders.extend(emptied);
    }
}

/// Our projects folder with links resolved, if it exists and everything in it is ours to delete.
fn safe_projects(home: &Home) -> Result<Option<PathBuf>, PurgeError> {
    let root = match crate::real_path(home.root()) {
        Ok(root) => root,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(source) => {
            return Err(PurgeError::Unreadable {
                path: home.root().to_owned(),
                source,
            });
        }
    };
    if home.owner() != HomeOwner::Longhaul {
        return Err(PurgeError::NotOurs { path: root });
    }
    let user_home = home
        .user_home()
        .map(|user| crate::real_path(user).unwrap_or_else(|_| user.to_owned()));
    if root.parent().is_none() || user_home.is_some_and(|user| user.starts_with(&root)) {
        return Err(PurgeError::TooWide { path: root });
    }
    let projects = root.join("projects");
    match fs::symlink_metadata(&projects) {
        Ok(metadata) if metadata.is_dir() => Ok(Some(projects)),
        Ok(_) => Err(PurgeError::NotAFolder { path: projects }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(PurgeError::Unreadable {
            path: projects,
            source,
        }),
    }
}
