//! Whether git can be kept from running a repository's programs. Most settings that name a program are overridden when
//! git is run (`guard.rs`). Settings that cannot be overridden, and repositories whose parts are in unexpected places,
//! are hazards: git is then run only when the user has agreed.

use std::fmt;
use std::path::Path;

use super::config::{self, GitSetting};
use super::repository::{Repository, RepositoryLookup, SmallFileText, around, read, resolved};

/// Why git is not run without asking in a folder, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GitHazard(String);

impl fmt::Display for GitHazard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The reason not to run git in this folder; if none, it may be run as `guard.rs` runs it.
pub(crate) fn hazard(folder: &Path) -> Option<GitHazard> {
    let sentence = match around(folder) {
        RepositoryLookup::Nothing => None,
        RepositoryLookup::Bare(at) => Some(format!(
            "{} is laid out as a git repository of its own, whose configuration git would obey.",
            at.display()
        )),
        RepositoryLookup::Unclear(at) => Some(format!(
            "{} does not clearly belong to this folder's git repository.",
            at.display()
        )),
        RepositoryLookup::Repository(found) => misplaced(&found)
            .or_else(|| configured(&found))
            .or_else(|| filtered(&found, &resolved(folder))),
    };
    sentence.map(GitHazard)
}

/// A part of the repository that lies elsewhere: git would show another repository's contents.
fn misplaced(found: &Repository) -> Option<String> {
    let leads_away = |what: &Path| {
        Some(format!(
            "{} leads to a git repository that does not know this folder.",
            what.display()
        ))
    };
    if found.pointed && !points_back(found) {
        return leads_away(&found.root.join(".git"));
    }
    if found.own != found.common && !found.own.starts_with(found.common.join("worktrees")) {
        return leads_away(&found.own.join("commondir"));
    }
    let shared = ["config", "objects", "refs", "packed-refs", "logs", "info"];
    let shared = shared.iter().map(|name| found.common.join(name));
    let own = ["HEAD", "config.worktree", "index", "logs"];
    let own = own.iter().map(|name| found.own.join(name));
    let is_inside = |path: &Path| {
        let path = resolved(path);
        path.starts_with(&found.common) || path.starts_with(&found.own)
    };
    let mut parts = shared.chain(own);
    let away = parts.find(|part| part.symlink_metadata().is_ok() && !is_inside(part))?;
    leads_away(&away)
}

/// Whether the target of a `.git` file names the file or its folder in turn, as git itself writes it.
fn points_back(found: &Repository) -> bool {
    let file = found.root.join(".git");
    if let SmallFileText::Is(back) = read(&found.own.join("gitdir")) {
        let back = found.own.join(back.trim_end_matches(['\n', '\r']));
        return resolved(&back) == file;
    }
    let settings = settings(found).unwrap_or_default();
    let mut trees = settings.iter().filter(|it| it.key == "core.worktree");
    trees.any(|it| is_root(it, found))
}

fn is_root(tree: &GitSetting, found: &Repository) -> bool {
    let value = tree.value.as_deref().unwrap_or_default();
    resolved(&found.own.join(value)) == found.root
}

/// All settings that came with the repository. The error is a sentence that says why they cannot be determined.
fn settings(found: &Repository) -> Result<Vec<GitSetting>, String> {
    let mut settings = Vec::new();
    let mut files = vec![
        found.common.join("config"),
        found.common.join("config.worktree"),
        found.own.join("config.worktree"),
    ];
    files.dedup();
    for file in files {
        let read = match read(&file) {
            SmallFileText::Missing => continue,
            SmallFileText::Is(text) => config::read(&text).ok(),
            SmallFileText::Unreadable => None,
        };
        settings.extend(
            read.ok_or_else(|| {
                format!("The git configuration {} cannot be read.", file.display())
            })?,
        );
    }
    Ok(settings)
}

/// A setting of the repository that cannot be overridden.
fn configured(found: &Repository) -> Option<String> {
    let settings = match settings(found) {
        Ok(settings) => settings,
        Err(sentence) => return Some(sentence),
    };
    settings.iter().find_map(|setting| {
        let key = &setting.key;
        match kind(key) {
            GitSettingRisk::Fine => None,
            GitSettingRisk::WorkTree if is_root(setting, found) => None,
            GitSettingRisk::WorkTree => Some(format!(
                "The configuration of this git repository names another working tree ({key})."
            )),
            GitSettingRisk::Includes => Some(format!(
                "The configuration of this git repository includes another file ({key})."
            )),
            GitSettingRisk::Runs => Some(format!(
                "The configuration of this git repository names a program to run ({key})."
            )),
        }
    })
}

enum GitSettingRisk {
    Fine,
    /// The setting says where the working tree is.
    WorkTree,
    Includes,
    /// The setting names a program and is not overridden.
    Runs,
}

/// Endings of the names of settings that name programs. Those in [`OVERRIDDEN`] are harmless.
const RUNNING: &[&str] = &[
    "command",
    "cmd",
    "program",
    "helper",
    "driver",
    "process",
    "clean",
    "smudge",
    "hook",
    "virtualfilesystem",
];

/// Sections and settings that `guard.rs` disables, or that no read-only command ever uses.
const OVERRIDDEN: &[&str] = &[
    "core.sshcommand",
    "core.alternaterefscommand",
    "credential.helper",
    "gpg.program",
    "gpg.openpgp.program",
    "gpg.x509.program",
    "gpg.ssh.program",
    "gpg.ssh.defaultkeycommand",
    "uploadpack.packobjectshook",
];

fn kind(key: &str) -> GitSettingRisk {
    let (section, name) = (
        key.split('.').next().unwrap_or_default(),
        key.rsplit('.').next().unwrap_or_default(),
    );
    match (section, name) {
        ("core", "worktree") => GitSettingRisk::WorkTree,
        ("include" | "includeif", _) => GitSettingRisk::Includes,
        // Options on the command line switch diff drivers off; password helpers are never used.
        ("diff", "command") | ("credential", "helper") => GitSettingRisk::Fine,
        // Aliases and tools are commands of their own, which are not run without asking.
        (
            "alias" | "difftool" | "mergetool" | "guitool" | "browser" | "man" | "sendemail"
            | "tar",
            _,
        ) => GitSettingRisk::Fine,
        _ if OVERRIDDEN.contains(&key) => GitSettingRisk::Fine,
        _ if RUNNING.iter().any(|end| name.ends_with(end)) => GitSettingRisk::Runs,
        _ => GitSettingRisk::Fine,
    }
}

/// Attributes of the repository that pass files through a filter. The user's own settings may name its program.
fn filtered(found: &Repository, folder: &Path) -> Option<String> {
    let inside = folder
        .ancestors()
        .take_while(|at| at.starts_with(&found.root));
    let mut files: Vec<_> = inside.map(|at| at.join(".gitattributes")).collect();
    files.push(found.common.join("info/attributes"));
    let uses = |file: &&std::path::PathBuf| match read(file) {
        SmallFileText::Is(text) => text
            .lines()
            .any(|line| !line.starts_with('#') && line.contains("filter=")),
        SmallFileText::Missing => false,
        SmallFileText::Unreadable => true,
    };
    let file = files.iter().find(uses)?;
    Some(format!(
        "{} passes files through a filter, which is a program.",
        file.display()
    ))
}
