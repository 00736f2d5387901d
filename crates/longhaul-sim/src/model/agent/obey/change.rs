//! Carries out explicit orders: running, writing, changing, fetching, delegating, keeping todos. Each is tried once; a
//! refusal is accepted as the answer.

use serde_json::json;

use super::super::run::Recipe;
use super::super::say::excerpt;
use super::super::todo::SimTodoState;
use super::super::turn::{AgentMove, AgentTurn};
use super::super::view::was_refused;
use super::super::wish::Running;
use super::hints::{A_READ, within};
use super::telling::short;
use super::{acting, answer, project};
use crate::model::toolbox::ToolPurpose;

/// The prompt for a sub-agent, whatever the user's words: the sub-agent must not pass them on again.
const ERRAND: &str = "Look around in this project and tell what is in it.";

pub(super) fn run(mind: &mut AgentTurn<'_>, what: &Running) -> AgentMove {
    if !mind.can(ToolPurpose::Bash) {
        return say("I was given no tool that runs commands, so I cannot.");
    }
    if mind.view.rounds(ToolPurpose::Bash) > 0 {
        return say(answer::ran(mind));
    }
    if let Some(look) = clues(mind, what) {
        return look;
    }
    let here = |name: &str| mind.view.places.files.contains(&mind.path(name));
    let command = match what {
        Running::Command(command) => Some(command.clone()),
        Running::Tests => project::test_command(mind),
        Running::Build => Recipe::Build.command(here).map(str::to_owned),
    };
    if let Some(command) = command
        && let Some(call) = mind.call_of(
            ToolPurpose::Bash,
            json!({ "command": command, "description": "What you asked for" }),
        )
    {
        return acting(format!("Running `{command}`, as you asked."), [call]);
    }
    if mind.view.rounds(ToolPurpose::Glob) == 0
        && let Some(call) = mind.call_of(ToolPurpose::Glob, json!({ "pattern": "*" }))
    {
        return acting("Which kind of project is this?", [call]);
    }
    say(
        "I see nothing here that tells me which command that is. Put it in backticks: run `make check`.",
    )
}

/// Looks at the project before its tests are run: which files there are, then those that may name the command.
fn clues(mind: &mut AgentTurn<'_>, what: &Running) -> Option<AgentMove> {
    if *what != Running::Tests || mind.view.rounds(ToolPurpose::Read) > 0 {
        return None;
    }
    if !project::is_known(mind) && mind.view.rounds(ToolPurpose::Glob) == 0 {
        let mut lists = Vec::new();
        for pattern in ["*", "*/*"] {
            let hints = within(mind, json!({ "pattern": pattern }));
            lists.extend(mind.call_of(ToolPurpose::Glob, hints));
        }
        return (!lists.is_empty()).then(|| acting("Which kind of project is this?", lists));
    }
    let mut reads = Vec::new();
    for path in project::unread_clues(mind) {
        let hints = json!({ "file_path": path, "limit": A_READ });
        reads.extend(mind.call_of(ToolPurpose::Read, hints));
    }
    (!reads.is_empty()).then(|| acting("Let me see how it is tested.", reads))
}

pub(super) fn write(mind: &mut AgentTurn<'_>, path: &str, text: &str) -> AgentMove {
    let file = mind.path(path);
    if !mind.can(ToolPurpose::Write) {
        return say(format!(
            "I was given no tool that writes files, so `{path}` stays as it is."
        ));
    }
    let hints = json!({ "file_path": file, "content": format!("{text}\n") });
    let writes: Vec<_> = mind.view.of_kind(ToolPurpose::Write).collect();
    let unseen = |text: &str| text.to_lowercase().contains("read");
    match writes.as_slice() {
        [] => acting(
            format!("Writing `{path}`."),
            mind.call_of(ToolPurpose::Write, hints),
        ),
        // An existing file must be read before it is replaced.
        [once] if once.failed() && !was_refused(once) && unseen(&once.text()) => {
            let seen = mind.view.rounds(ToolPurpose::Read) > 0;
            let call = if seen {
                mind.call_of(ToolPurpose::Write, hints)
            } else {
                mind.call_of(ToolPurpose::Read, json!({ "file_path": file }))
            };
            acting("The file is there already, so I look at it first.", call)
        }
        _ => say(answer::changed(mind, path, text)),
    }
}

pub(super) fn edit(mind: &mut AgentTurn<'_>, path: &str, old: &str, new: &str) -> AgentMove {
    let file = mind.path(path);
    if !mind.can(ToolPurpose::Edit) {
        return say(format!(
            "I was given no tool that edits files, so `{path}` stays as it is."
        ));
    }
    if mind.view.rounds(ToolPurpose::Read) == 0
        && let Some(call) = mind.call_of(ToolPurpose::Read, json!({ "file_path": file }))
    {
        return acting(format!("First `{path}` as it is."), [call]);
    }
    let unreadable = mind
        .view
        .of_kind(ToolPurpose::Read)
        .all(|read| read.failed())
        && mind.view.rounds(ToolPurpose::Read) > 0;
    if unreadable {
        return say(answer::changed(mind, path, new));
    }
    if mind.view.rounds(ToolPurpose::Edit) == 0
        && let Some(call) = mind.call_of(
            ToolPurpose::Edit,
            json!({ "file_path": file, "old_string": old, "new_string": new }),
        )
    {
        return acting(format!("Replacing “{old}”."), [call]);
    }
    say(answer::changed(mind, path, new))
}

pub(super) fn todo(mind: &mut AgentTurn<'_>, items: &[String]) -> AgentMove {
    if items.is_empty() {
        return say("What shall be on the list? For example: todo read the README, run the tests");
    }
    if mind.view.rounds(ToolPurpose::Todo) == 0
        && let Some(offer) = mind.tools.of_kind(ToolPurpose::Todo)
    {
        let todos: Vec<(String, SimTodoState)> = items
            .iter()
            .map(|item| (item.clone(), SimTodoState::Pending))
            .collect();
        let call = mind.todo_call(offer, &todos, "write down the list");
        return acting("Noted:", [call]);
    }
    let lines: Vec<String> = items.iter().map(|item| format!("- {item}")).collect();
    say(format!(
        "On the list:\n{}\n\nIt survives a compaction, whatever a summary says.",
        lines.join("\n")
    ))
}

pub(super) fn fetch(mind: &mut AgentTurn<'_>, url: &str) -> AgentMove {
    if mind.view.rounds(ToolPurpose::Fetch) == 0
        && let Some(offer) = mind.tools.of_kind(ToolPurpose::Fetch)
    {
        let call = mind.fetch_this(offer, url);
        return acting(format!("Fetching {url}."), [call]);
    }
    say(answer::fetched(mind, url))
}

pub(super) fn search_web(mind: &mut AgentTurn<'_>, query: &str) -> AgentMove {
    if mind.view.rounds(ToolPurpose::WebSearch) == 0
        && let Some(offer) = mind.tools.of_kind(ToolPurpose::WebSearch)
        && let Some(call) = mind.search_the_web(offer, Some(query))
    {
        return acting(format!("Searching the web for “{query}”."), [call]);
    }
    say(answer::searched(mind, query))
}

pub(super) fn delegate(mind: &mut AgentTurn<'_>, task: &str) -> AgentMove {
    if mind.view.rounds(ToolPurpose::Task) == 0
        && let Some(offer) = mind.tools.of_kind(ToolPurpose::Task)
    {
        let doing = "have a sub-agent look around".to_owned();
        let call = mind.errand(offer, "Look around", ERRAND, doing);
        return acting("I ask a sub-agent.", [call]);
    }
    let said = mind
        .view
        .of_kind(ToolPurpose::Task)
        .find(|task| task.succeeded());
    say(match said {
        Some(said) => format!("The sub-agent says:\n\n{}", excerpt(&said.text(), 12)),
        None => format!(
            "I could not hand that on (“{}”). Ask me to look around instead.",
            short(task, 80)
        ),
    })
}

fn say(text: impl Into<String>) -> AgentMove {
    AgentMove::Say(text.into())
}
