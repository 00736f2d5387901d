//! Which calls may run.

#![allow(clippy::unwrap_used)]

#[cfg(unix)]
mod against_bash;
mod commands;
#[cfg(unix)]
mod files;
mod forbidden;
mod looking;
mod modes;
mod never_allowed;
mod offered;
mod remembered;
#[cfg(unix)]
mod shell_fuzz;

use std::path::{Path, PathBuf};

use longhaul_agent::event::ApprovalMode;
use longhaul_agent::permission::{
    PermissionDecision, PermissionRule, PermissionRules, Permissions, ReadableWorkspace,
    RulePathBases,
};
use longhaul_agent::session_paths::SessionPaths;
use longhaul_agent::tool::ToolAccess;
use serde_json::{Value, json};

/// A project in its own folder, with a home next to it.
struct World {
    folder: tempfile::TempDir,
    cwd: PathBuf,
    home: PathBuf,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        let (cwd, home) = (real.join("project"), real.join("home"));
        for folder in [cwd.join("src"), home.clone(), real.join("elsewhere")] {
            std::fs::create_dir_all(folder).unwrap();
        }
        for file in ["src/main.rs", "a.txt", ".env"] {
            std::fs::write(cwd.join(file), "x").unwrap();
        }
        Self { folder, cwd, home }
    }

    fn outside(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("elsewhere")
    }

    fn rules(&self, texts: &[&str]) -> Vec<PermissionRule> {
        let bases = RulePathBases {
            cwd: &self.cwd,
            settings: &self.cwd,
            home: Some(&self.home),
        };
        texts
            .iter()
            .map(|text| PermissionRule::parse(text, bases).unwrap())
            .collect()
    }

    fn permissions(
        &self,
        mode: ApprovalMode,
        allow: &[&str],
        ask: &[&str],
        deny: &[&str],
    ) -> Permissions {
        let place = SessionPaths {
            cwd: self.cwd.clone(),
            more: Vec::new(),
            transcript: self.home.join("s.jsonl"),
        };
        let rules = PermissionRules {
            allow: self.rules(allow),
            ask: self.rules(ask),
            deny: self.rules(deny),
        };
        let workspace = ReadableWorkspace::new(&place, Some(self.home.clone()));
        Permissions::new(
            workspace,
            rules,
            mode,
            self.cwd.join(".claude/settings.local.json"),
        )
    }

    fn allowing(&self, allow: &[&str]) -> Permissions {
        self.permissions(ApprovalMode::Default, allow, &[], &[])
    }
}

/// Decides about a command of a shell that is in the project's folder.
fn runs(permissions: &Permissions, command: &str) -> PermissionDecision {
    runs_in(permissions, Path::new(""), command)
}

fn runs_in(permissions: &Permissions, folder: &Path, command: &str) -> PermissionDecision {
    permissions.judge(
        "Bash",
        &json!({ "command": command }),
        &ToolAccess::Runs {
            command: command.to_owned(),
            folder: folder.to_owned(),
        },
    )
}

fn reads(permissions: &Permissions, path: impl AsRef<Path>) -> PermissionDecision {
    permissions.judge(
        "Read",
        &Value::Null,
        &ToolAccess::Reads(path.as_ref().to_owned()),
    )
}

fn writes(permissions: &Permissions, path: impl AsRef<Path>) -> PermissionDecision {
    permissions.judge(
        "Write",
        &Value::Null,
        &ToolAccess::Writes(path.as_ref().to_owned()),
    )
}

fn short(judgement: &PermissionDecision) -> &'static str {
    match judgement {
        PermissionDecision::Allow => "allow",
        PermissionDecision::Ask { .. } => "ask",
        PermissionDecision::Deny { .. } => "deny",
    }
}

fn offered(judgement: &PermissionDecision) -> Option<&str> {
    match judgement {
        PermissionDecision::Ask { rule, .. } => rule.as_deref(),
        _ => None,
    }
}

fn reason(judgement: &PermissionDecision) -> &str {
    match judgement {
        PermissionDecision::Ask { reason, .. } | PermissionDecision::Deny { reason } => reason,
        PermissionDecision::Allow => "",
    }
}

/// Compares the decisions about a table of commands with the expected ones; all differences are shown at once.
fn check(permissions: &Permissions, table: &[(&str, &str)]) {
    let wrong: Vec<String> = table
        .iter()
        .filter_map(|(command, expected)| {
            let judgement = runs(permissions, command);
            (short(&judgement) != *expected)
                .then(|| format!("{command:?}: {judgement:?}, not {expected}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
