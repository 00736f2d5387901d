//! What of git only looks. Its global options are not on the list: they choose other repositories and settings.

use crate::permission::shell::Word;

/// Options that write files or run programs.
pub(super) const FORBIDDEN: &[&str] = &[
    "--output",
    "--ext-diff",
    "--textconv",
    "--no-index",
    "--open-files-in-pager",
    "-O",
];

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

/// Whether these arguments of git only look.
pub(super) fn only_looks(arguments: &[Word]) -> bool {
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
        "cat-file" => !rest
            .iter()
            .any(|word| word.text.starts_with("--f") || word.text.starts_with("--t")),
        name => LOOKING.contains(&name),
    }
}
