//! The folders in which the parts of a command may run: the folder that the shell is in, and wherever `cd` takes it.

use std::path::{Path, PathBuf};

use super::paths::{LocatedPath, tidy};
use super::shell::{ShellScript, ShellWord, without_timing};
use super::workspace::ReadableWorkspace;

/// The maximum number of folders that are tracked.
const MOST: usize = 16;

/// Shell builtins that may change the folder, or the meaning of names and wildcards.
const UNSETTLING: &[&str] = &[
    "pushd", "popd", "dirs", "builtin", "command", "eval", "source", ".", "exec", "trap", "alias",
    "unalias", "shopt", "set", "enable", "coproc", "autoload",
];

/// The folders in which the parts of a command may run.
#[derive(Debug)]
pub(crate) struct CommandFolders {
    all: Vec<PathBuf>,
    certain: bool,
}

impl CommandFolders {
    /// The folders of a command that runs in a shell whose folder is `from`.
    pub(crate) fn of(script: &ShellScript, from: &Path, workspace: &ReadableWorkspace) -> Self {
        let mut folders = Self {
            all: vec![from.to_owned()],
            certain: !script.wanders && !script.defines,
        };
        for part in &script.parts {
            let part = without_timing(part);
            match part.words.as_slice() {
                [name, folder] if name.text == "cd" && is_plain(folder) => {
                    folders.move_to(&folder.text);
                }
                [name, ..] if name.text == "cd" || UNSETTLING.contains(&name.text.as_str()) => {
                    folders.certain = false;
                }
                _ => {}
            }
        }
        folders.certain &= folders
            .all
            .iter()
            .all(|folder| workspace.may_read(&LocatedPath::find(folder)));
        folders
    }

    /// All folders that are known, for rules that forbid.
    pub(crate) fn known(&self) -> &[PathBuf] {
        &self.all
    }

    /// The folders, if there cannot be others and all of them are in the workspace.
    pub(crate) fn certain(&self) -> Option<&[PathBuf]> {
        self.certain.then_some(&self.all)
    }

    /// Adds the target of a `cd`: a part may run before or after it. `cd` removes `..` from the name before it follows
    /// links, and follows links first if that fails.
    fn move_to(&mut self, folder: &str) {
        let before = self.all.clone();
        for base in before {
            let path = base.join(folder);
            for there in [tidy(&path), LocatedPath::find(&path).real] {
                if !self.all.contains(&there) {
                    self.all.push(there);
                }
            }
        }
        if self.all.len() > MOST {
            self.all.truncate(MOST);
            self.certain = false;
        }
    }
}

fn is_plain(folder: &ShellWord) -> bool {
    folder.is_known()
        && !folder.tilde
        && !folder.glob
        && !folder.text.is_empty()
        && !folder.text.starts_with('-')
}
