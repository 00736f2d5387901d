//! What the system prompt says about the machine and the folder that an agent works in.

use std::path::Path;
use std::time::Duration;

use longhaul_core::prompt::{GitState, WorkTree};

use crate::git;

/// How long git may take. A repository that is too large for that is described without its state.
const PATIENCE: Duration = Duration::from_secs(3);

/// Facts that do not change while an agent works, or that are told only once.
#[derive(Debug, Clone, Default)]
pub(crate) struct HostEnvironment {
    pub(crate) git: Option<GitState>,
    pub(crate) os: String,
    pub(crate) shell: Option<String>,
}

impl HostEnvironment {
    /// Collects the facts.
    pub(crate) async fn of(cwd: &Path, shell: Option<&str>) -> Self {
        Self {
            git: repository(cwd).await,
            os: os(),
            shell: shell.map(str::to_owned),
        }
    }

    /// The branch that is checked out.
    pub(crate) fn branch(&self) -> Option<String> {
        self.git.as_ref()?.branch.clone()
    }
}

fn os() -> String {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let system = match std::env::consts::OS {
        "linux" => "Linux",
        "macos" => "macOS",
        "windows" => "Windows",
        other => other,
    };
    let text = format!("{system} {} ({})", release.trim(), std::env::consts::ARCH);
    text.replace("  ", " ")
}

/// The repository around a folder, as git describes it; `None` if there is no repository or no git. Where git would run
/// programs of the repository, git is not called and only the branch is known.
async fn repository(cwd: &Path) -> Option<GitState> {
    if let Some(hazard) = git::hazard(cwd) {
        tracing::debug!(%hazard, "git is not run");
        return git::branch(cwd).map(|branch| GitState {
            branch: Some(branch),
            work_tree: WorkTree::Unknown,
        });
    }
    let told = tokio::time::timeout(PATIENCE, async {
        let status = [
            "status",
            "--porcelain",
            "--branch",
            "--ignore-submodules=dirty",
        ];
        git::looking(cwd, &status).await?.output().await
    });
    let Ok(told) = told.await else {
        return Some(GitState {
            branch: None,
            work_tree: WorkTree::Unknown,
        });
    };
    let told = told.ok().filter(|told| told.status.success())?;
    Some(read(&String::from_utf8_lossy(&told.stdout)))
}

fn read(status: &str) -> GitState {
    let mut lines = status.lines();
    let head = lines.next().unwrap_or_default().trim_start_matches("## ");
    let fresh = head.strip_prefix("No commits yet on ");
    let branch = fresh.unwrap_or(head);
    let branch = branch.split("...").next().unwrap_or_default().trim();
    GitState {
        branch: (!branch.is_empty() && !branch.starts_with("HEAD (no branch)"))
            .then(|| branch.to_owned()),
        work_tree: match lines.next() {
            Some(_) => WorkTree::Changed,
            None => WorkTree::Clean,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a1_what_git_says_is_read() {
        let on = |text: &str| read(text).branch;
        assert_eq!(
            on("## main...origin/main [ahead 1]\n").as_deref(),
            Some("main")
        );
        assert_eq!(on("## No commits yet on trunk\n").as_deref(), Some("trunk"));
        assert_eq!(on("## HEAD (no branch)\n"), None);
        assert_eq!(read("## main\n M a.rs\n").work_tree, WorkTree::Changed);
        assert_eq!(read("## main\n").work_tree, WorkTree::Clean);
    }
}
