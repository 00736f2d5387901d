//! Which files of a project's settings, skills, commands and agents are read: a link may lead out of the project, and what
//! lies there is read only if the user agreed to it. What goes to the model is not read past a rule that forbids it.
//!
//! The user's own folders are the user's word: links in them lead wherever the user wants.

use std::fs;
use std::path::{Path, PathBuf};

use super::grant::ProjectGrant;
use super::settings_folders::{SettingsFolders, SettingsOwner};
use crate::permission::{PermissionRule, RulePathBases, forbids_reading};

/// A file outside of a project that a file of the project leads to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OutsideFile {
    /// As the project names it.
    pub path: PathBuf,
    /// Where it is, all links resolved.
    pub real: PathBuf,
    /// The memory file that imports it; none: it is a link.
    pub imported_by: Option<PathBuf>,
}

/// Admits files.
pub(super) struct FileAdmission {
    /// The project's folders, links resolved.
    project: Vec<PathBuf>,
    /// The user's own folders of settings.
    homes: Vec<PathBuf>,
    agreed: Vec<PathBuf>,
    deny: Vec<PermissionRule>,
    /// What was not admitted because it lies outside.
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
        // What is no rule is told where it was given.
        let deny = granted.deny.iter();
        Self {
            project: project
                .into_iter()
                .filter_map(|folder| fs::canonicalize(folder).ok())
                .collect(),
            homes: places.homes(),
            agreed: granted.outside.clone(),
            deny: deny
                .filter_map(|rule| PermissionRule::parse(rule, bases).ok())
                .collect(),
            outside: Vec::new(),
        }
    }

    /// From now on these rules forbid, too.
    pub(super) fn forbid(&mut self, rules: &[PermissionRule]) {
        self.deny.extend_from_slice(rules);
    }

    /// Whose a folder of skills, commands or agents is.
    pub(super) fn owner_of(&self, folder: &Path) -> SettingsOwner {
        let is_the_users = |parent: &Path| self.homes.iter().any(|home| home == parent);
        if folder.parent().is_some_and(is_the_users) {
            SettingsOwner::User
        } else {
            SettingsOwner::Project
        }
    }

    /// Where a settings file or a folder is found, links resolved; none if it is not there or may not be read.
    pub(super) fn find(&mut self, path: &Path, owner: SettingsOwner) -> FileLookup {
        let Ok(real) = fs::canonicalize(path) else {
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

    /// The same for a file whose text goes to the model; a notice if a rule forbids it.
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

/// What came of looking for a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FileLookup {
    /// It is here, all links resolved.
    At(PathBuf),
    /// It is not there.
    Nothing,
    /// It leads out of the project, and nobody has agreed to that.
    Outside,
}
