//! Shell commands: looking around early, checks late. Only commands that change nothing of the user's, and the project's
//! own tests.

use serde_json::{Value, json};

use super::mind::{Call, Mind, Phase};
use super::places::name_of;
use super::{Hands, view::Mode};
use crate::model::toolbox::Offer;

/// A file that tells how a project is tested and built.
pub(super) struct Project {
    pub(super) file: &'static str,
    /// The tests with little output.
    checks: &'static str,
    pub(super) tests: &'static str,
    pub(super) build: &'static str,
}

const fn project(
    file: &'static str,
    checks: &'static str,
    tests: &'static str,
    build: &'static str,
) -> Project {
    Project {
        file,
        checks,
        tests,
        build,
    }
}

pub(super) const PROJECTS: &[Project] = &[
    project(
        "Cargo.toml",
        "cargo test --quiet",
        "cargo test",
        "cargo build",
    ),
    project(
        "package.json",
        "npm test --silent",
        "npm test",
        "npm run build",
    ),
    project(
        "pyproject.toml",
        "python -m pytest -q",
        "python -m pytest -q",
        "python -m build",
    ),
    project(
        "setup.py",
        "python -m pytest -q",
        "python -m pytest -q",
        "python -m build",
    ),
    project("go.mod", "go test ./...", "go test ./...", "go build ./..."),
    project("Makefile", "make test", "make test", "make"),
];

impl Mind<'_> {
    /// Runs a command that fits the phase.
    pub(super) fn command(&mut self, offer: Offer<'_>) -> Option<Call> {
        let may_check = self.pace.hands == Hands::Full && self.view.mode == Mode::Working;
        let (command, why) = match self.phase() {
            _ if self.view.places.files.is_empty() => self.listing(),
            Phase::Closing | Phase::Working if may_check && self.chance.odds(0.7) => self.checks(),
            _ => self.glance(),
        };
        Some(self.run(offer, &command, why))
    }

    /// Runs one particular command.
    pub(super) fn run(&mut self, offer: Offer<'_>, command: &str, why: &str) -> Call {
        // Some hosts take the command as words.
        let words = offer
            .field("command")
            .and_then(|field| field.get("type").cloned())
            == Some(json!("array"));
        let given = match words {
            true => json!(["bash", "-lc", command]),
            false => Value::from(command),
        };
        let hints = json!({ "command": given, "description": why });
        self.call(offer, hints, format!("run `{command}`"))
    }

    fn listing(&mut self) -> (String, &'static str) {
        match self.chance.below(2) {
            0 => ("git ls-files".to_owned(), "List tracked files"),
            _ => ("ls -1p".to_owned(), "List the folder"),
        }
    }

    /// A look at the state of things.
    pub(super) fn glance(&mut self) -> (String, &'static str) {
        let folder = self.chance.pick(&self.view.places.folders).cloned();
        let file = self.chance.pick(&self.view.places.files).cloned();
        match (self.chance.below(6), folder, file) {
            (0, Some(folder), _) => (format!("ls -1p {}", quoted(&folder)), "List a folder"),
            (1, _, Some(file)) => (format!("wc -l {}", quoted(&file)), "Count lines"),
            (2, _, Some(file)) => (
                format!("git log --oneline -n 10 -- {}", quoted(&file)),
                "Show a file's history",
            ),
            (3, _, _) => ("git log --oneline -n 15".to_owned(), "Show recent commits"),
            (4, _, _) => ("git diff --stat".to_owned(), "Show what changed"),
            _ => (
                "git status --short".to_owned(),
                "Show the working tree's state",
            ),
        }
    }

    /// The project's own tests, by what the folder holds.
    fn checks(&mut self) -> (String, &'static str) {
        let places = &self.view.places;
        let by_file = PROJECTS
            .iter()
            .find(|project| places.has_name(project.file))
            .map(|project| project.checks);
        let by_kind = || {
            let any = |end: &str| places.files.iter().any(|file| name_of(file).ends_with(end));
            any(".rs")
                .then_some("cargo test --quiet")
                .or_else(|| any(".py").then_some("python -m pytest -q"))
        };
        match by_file.or_else(by_kind) {
            Some(command) => (command.to_owned(), "Run the tests"),
            None => ("git diff --stat".to_owned(), "Show what changed"),
        }
    }
}

/// A word the shell takes as it is.
fn quoted(word: &str) -> String {
    let plain = word
        .chars()
        .all(|letter| letter.is_ascii_alphanumeric() || "/._-+@".contains(letter));
    match plain {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
