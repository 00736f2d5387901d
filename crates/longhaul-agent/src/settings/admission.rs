//! Which files of a project's settings, skills, commands and agents are read: a link may lead out of the project, and
//! its target is read only if the user has agreed. Text for the model is never read if a rule forbids it.
//!
//! The user's own folders are trusted: links in them lead wherever the user wants.

use std::path::{Path, PathBuf};

use super::grant::ProjectGrant;
use super::settings_folders::{SettingsFolders, SettingsOwner};
use crate::permission::{PermissionRule, RulePathBases, forbids_reading};

/// A file outside of a project that a file of the project leads to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OutsideFile {
    /// The path as the project names it.
    pub path: PathBuf,
    /// The location of the file, all links resolved.
    pub real: PathBuf,
    /// The memory file that imports it; `None` if it is a link.
    pub imported_by: Option<PathBuf>,
}

/// Decides which files are admitted.
pub(super) struct FileAdmission {
    /// The project's folders, links resolved.
    project: Vec<PathBuf>,
    /// The user's own folders of settings.
    homes: Vec<PathBuf>,
    agreed: Vec<PathBuf>,
    deny: Vec<PermissionRule>,
    /// The files that were not admitted because they lie outside.
    pub(super) outside: Vec<OutsideFile>,
}

impl FileAdmission {
    pub(super) fn new(places: &SettingsFolders, granted: &ProjectGrant) -> Self {
        let project = [&places.root, &places.cwd];
        let bases = RulePathBases {
            cwd: &places.cwd,
            settings: &places.cwd,
            home: places.user_home.as_deref(),
        };
        // An invalid rule is reported where it was given.
        let deny = granted.deny.iter();
        Self {
            project: project
                .into_iter()
                .filter_map(|folder| longhaul_store::real_path(folder).ok())
                .collect(),
            homes: places.homes(),
            agreed: granted.outside.clone(),
            deny: deny
                .filter_map(|rule| PermissionRule::parse(rule, bases).ok())
                .collect(),
            outside: Vec::new(),
        }
    }

    /// Adds rules that forbid reading.
    pub(super) fn forbid(&mut self, rules: &[PermissionRule]) {
        self.deny.extend_from_slice(rules);
    }

    /// The owner of a folder of skills, commands or agents.
    pub(super) fn owner_of(&self, folder: &Path) -> SettingsOwner {
        let is_the_users = |parent: &Path| self.homes.iter().any(|home| home == parent);
        if folder.parent().is_some_and(is_the_users) {
            SettingsOwner::User
        } else {
            SettingsOwner::Project
        }
    }

    /// Finds a settings file or a folder and resolves its links, unless it does not exist or may not be read.
    pub(super) fn find(&mut self, path: &Path, owner: SettingsOwner) -> FileLookup {
        let Ok(real) = longhaul_store::real_path(path) else {
            return FileLookup::Nothing;
        };
        if owner == SettingsOwner::User || self.is_inside(&real) {
            return FileLookup::At(real);
        }
        let file = OutsideFile {
            path: path.to_owned(),
            real,
            imported_by: None,
        };
        if !self.outside.contains(&file) {
            self.outside.push(file);
        }
        FileLookup::Outside
    }

    /// Finds a file whose text goes to the model and resolves its links; adds a notice if a rule forbids reading it.
    pub(super) fn find_text(
        &mut self,
        path: &Path,
        owner: SettingsOwner,
        notices: &mut Vec<String>,
    ) -> Option<PathBuf> {
        let FileLookup::At(real) = self.find(path, owner) else {
            return None;
        };
        if forbids_reading(&self.deny, path) || forbids_reading(&self.deny, &real) {
            notices.push(format!(
                "{}: a rule forbids reading it; it is not used",
                path.display()
            ));
            return None;
        }
        Some(real)
    }

    fn is_inside(&self, real: &Path) -> bool {
        let mut folders = self.project.iter().chain(&self.agreed);
        folders.any(|folder| real.starts_with(folder))
    }
}

/// The result of looking for a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FileLookup {
    /// The file is here, all links resolved.
    At(PathBuf),
    /// The file does not exist.
    Nothing,
    /// The path leads out of the project, and nobody has agreed to that.
    Outside,
}
