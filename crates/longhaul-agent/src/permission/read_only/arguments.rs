//! Whether the arguments of a read-only program keep it inside of the workspace.

use std::path::{Path, PathBuf};

use crate::permission::paths::LocatedPath;
use crate::permission::shell::ShellWord;
use crate::permission::wildcard::expand;
use crate::permission::workspace::ReadableWorkspace;

/// Whether a word names a file that discards what is written to it.
pub(crate) fn is_sink(word: &ShellWord) -> bool {
    ["/dev/null", "/dev/stdout", "/dev/stderr"].contains(&word.text.as_str())
}

/// The parts of an argument that may name a file: all of it, the part after `=` or `:`, and a value attached to an
/// option's letter.
pub(crate) fn possible_files(text: &str) -> Vec<&str> {
    let mut files: Vec<&str> = Vec::new();
    if !text.starts_with('-') {
        files.push(text);
    }
    files.extend(text.split_once('=').map(|(_, value)| value));
    files.extend(text.split_once(':').map(|(_, value)| value));
    if text.starts_with('-') && !text.starts_with("--") {
        files.extend(text.char_indices().skip(2).map(|(at, _)| &text[at..]));
    }
    files.retain(|file| !file.is_empty());
    files
}

/// Whether an argument stays inside of the workspace, if it is a file.
pub(super) fn stays_inside(
    word: &ShellWord,
    folders: &[PathBuf],
    workspace: &ReadableWorkspace,
) -> bool {
    if is_sink(word) {
        return true;
    }
    if !word.is_known()
        || word.tilde
        || word.text.starts_with('~')
        || !is_tame(word, folders, workspace)
    {
        return false;
    }
    let inside = |path: &str| {
        let inside = |base: &PathBuf| workspace.may_read(&LocatedPath::find(&base.join(path)));
        folders.iter().all(inside)
    };
    match word.text.strip_prefix('-') {
        None => inside(&word.text),
        // A value attached to an option may be a file: `-f/etc/passwd`, `--file=/etc/passwd`.
        Some(_) => possible_files(&word.text)
            .into_iter()
            .all(|file| !file.starts_with('~') && inside(file)),
    }
}

/// Whether a word's wildcards, if it has any, expand to files of the workspace and not to options.
pub(super) fn is_tame(
    word: &ShellWord,
    folders: &[PathBuf],
    workspace: &ReadableWorkspace,
) -> bool {
    let tame = |base: &PathBuf| {
        let Some(expanded) = expand(&word.pattern, base) else {
            return false;
        };
        let inside = |path: &PathBuf| workspace.may_read(&LocatedPath::find(&base.join(path)));
        let is_option = |path: &Path| path.to_string_lossy().starts_with('-');
        expanded.listed.iter().all(inside)
            && expanded
                .names
                .iter()
                .all(|path| inside(path) && !is_option(path))
    };
    !word.glob || folders.iter().all(tame)
}
