//! Shell commands: looking around early, checks late. Only commands that change nothing of the user's are run, and the
//! project's own tests.

use serde_json::{Value, json};

use super::known_paths::name_of;
use super::turn::{AgentTurn, PlannedCall, WorkPhase};
use super::{WriteAccess, view::PlanningMode};
use crate::model::toolbox::OfferedTool;

/// How to test and build projects, by a file that they have: the file, the tests with little output, the tests, the
/// build.
const PROJECTS: &str = "\
Cargo.toml|cargo test --quiet|cargo test|cargo build
package.json|npm test --silent|npm test|npm run build
pyproject.toml|python -m pytest -q|python -m pytest -q|python -m build
setup.py|python -m pytest -q|python -m pytest -q|python -m build
go.mod|go test ./...|go test ./...|go build ./...
Makefile|make test|make test|make";

/// A way to test or build a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recipe {
    /// The tests with little output.
    Checks,
    /// The tests.
    Tests,
    /// The build.
    Build,
}

impl Recipe {
    /// The command for the first project whose file exists.
    pub(super) fn command(self, is_there: impl Fn(&str) -> bool) -> Option<&'static str> {
        let mut projects = PROJECTS.lines().map(|line| line.split('|'));
        let mut columns = projects.find_map(|mut line| is_there(line.next()?).then_some(line))?;
        columns.nth(self as usize)
    }
}

impl AgentTurn<'_> {
    /// Runs a command that fits the phase.
    pub(super) fn command(&mut self, offer: OfferedTool<'_>) -> Option<PlannedCall> {
        let may_check =
            self.pace.write_access == WriteAccess::Full && self.view.mode == PlanningMode::Working;
        let (command, why) = match self.phase() {
            _ if self.view.places.files.is_empty() => self.listing(),
            WorkPhase::Closing | WorkPhase::Working if may_check && self.chance.odds(0.7) => {
                self.checks()
            }
            _ => self.glance(),
        };
        Some(self.run(offer, &command, why))
    }

    /// Runs one particular command.
    pub(super) fn run(&mut self, offer: OfferedTool<'_>, command: &str, why: &str) -> PlannedCall {
        // Some hosts take the command as a list of words.
        let words = offer
            .field("command")
            .and_then(|field| field.get("type").cloned())
            == Some(json!("array"));
        let given = if words {
            json!(["bash", "-lc", command])
        } else {
            Value::from(command)
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

    /// A command that shows the current state.
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

    /// The command for the project's own tests, judging by the files in the folder.
    fn checks(&mut self) -> (String, &'static str) {
        let places = &self.view.places;
        let by_file = Recipe::Checks.command(|name| places.has_name(name));
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

/// A word in a form that the shell takes literally.
fn quoted(word: &str) -> String {
    let plain = word
        .chars()
        .all(|letter| letter.is_ascii_alphanumeric() || "/._-+@".contains(letter));
    if plain {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
