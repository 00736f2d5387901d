//! Applies rules that forbid reading to git commands that show the contents of files without naming them. The index
//! says what git tracks now. The history is not searched, so a command that shows history is asked about if such a rule
//! could match a file of the repository.

use std::path::{Path, PathBuf};

use super::paths::LocatedPath;
use super::rule::RuleSubject;
use super::shell::{ShellWord, SimpleCommand};
use super::state::PermissionState;
use crate::git::tracked_files;

/// The source of the contents that a git command shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShownContents {
    /// Files that git tracks now.
    TrackedFiles,
    /// Files of any commit.
    History,
}

/// Commands that show no contents, whatever their options are.
const WITHOUT_CONTENTS: &[&str] = &[
    "rev-parse",
    "ls-files",
    "ls-tree",
    "shortlog",
    "describe",
    "merge-base",
    "rev-list",
    "name-rev",
    "show-ref",
    "for-each-ref",
    "branch",
    "remote",
    "tag",
    "worktree",
    "fetch",
    "pull",
    "push",
    "merge",
    "rebase",
    "cherry-pick",
    "revert",
    "switch",
    "mv",
    "rm",
    "clean",
    "gc",
    "init",
    "clone",
    "config",
    "version",
    "help",
];

/// Options with which `log` and `diff` describe changes without showing them; those with `=` take a value in the same
/// word.
const TELLING: &[&str] = &[
    "--oneline",
    "--graph",
    "--all",
    "--decorate",
    "--no-decorate",
    "--follow",
    "--merges",
    "--no-merges",
    "--reverse",
    "--first-parent",
    "--cached",
    "--staged",
    "--branches",
    "--tags",
    "--remotes",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--author=",
    "--committer=",
    "--grep=",
    "--since=",
    "--until=",
    "--after=",
    "--before=",
    "--format=",
    "--pretty=",
    "--date=",
    "--abbrev=",
    "--abbrev-commit",
    "--max-count=",
    "--skip=",
    "--diff-filter=",
    "-n",
    "-i",
    "--",
];

/// Options that show something else in place of contents.
const INSTEAD_OF_CONTENTS: &[&str] = &[
    "--stat",
    "--stat=",
    "--numstat",
    "--shortstat",
    "--dirstat",
    "--summary",
    "--name-only",
    "--name-status",
    "--no-patch",
    "--quiet",
    "-s",
    "-q",
];

/// Why a part may not show git's contents: the rule that forbids a file which it could show.
pub(super) fn forbidden_in(
    part: &SimpleCommand,
    folders: &[PathBuf],
    state: &PermissionState,
) -> Option<String> {
    let (command, arguments) = part.words.split_first()?;
    if command.text.rsplit('/').next() != Some("git") {
        return None;
    }
    folders
        .iter()
        .find_map(|base| match shown(arguments, base)? {
            ShownContents::TrackedFiles => denied_file(base, state),
            ShownContents::History => denied_in_history(base, state),
        })
}

/// Which contents a git command shows; `None` if it shows no contents.
fn shown(arguments: &[ShellWord], base: &Path) -> Option<ShownContents> {
    let (command, rest) = arguments.split_first()?;
    let options = || rest.iter().map(|word| word.text.as_str());
    let is_option = |text: &&str| text.starts_with('-');
    let patch = options().any(|text| {
        ["-p", "-u", "-v", "--patch", "--verbose"].contains(&text) || text.starts_with("--patch-")
    });
    // Revisions and files look alike: an operand that is not a file may be a revision.
    let only_files = || {
        let operands = options().filter(|text| !is_option(text));
        rest.iter().all(ShellWord::is_known)
            && operands
                .into_iter()
                .all(|text| base.join(text).symlink_metadata().is_ok())
    };
    let by_operands = |only_files: bool| {
        Some(if only_files {
            ShownContents::TrackedFiles
        } else {
            ShownContents::History
        })
    };
    match command.text.as_str() {
        "log" | "diff" => {
            let mut known = options().filter(is_option);
            let listed = |list: &[&str], text: &str| {
                list.iter().any(|option| {
                    *option == text || option.ends_with('=') && text.starts_with(option)
                })
            };
            let is_count = |text: &str| {
                let digits = text.trim_start_matches("-n").trim_start_matches('-');
                !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
            };
            let understood = known.all(|text| {
                listed(TELLING, text) || listed(INSTEAD_OF_CONTENTS, text) || is_count(text)
            });
            let instead = options().any(|text| listed(INSTEAD_OF_CONTENTS, text));
            match command.text.as_str() {
                _ if understood && instead => None,
                "log" if understood => None,
                "log" => Some(ShownContents::History),
                _ => by_operands(only_files()),
            }
        }
        // The search pattern comes first, and is not a file.
        "grep" => by_operands(
            rest.iter().all(ShellWord::is_known)
                && options()
                    .filter(|text| !is_option(text))
                    .skip(1)
                    .all(|text| base.join(text).symlink_metadata().is_ok()),
        ),
        // Their file is named, and named files are checked by their names.
        "blame" | "annotate" => None,
        "status" | "add" | "commit" | "checkout" | "restore" | "reset" if !patch => None,
        "status" | "add" | "commit" | "restore" => Some(ShownContents::TrackedFiles),
        "stash" if !patch && options().next() != Some("show") => None,
        name if WITHOUT_CONTENTS.contains(&name) => None,
        _ => Some(ShownContents::History),
    }
}

/// The rule that forbids one of the files that git tracks around a folder.
fn denied_file(base: &Path, state: &PermissionState) -> Option<String> {
    // Without a list of the tracked files, any file may be among them.
    let Some(files) = tracked_files(base) else {
        return denied_in_history(base, state);
    };
    files.iter().find_map(|file| {
        // Git shows the target path of a link, never the content there, so links are not followed. A large repository
        // has many files.
        let located = LocatedPath {
            named: file.clone(),
            real: file.clone(),
        };
        let rule = state.denies_path("Read", &located)?;
        Some(format!(
            "It may show {}, which the rule {} forbids.",
            state.workspace.shown(file),
            rule.text()
        ))
    })
}

/// The first rule that could match a file in the repository around a folder.
fn denied_in_history(base: &Path, state: &PermissionState) -> Option<String> {
    let root = crate::git::root(base).unwrap_or_else(|| base.to_owned());
    let rule = state.read_denials().find(|rule| match &rule.what {
        RuleSubject::Paths(pattern) => pattern.may_mean_below(&root),
        _ => false,
    })?;
    Some(format!(
        "It may show files of earlier commits that the rule {} forbids.",
        rule.text()
    ))
}
