//! What the user ordered in so many words: running, writing, changing, fetching, delegating, keeping todos. Each is tried
//! once; a refusal is taken for an answer.

use longhaul_sim::model::toolbox::Kind;
use serde_json::json;

use super::answer;
use super::look::acting;
use super::scene::{Move, Scene};
use super::telling::{excerpt, refused, short};

/// What shall be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Running {
    /// This command.
    Command(String),
    /// The project's tests.
    Tests,
    /// The project's build.
    Build,
}

/// A file that tells how a project is tested and built.
const PROJECTS: &[(&str, &str, &str)] = &[
    ("Cargo.toml", "cargo test", "cargo build"),
    ("package.json", "npm test", "npm run build"),
    ("go.mod", "go test ./...", "go build ./..."),
    ("pyproject.toml", "python -m pytest -q", "python -m build"),
    ("Makefile", "make test", "make"),
];

pub(super) fn run(scene: &Scene<'_>, what: &Running) -> Move {
    if !scene.can(Kind::Bash) {
        return Move::say("I was given no tool that runs commands, so I cannot.");
    }
    if scene.rounds(Kind::Bash) > 0 {
        return Move::say(answer::ran(scene));
    }
    let command = match what {
        Running::Command(command) => Some(command.as_str()),
        Running::Tests | Running::Build => {
            let here = |name: &str| scene.places.files.contains(&scene.path(name));
            let project = PROJECTS.iter().find(|(name, ..)| here(name));
            project.map(|(_, test, build)| match what {
                Running::Build => *build,
                _ => *test,
            })
        }
    };
    if let Some(command) = command
        && let Some(call) = scene.call(
            Kind::Bash,
            json!({ "command": command, "description": "What you asked for" }),
        )
    {
        return acting(format!("Running `{command}`, as you asked."), [call]);
    }
    if scene.rounds(Kind::Glob) == 0
        && let Some(call) = scene.call(Kind::Glob, json!({ "pattern": "*" }))
    {
        return acting("Which kind of project is this?".to_owned(), [call]);
    }
    Move::say(
        "I see nothing here that tells me which command that is. Put it in backticks: run `make check`.",
    )
}

pub(super) fn write(scene: &Scene<'_>, path: &str, text: &str) -> Move {
    let file = scene.path(path);
    if !scene.can(Kind::Write) {
        return Move::say(format!(
            "I was given no tool that writes files, so `{path}` stays as it is."
        ));
    }
    let hints = json!({ "file_path": file, "content": format!("{text}\n") });
    let writes: Vec<_> = scene.of_kind(Kind::Write).collect();
    let unseen = |text: &str| text.to_lowercase().contains("read");
    match writes.as_slice() {
        [] => match scene.call(Kind::Write, hints) {
            Some(call) => acting(format!("Writing `{path}`."), [call]),
            None => Move::default(),
        },
        // A file that is there wants to be seen before it is replaced.
        [once] if once.failed() && !refused(once) && unseen(&once.text()) => {
            let seen = scene.rounds(Kind::Read) > 0;
            let call = match seen {
                false => scene.call(Kind::Read, json!({ "file_path": file })),
                true => scene.call(Kind::Write, hints),
            };
            call.map_or_else(Move::default, |call| {
                acting(
                    "The file is there already, so I look at it first.".to_owned(),
                    [call],
                )
            })
        }
        _ => Move::say(answer::changed(scene, path, text)),
    }
}

pub(super) fn edit(scene: &Scene<'_>, path: &str, old: &str, new: &str) -> Move {
    let file = scene.path(path);
    if !scene.can(Kind::Edit) {
        return Move::say(format!(
            "I was given no tool that edits files, so `{path}` stays as it is."
        ));
    }
    if scene.rounds(Kind::Read) == 0
        && let Some(call) = scene.call(Kind::Read, json!({ "file_path": file }))
    {
        return acting(format!("First `{path}` as it is."), [call]);
    }
    let unreadable =
        scene.of_kind(Kind::Read).all(|read| read.failed()) && scene.rounds(Kind::Read) > 0;
    if unreadable {
        return Move::say(answer::changed(scene, path, new));
    }
    if scene.rounds(Kind::Edit) == 0
        && let Some(call) = scene.call(
            Kind::Edit,
            json!({ "file_path": file, "old_string": old, "new_string": new }),
        )
    {
        return acting(format!("Replacing “{old}”."), [call]);
    }
    Move::say(answer::changed(scene, path, new))
}

pub(super) fn todo(scene: &Scene<'_>, items: &[String]) -> Move {
    if items.is_empty() {
        return Move::say(
            "What shall be on the list? For example: todo read the README, run the tests",
        );
    }
    let todos: Vec<_> = items
        .iter()
        .map(|item| json!({ "content": item, "status": "pending", "activeForm": item }))
        .collect();
    if scene.rounds(Kind::Todo) == 0
        && let Some(call) = scene.call(Kind::Todo, json!({ "todos": todos }))
    {
        return acting("Noted:".to_owned(), [call]);
    }
    let lines: Vec<String> = items.iter().map(|item| format!("- {item}")).collect();
    Move::say(format!(
        "On the list:\n{}\n\nIt survives a compaction, whatever a summary says.",
        lines.join("\n")
    ))
}

pub(super) fn fetch(scene: &Scene<'_>, url: &str) -> Move {
    if scene.rounds(Kind::Fetch) == 0
        && let Some(call) = scene.call(
            Kind::Fetch,
            json!({ "url": url, "prompt": "What is on this page?" }),
        )
    {
        return acting(format!("Fetching {url}."), [call]);
    }
    Move::say(answer::fetched(scene, url))
}

pub(super) fn delegate(scene: &Scene<'_>, task: &str) -> Move {
    if scene.rounds(Kind::Task) == 0 {
        // Whoever gets it must not pass it on again.
        let prompt = "Look around in this project and tell what is in it.";
        let hints = json!({ "description": "Look around", "prompt": prompt, "subagent_type": "general-purpose" });
        if let Some(call) = scene.call(Kind::Task, hints) {
            return acting("I ask a sub-agent.".to_owned(), [call]);
        }
    }
    let said = scene.of_kind(Kind::Task).find(|task| task.succeeded());
    Move::say(match said {
        Some(said) => format!("The sub-agent says:\n\n{}", excerpt(&said.text(), 12)),
        None => format!(
            "I could not hand that on (“{}”). Ask me to look around instead.",
            short(task, 80)
        ),
    })
}
