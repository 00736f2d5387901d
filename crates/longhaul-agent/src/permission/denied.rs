//! Applies rules that forbid files to a command: to the files that it names, and to those that it might read without
//! naming them, through wildcards, variables or recursion.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::folders::CommandFolders;
use super::git_contents;
use super::paths::LocatedPath;
use super::read_only::{possible_files, reads_its_arguments};
use super::recursion::{self, TooManyFiles};
use super::rule::{PermissionRule, RuleSubject};
use super::shell::{ShellScript, ShellWord, SimpleCommand};
use super::state::{PermissionState, WRITERS};
use super::wildcard::expand;

/// Programs that read the files named by their arguments, in addition to the read-only programs.
const READERS: &[&str] = &[
    "less",
    "more",
    "cp",
    "mv",
    "ln",
    "scp",
    "rsync",
    "tar",
    "zip",
    "base64",
    "xxd",
    "awk",
    "sed",
    "source",
    ".",
    "dd",
    "install",
    "split",
    "sha512sum",
    "bat",
    "ag",
    "ack",
    "zgrep",
    "view",
    "vi",
    "vim",
];

/// A definite no: why a file that the command names is forbidden.
pub(super) fn named(
    script: &ShellScript,
    reach: &[SimpleCommand],
    folders: &CommandFolders,
    state: &PermissionState,
) -> Option<String> {
    if !has_rules(state, |_| true) {
        return None;
    }
    let speaks = |part: &&SimpleCommand| !matches!(part.name(), "echo" | "printf");
    let arguments = reach
        .iter()
        .filter(speaks)
        .flat_map(|part| part.words.iter().skip(1));
    let against = |words: Vec<&ShellWord>, tool: &str| {
        let mut files: BTreeSet<(PathBuf, &str)> = BTreeSet::new();
        for word in words {
            for base in folders.known() {
                files.extend(named_by(word, base, state).map(|path| (path, word.raw.as_str())));
            }
        }
        files.into_iter().find_map(|(path, raw)| {
            let rule = state.denies_path(tool, &LocatedPath::find(&path))?;
            Some(format!("The rule {} forbids {raw}.", rule.text()))
        })
    };
    against(arguments.chain(&script.reads).collect(), "Read")
        .or_else(|| against(script.writes.iter().collect(), "Edit"))
}

/// The files that a word may name in a folder.
fn named_by<'a>(
    word: &'a ShellWord,
    base: &'a Path,
    state: &'a PermissionState,
) -> impl Iterator<Item = PathBuf> + 'a {
    let names = possible_files(&word.text).into_iter();
    let literal = names.map(
        |name| match (name.strip_prefix("~/"), &state.workspace.home) {
            (Some(below), Some(home)) => home.join(below),
            _ => base.join(name),
        },
    );
    let expanded = word.glob.then(|| expand(&word.pattern, base)).flatten();
    let matched = expanded.map(|expanded| expanded.names).unwrap_or_default();
    literal.chain(matched.into_iter().map(|path| base.join(path)))
}

/// The rule that forbids what the command might read or write without naming it, and the reason.
pub(super) fn perhaps(
    script: &ShellScript,
    reach: &[SimpleCommand],
    folders: &CommandFolders,
    state: &PermissionState,
) -> Option<String> {
    let about_reading = |rule: &PermissionRule| !WRITERS.contains(&rule.tool.as_str());
    let first = |about: fn(&PermissionRule) -> bool| {
        let mut rules = state.deny.iter();
        let rule = rules.find(|rule| matches!(rule.what, RuleSubject::Paths(_)) && about(rule));
        rule.map(|rule| {
            format!(
                "It is not certain whether the rule {} forbids it.",
                rule.text()
            )
        })
    };
    if script.unclear.is_some() {
        return first(|_| true);
    }
    let unsure = |word: &ShellWord| {
        let untold = |base: &PathBuf| expand(&word.pattern, base).is_none();
        !word.is_known() || word.glob && folders.known().iter().any(untold)
    };
    let mut writes = script.writes.iter();
    if writes.any(|word| !word.is_known() || word.glob)
        && let Some(reason) = first(|rule| WRITERS.contains(&rule.tool.as_str()))
    {
        return Some(reason);
    }
    if !has_rules(state, about_reading) {
        return None;
    }
    let reads = |part: &&SimpleCommand| {
        let name = part.name().rsplit('/').next().unwrap_or_default();
        reads_its_arguments(name) || READERS.contains(&name)
    };
    let mut readers = reach.iter().filter(reads);
    let lost = folders.certain().is_none() && script.parts.iter().any(changes_folder);
    if script.reads.iter().any(unsure)
        || readers.any(|part| lost || part.words.iter().skip(1).any(unsure))
    {
        return first(|rule| !WRITERS.contains(&rule.tool.as_str()));
    }
    reach.iter().find_map(|part| {
        below(part, folders, state)
            .or_else(|| git_contents::forbidden_in(part, folders.known(), state))
    })
}

/// Why a part may not read everything in a folder.
fn below(
    part: &SimpleCommand,
    folders: &CommandFolders,
    state: &PermissionState,
) -> Option<String> {
    let denied = |path: &Path| {
        state
            .denies_path("Read", &LocatedPath::find(path))
            .is_some()
    };
    let paths = state.deny.iter().filter_map(|rule| match &rule.what {
        RuleSubject::Paths(pattern) => Some(pattern),
        _ => None,
    });
    // If all rules name their files, only these are searched for.
    let fixed: Option<Vec<&Path>> = paths
        .map(|pattern| {
            pattern
                .fixed()
                .map(|paths| paths.iter().map(PathBuf::as_path))
        })
        .collect::<Option<Vec<_>>>()
        .map(|all| all.into_iter().flatten().collect());
    if let Some(fixed) = &fixed
        && !fixed.iter().any(|path| path.symlink_metadata().is_ok())
    {
        return None;
    }
    match recursion::find(part, folders.known(), &denied) {
        Ok(None) => None,
        Ok(Some(path)) => {
            let rule = state.denies_path("Read", &LocatedPath::find(&path))?;
            Some(format!(
                "It also reads {}, which the rule {} forbids.",
                state.workspace.shown(&path),
                rule.text()
            ))
        }
        Err(TooManyFiles) => Some(
            "It reads more files than can be checked against the rules that forbid reading."
                .to_owned(),
        ),
    }
}

fn changes_folder(part: &SimpleCommand) -> bool {
    matches!(part.name(), "cd" | "pushd" | "popd")
}

fn has_rules(state: &PermissionState, about: impl Fn(&PermissionRule) -> bool) -> bool {
    state
        .deny
        .iter()
        .any(|rule| matches!(rule.what, RuleSubject::Paths(_)) && about(rule))
}
