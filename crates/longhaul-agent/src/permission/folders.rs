//! Where the parts of a command may find themselves: in the folder that the shell stands in, and wherever `cd` takes it.

use std::path::{Path, PathBuf};

use super::paths::{LocatedPath, tidy};
use super::shell::{ShellScript, ShellWord, without_timing};
use super::workspace::ReadableWorkspace;

/// More folders than this are not kept apart.
const MOST: usize = 16;

/// Commands of the shell itself that may change its folder, or what names and wildcards mean.
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
    /// The folders of a command that a shell runs which stands in `from`.
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

    /// The folders, if there can be no others and all of them lie in the workspace.
    pub(crate) fn certain(&self) -> Option<&[PathBuf]> {
        self.certain.then_some(&self.all)
    }

    /// A part may run before or after the shell went there. `cd` takes `..` out of the name before it follows links, and
    /// follows links first where that fails.
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
