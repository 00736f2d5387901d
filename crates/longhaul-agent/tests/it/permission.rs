//! Which calls may run.

#![allow(clippy::unwrap_used)]

mod against_bash;
mod commands;
mod files;
mod modes;
mod never_allowed;
mod remembered;
mod shell_fuzz;

use std::path::{Path, PathBuf};

use longhaul_agent::event::Mode;
use longhaul_agent::permission::{Bases, Judgement, Permissions, Rule, RuleSet, Workspace};
use longhaul_agent::place::Place;
use longhaul_agent::tool::Access;
use serde_json::{Value, json};

/// A project in a folder of its own, with a home beside it.
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

    fn rules(&self, texts: &[&str]) -> Vec<Rule> {
        let bases = Bases {
            cwd: &self.cwd,
            settings: &self.cwd,
            home: Some(&self.home),
        };
        texts
            .iter()
            .map(|text| Rule::parse(text, bases).unwrap())
            .collect()
    }

    fn permissions(&self, mode: Mode, allow: &[&str], ask: &[&str], deny: &[&str]) -> Permissions {
        let place = Place {
            cwd: self.cwd.clone(),
            more: Vec::new(),
            transcript: self.home.join("s.jsonl"),
        };
        let rules = RuleSet {
            allow: self.rules(allow),
            ask: self.rules(ask),
            deny: self.rules(deny),
        };
        let workspace = Workspace::new(&place, Some(self.home.clone()));
        Permissions::new(
            workspace,
            rules,
            mode,
            self.cwd.join(".claude/settings.local.json"),
        )
    }

    fn allowing(&self, allow: &[&str]) -> Permissions {
        self.permissions(Mode::Default, allow, &[], &[])
    }
}

/// Judges a command of a shell that stands in the project's folder.
fn runs(permissions: &Permissions, command: &str) -> Judgement {
    runs_in(permissions, Path::new(""), command)
}

fn runs_in(permissions: &Permissions, folder: &Path, command: &str) -> Judgement {
    permissions.judge(
        "Bash",
        &json!({ "command": command }),
        &Access::Runs {
            command: command.to_owned(),
            folder: folder.to_owned(),
        },
    )
}

fn reads(permissions: &Permissions, path: impl AsRef<Path>) -> Judgement {
    permissions.judge(
        "Read",
        &Value::Null,
        &Access::Reads(path.as_ref().to_owned()),
    )
}

fn writes(permissions: &Permissions, path: impl AsRef<Path>) -> Judgement {
    permissions.judge(
        "Write",
        &Value::Null,
        &Access::Writes(path.as_ref().to_owned()),
    )
}

fn short(judgement: &Judgement) -> &'static str {
    match judgement {
        Judgement::Allow => "allow",
        Judgement::Ask { .. } => "ask",
        Judgement::Deny { .. } => "deny",
    }
}

fn offered(judgement: &Judgement) -> Option<&str> {
    match judgement {
        Judgement::Ask { rule, .. } => rule.as_deref(),
        _ => None,
    }
}

fn reason(judgement: &Judgement) -> &str {
    match judgement {
        Judgement::Ask { reason, .. } | Judgement::Deny { reason } => reason,
        Judgement::Allow => "",
    }
}
