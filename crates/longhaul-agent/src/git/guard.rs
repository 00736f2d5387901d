//! How git is run without asking: with everything switched off that a repository's configuration could make it run.
//!
//! Settings are passed with `-c`, which git hands on to the git processes that it starts in submodules; variables would
//! be dropped there. What no setting switches off (diff drivers) is switched off by an option of the command. The
//! repository chooses the names of filters: the configured ones are listed first and emptied one by one. Nothing is
//! fetched.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::LazyLock;

use tokio::process::Command;

/// Settings on the command line, which win over all files.
const SETTINGS: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.editor", "true"),
    ("core.sshCommand", "false"),
    ("core.askPass", "false"),
    ("core.alternateRefsCommand", "false"),
    ("safe.bareRepository", "explicit"),
    ("credential.helper", ""),
    ("log.showSignature", "false"),
    ("log.diffMerges", "separate"),
    ("gpg.program", "false"),
    ("gpg.openpgp.program", "false"),
    ("gpg.x509.program", "false"),
    ("gpg.ssh.program", "false"),
    ("diff.submodule", "short"),
    ("diff.ignoreSubmodules", "dirty"),
    ("status.submoduleSummary", "false"),
    ("submodule.recurse", "false"),
    // Files outside of the repository whose lines a message could show.
    ("mailmap.file", ""),
    ("blame.ignoreRevsFile", ""),
];

const VARIABLES: &[(&str, &str)] = &[
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "true"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_SSH_COMMAND", "false"),
];

/// Variables that would lead git to a repository other than the one that was checked, or to programs.
const REMOVED: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_ATTR_SOURCE",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_EXTERNAL_DIFF",
    "GIT_PROXY_COMMAND",
    "GIT_ASKPASS",
    "GIT_SSH",
];

/// The arguments that list the configured filters.
const FILTERS: [&str; 4] = ["config", "--name-only", "--get-regexp", r"^filter\."];

/// The commands that are guarded in the model's shell, with the options that are added first.
const GUARDED: &[(&str, &str)] = &[
    ("status", "--ignore-submodules=dirty"),
    (
        "diff|log|show",
        "--no-ext-diff --no-textconv --ignore-submodules=dirty",
    ),
    ("blame", "--no-textconv"),
    (
        "branch|remote|tag|stash|worktree|rev-parse|ls-files|ls-tree|shortlog|describe|merge-base|rev-list|cat-file|name-rev|show-ref|for-each-ref|grep",
        "",
    ),
];

/// A read-only git command for Longhaul itself. Check [`hazard`](super::hazard) first.
pub(crate) async fn looking(folder: &Path, arguments: &[&str]) -> std::io::Result<Command> {
    let mut asking = guarded(folder);
    asking.args(FILTERS);
    let told = asking.output().await?;
    let mut command = guarded(folder);
    for name in String::from_utf8_lossy(&told.stdout).lines() {
        command.arg("-c").arg(format!("{name}="));
    }
    command.args(arguments);
    Ok(command)
}

fn guarded(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command.arg("--no-pager");
    for (name, value) in SETTINGS {
        command.arg("-c").arg(format!("{name}={value}"));
    }
    for name in REMOVED {
        command.env_remove(name);
    }
    command
        .envs(VARIABLES.iter().copied())
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    command
}

/// Whether the shell's function guards this command.
#[cfg(test)]
pub(crate) fn is_guarded(command: &str) -> bool {
    let mut names = GUARDED.iter().flat_map(|(names, _)| names.split('|'));
    names.any(|name| name == command)
}

/// A shell function that stands in for git: read-only commands are guarded, all others run git directly.
pub(crate) fn shell_function() -> &'static str {
    static FUNCTION: LazyLock<String> = LazyLock::new(|| {
        let guarded: Vec<&str> = GUARDED.iter().map(|(names, _)| *names).collect();
        let mut options = String::new();
        for (names, first) in GUARDED.iter().filter(|(_, first)| !first.is_empty()) {
            // Writing to a string cannot fail.
            let _ = writeln!(options, "    {names}) set -- {first} \"$@\" ;;");
        }
        let settings = SETTINGS
            .iter()
            .map(|(name, value)| format!("-c {name}={value}"));
        let variables = VARIABLES
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        include_str!("guard.sh")
            .replace("{guarded}", &guarded.join("|"))
            .replace("{options}", options.trim_end())
            .replace("{settings}", &settings.collect::<Vec<_>>().join(" "))
            .replace("{variables}", &variables.collect::<Vec<_>>().join(" "))
            .replace("{removed}", &REMOVED.join(" "))
    });
    &FUNCTION
}
