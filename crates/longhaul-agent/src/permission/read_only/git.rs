//! The read-only uses of git. Global options are not on the list: they choose other repositories and settings.
//! `crate::git` decides how such a command is run, and in which repositories it must not be.

use std::path::PathBuf;

use crate::git::hazard;
use crate::permission::shell::{ShellWord, SimpleCommand};

/// Options that write files, run programs, or undo what keeps git from running them.
pub(super) const FORBIDDEN: &[&str] = &[
    "--output",
    "--ext-diff",
    "--textconv",
    "--no-index",
    "--open-files-in-pager",
    "-O",
    // Git works in submodules under their own settings.
    "--ignore-submodules",
    "--submodule",
    "--recurse-submodules",
    "--dirty",
    "--broken",
    // Merges are repeated with the configured drivers.
    "--remerge-diff",
    "--diff-merges",
    // Shows the contents of other repositories.
    "--alternate-refs",
    "--batch-all-objects",
];

/// Whether a part is a read-only call of git, in repositories that cannot make it do more.
pub(crate) fn looks_around(part: &SimpleCommand, bases: &[PathBuf]) -> bool {
    let mut words = part.words.iter();
    words.next().is_some_and(|name| name.text == "git")
        && only_looks(&part.words[1..])
        && bases.iter().all(|base| hazard(base).is_none())
}

/// Why a read-only call of git is asked about; `None` if that is not the reason.
pub(crate) fn why_not(part: &SimpleCommand, bases: &[PathBuf]) -> Option<String> {
    let (name, arguments) = part.words.split_first()?;
    if name.text != "git" || !only_looks(arguments) {
        return None;
    }
    let hazard = bases.iter().find_map(|base| hazard(base))?;
    Some(hazard.to_string())
}

/// Commands that change nothing, whatever their options are, except where these are judged below. Whether a command shows
/// the contents of files is another question (`git_contents.rs`): a push shows none, and a diff does.
const LOOKING: &[&str] = &[
    "status",
    "diff",
    "log",
    "show",
    "blame",
    "rev-parse",
    "ls-files",
    "ls-tree",
    "shortlog",
    "describe",
    "merge-base",
    "rev-list",
    "cat-file",
    "name-rev",
    "show-ref",
    "for-each-ref",
    "grep",
];

/// Whether git is read-only with these arguments.
fn only_looks(arguments: &[ShellWord]) -> bool {
    let Some((command, rest)) = arguments.split_first() else {
        return true;
    };
    let only = |fine: &[&str]| rest.iter().all(|word| fine.contains(&word.text.as_str()));
    match command.text.as_str() {
        "branch" => only(&[
            "-a",
            "-r",
            "-v",
            "-vv",
            "--all",
            "--list",
            "--remotes",
            "--show-current",
            "--verbose",
        ]),
        "remote" => only(&["-v", "--verbose"]),
        "tag" => only(&["-l", "--list"]),
        "stash" => !rest.is_empty() && only(&["list"]),
        "worktree" => !rest.is_empty() && only(&["list"]),
        // With -v, it shows changes through the programs that are configured for that.
        "status" => !rest.iter().any(|word| {
            let text = word.text.as_str();
            text.starts_with("--v")
                || text.starts_with('-') && !text.starts_with("--") && text.contains('v')
        }),
        "cat-file" => !rest
            .iter()
            .any(|word| word.text.starts_with("--f") || word.text.starts_with("--t")),
        name => LOOKING.contains(&name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_git_command_that_runs_unasked_is_run_guarded() {
        let more = ["branch", "remote", "tag", "stash", "worktree"];
        for command in LOOKING.iter().chain(&more) {
            assert!(crate::git::is_guarded(command), "{command}");
        }
    }
}
