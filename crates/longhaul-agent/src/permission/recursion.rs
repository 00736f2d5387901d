//! Programs that read everything in a folder: which folders these are, and what is found there.

use std::fs;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use super::paths::LocatedPath;
use super::shell::{ShellWord, SimpleCommand};
use super::wildcard::expand;
use super::workspace::ReadableWorkspace;

/// The maximum number of files that are examined.
const MOST: usize = 20_000;

/// What a program reads in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecursiveReach {
    /// All files, but not the targets of links.
    Files,
    /// All files, and the targets of links.
    Links,
    /// Files that are neither hidden nor ignored, as ripgrep does.
    Shown,
}

/// Options of search programs that take the next word as their value.
const TAKING: &str = "ABCDdefm";
const TAKING_IN_RG: &str = "ABCEMTdefgjmrt";

/// What a part reads without naming it: how far it reaches, and the folders that it starts with. `None` if it reads
/// nothing.
fn reach(part: &SimpleCommand, base: &Path) -> Option<(RecursiveReach, Vec<PathBuf>)> {
    let (command, arguments) = part.words.split_first()?;
    let name = command.text.rsplit('/').next().unwrap_or_default();
    let has = |letters: &str, long: &[&str]| {
        arguments.iter().any(|word| {
            let option = word.text.as_str();
            let short = option
                .strip_prefix('-')
                .filter(|rest| !rest.starts_with('-'));
            short.is_some_and(|short| short.contains(|letter| letters.contains(letter)))
                || long.iter().any(|long| {
                    let name = option.split('=').next().unwrap_or_default();
                    name.len() > 2 && name.starts_with("--") && long.starts_with(name)
                })
        })
    };
    let operands = operands(name, arguments);
    let folders: Vec<PathBuf> = operands
        .iter()
        .flat_map(|word| meant(word, base))
        .filter(|path| path.is_dir())
        .collect();
    // Without a path they search the current folder; the first operand may be the search pattern.
    let searched = if operands.len() < 2 || folders.is_empty() {
        vec![base.to_owned()]
    } else {
        folders.clone()
    };
    match name {
        "grep" | "egrep" | "fgrep" | "zgrep" => {
            // `-d recurse` may be abbreviated, so any value for folders counts.
            let long = ["--recursive", "--dereference-recursive", "--directories"];
            match has("rRd", &long) {
                true if has("R", &["--dereference-recursive"]) => {
                    Some((RecursiveReach::Links, searched))
                }
                true => Some((RecursiveReach::Files, searched)),
                false => None,
            }
        }
        "rg" => {
            let all = has(".u", &["--hidden", "--no-ignore", "--unrestricted"])
                || arguments.iter().any(|word| word.text.starts_with("--no-"));
            let reach = match has("L", &["--follow"]) {
                true => RecursiveReach::Links,
                false if all => RecursiveReach::Files,
                false => RecursiveReach::Shown,
            };
            Some((reach, searched))
        }
        "ag" | "ack" => Some((RecursiveReach::Links, searched)),
        "git" if operands.first().is_some_and(|word| word.text == "grep") => {
            Some((RecursiveReach::Files, vec![base.to_owned()]))
        }
        "diff" => (!folders.is_empty()).then_some((RecursiveReach::Links, folders)),
        "cp" | "scp" | "rsync" | "tar" | "bsdtar" | "zip" | "7z" | "cpio" => {
            (!folders.is_empty()).then_some((RecursiveReach::Files, folders))
        }
        _ => None,
    }
}

/// The files that an operand stands for. If that is not known, it may be everything in the folder.
fn meant(word: &ShellWord, base: &Path) -> Vec<PathBuf> {
    let expanded = if word.glob {
        expand(&word.pattern, base).map(|expanded| expanded.names)
    } else {
        word.is_known()
            .then(|| vec![PathBuf::from(word.text.as_str())])
    };
    let names = expanded.unwrap_or_else(|| vec![PathBuf::new()]);
    names.into_iter().map(|name| base.join(name)).collect()
}

/// The arguments that are neither options nor their values.
fn operands<'a>(name: &str, arguments: &'a [ShellWord]) -> Vec<&'a ShellWord> {
    let taking = match name {
        "rg" => TAKING_IN_RG,
        "grep" | "egrep" | "fgrep" | "zgrep" => TAKING,
        _ => "",
    };
    let mut taken = false;
    let mut operands = Vec::new();
    for word in arguments {
        let text = word.text.as_str();
        if taken {
            taken = false;
        } else if text.starts_with('-') && text != "-" {
            taken = match text.strip_prefix("--") {
                Some("") => false,
                // Which of the long options take a word is not known here: one is assumed to, so that a folder is
                // searched in case of doubt.
                Some(long) => !taking.is_empty() && !long.contains('='),
                None => text.ends_with(|last| taking.contains(last)),
            };
        } else {
            operands.push(word);
        }
    }
    operands
}

/// The first path that a part reads without naming it and for which `is_meant` is true. The error says that there are
/// too many files to examine.
pub(crate) fn find(
    part: &SimpleCommand,
    folders: &[PathBuf],
    is_meant: &dyn Fn(&Path) -> bool,
) -> Result<Option<PathBuf>, TooManyFiles> {
    for base in folders {
        let Some((reach, roots)) = reach(part, base) else {
            continue;
        };
        for root in roots {
            if let Some(found) = walk(&root, reach, is_meant)? {
                return Ok(Some(found));
            }
        }
    }
    Ok(None)
}

/// A folder contains more files than are examined.
#[derive(Debug)]
pub(crate) struct TooManyFiles;

/// Whether a part that follows links stays in the workspace.
pub(crate) fn stays_inside(
    part: &SimpleCommand,
    folders: &[PathBuf],
    workspace: &ReadableWorkspace,
) -> bool {
    let outside = |path: &Path| !workspace.may_read(&LocatedPath::find(path));
    matches!(find(part, folders, &outside), Ok(None))
}

fn walk(
    root: &Path,
    reach: RecursiveReach,
    is_meant: &dyn Fn(&Path) -> bool,
) -> Result<Option<PathBuf>, TooManyFiles> {
    if reach == RecursiveReach::Shown {
        let mut builder = WalkBuilder::new(root);
        builder.add_custom_ignore_filename(".rgignore");
        for (count, entry) in builder.build().flatten().enumerate() {
            match (
                count > MOST,
                entry.file_type().is_some_and(|kind| kind.is_file()),
            ) {
                (true, _) => return Err(TooManyFiles),
                (false, true) if is_meant(entry.path()) => return Ok(Some(entry.into_path())),
                _ => {}
            }
        }
        return Ok(None);
    }
    let mut open = vec![root.to_owned()];
    let mut count = 0_usize;
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            count += 1;
            if count > MOST {
                return Err(TooManyFiles);
            }
            let path = entry.path();
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            if is_link && reach == RecursiveReach::Files {
                continue;
            }
            if is_meant(&path) {
                return Ok(Some(path));
            }
            // A link to a parent folder leads around in a circle until there are too many files.
            if path.is_dir() {
                open.push(path);
            }
        }
    }
    Ok(None)
}
