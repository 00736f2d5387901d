//! The Markdown files with front matter in folders of agents or output styles, one after the other. Which files may be
//! used is decided in `admission.rs`; skills and commands have folders of their own kind.

use std::path::PathBuf;

use super::admission::FileAdmission;
use super::front_matter::{self, FrontMatterFile};
use super::settings_folders::SettingsOwner;
use super::skills::listed;

/// The files that are left to read, in the order of their folders.
#[derive(Debug)]
pub(super) struct HeadedFiles {
    left: std::vec::IntoIter<(PathBuf, SettingsOwner)>,
}

impl HeadedFiles {
    /// The files of these folders.
    pub(super) fn of(folders: &[PathBuf], admission: &mut FileAdmission) -> Self {
        let left = listed(folders, admission).into_iter();
        Self { left }
    }

    /// Reads the next file that can be used. One that cannot is passed over, with a notice.
    pub(super) fn read_next(
        &mut self,
        admission: &mut FileAdmission,
        notices: &mut Vec<String>,
    ) -> Option<(PathBuf, FrontMatterFile)> {
        let is_text = |path: &PathBuf| {
            path.extension().is_some_and(|extension| extension == "md") && path.is_file()
        };
        self.left.find_map(|(path, owner)| {
            if !is_text(&path) {
                return None;
            }
            let real = admission.find_text(&path, owner, notices)?;
            let headed = front_matter::read(&path, &real, notices)?;
            Some((path, headed))
        })
    }
}
