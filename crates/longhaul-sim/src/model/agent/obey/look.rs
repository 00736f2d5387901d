//! Looks around: lists folders and reads files. Nothing here changes anything; `finding` handles named things.

use serde_json::json;

use super::super::known_paths::{extension, name_of};
use super::super::symbols::defined;
use super::super::todo::SimTodoState;
use super::super::turn::{AgentMove, AgentTurn, PlannedCall};
use super::super::wish::Depth;
use super::hints::{A_LOOK, A_READ, search, within};
use super::telling::files;
use super::{acting, answer};
use crate::model::toolbox::ToolPurpose;

/// The maximum number of reading rounds for one prompt.
const ROUNDS: usize = 4;

/// Explores the folder: lists it, reads the files that explain it, then some others, and searches for a name that it
/// saw.
pub(super) fn around(mind: &mut AgentTurn<'_>) -> AgentMove {
    if mind.past.goes_on() {
        return on(mind);
    }
    if mind.view.rounds(ToolPurpose::Glob) + mind.view.rounds(ToolPurpose::List) == 0 {
        let todos = planned(mind);
        let lists = listings(mind);
        if !lists.is_empty() {
            return acting(opening(mind), lists.into_iter().chain(todos));
        }
    }
    let rounds = mind.view.rounds(ToolPurpose::Read);
    let unread = mind.unread();
    let reads = match rounds {
        0 | 1 => reads(mind, &unread, 3, A_LOOK),
        _ => Vec::new(),
    };
    if !reads.is_empty() {
        let say = match rounds {
            0 => format!(
                "{} files to choose from. First what explains the rest.",
                mind.view.places.files.len()
            ),
            _ => "Now some of the files themselves.".to_owned(),
        };
        return acting(say, reads);
    }
    if rounds > 0 && mind.view.rounds(ToolPurpose::Grep) == 0 {
        let names = defined(&mind.read_now());
        if let Some(name) = names.first().cloned()
            && let Some(call) = mind.call_of(ToolPurpose::Grep, search(&name))
        {
            return acting(format!("`{name}` caught my eye; where is it used?"), [call]);
        }
    }
    match closed(mind) {
        Some(closing) => closing,
        None => AgentMove::Say(answer::overview(mind)),
    }
}

/// Reads further files.
pub(super) fn further(mind: &mut AgentTurn<'_>, depth: Depth) -> AgentMove {
    if mind.past.goes_on() {
        return on(mind);
    }
    let (many, lines) = match depth {
        Depth::Skim => (4, 50),
        Depth::Whole => (3, A_READ),
    };
    let rounds = mind.view.rounds(ToolPurpose::Read);
    let listed = mind.view.rounds(ToolPurpose::Glob) + mind.view.rounds(ToolPurpose::List);
    let unread = mind.unread();
    if unread.len() < many && listed == 0 && rounds == 0 {
        let lists = listings(mind);
        if !lists.is_empty() {
            return acting("Let me see what else there is.", lists);
        }
    }
    if rounds < ROUNDS {
        let reads = reads(mind, &unread, many, lines);
        if !reads.is_empty() {
            let say = format!("{} to go; reading on.", files(unread.len()));
            return acting(say, reads);
        }
    }
    AgentMove::Say(answer::further(mind))
}

/// The text with which the agent continues after a compaction. Summaries quote it, so the agent can tell that it has
/// done so before.
const GOING_ON: &str = "Going on from the summary.";

/// Continues where a compaction interrupted the agent: one more look, then the answer. If it is interrupted again, it
/// answers at once; otherwise it would never end in a window that is too small.
fn on(mind: &mut AgentTurn<'_>) -> AgentMove {
    if mind.past.summary().contains(GOING_ON) {
        return AgentMove::Say(answer::overview(mind));
    }
    if mind.view.steps == 0 {
        let lists = listings(mind);
        if !lists.is_empty() {
            return acting(GOING_ON, lists);
        }
    }
    if mind.view.rounds(ToolPurpose::Read) == 0 {
        let unread = mind.unread();
        let reads = reads(mind, &unread, 1, A_LOOK);
        if !reads.is_empty() {
            return acting("One file that I had not seen before.", reads);
        }
    }
    match closed(mind) {
        Some(closing) => closing,
        None => AgentMove::Say(answer::overview(mind)),
    }
}

/// Lists files.
pub(super) fn list(mind: &mut AgentTurn<'_>, pattern: &str) -> AgentMove {
    if mind.view.steps == 0 {
        let hints = within(mind, json!({ "pattern": pattern }));
        let call = match mind.call_of(ToolPurpose::Glob, hints) {
            Some(call) => Some(call),
            None => here_listed(mind),
        };
        if let Some(call) = call {
            return acting(format!("Looking for `{pattern}`."), [call]);
        }
    }
    AgentMove::Say(answer::listed(mind, pattern))
}

/// How much a file tells a newcomer; a lower rank means more.
pub(super) fn rank(path: &str) -> u8 {
    let name = name_of(path).to_ascii_lowercase();
    let hidden = path.split('/').any(|part| part.starts_with('.'));
    match extension(path) {
        _ if hidden || name.ends_with(".lock") || name.contains("-lock.") => 5,
        _ if name.starts_with("readme") => 0,
        _ if matches!(
            name.as_str(),
            "cargo.toml" | "package.json" | "pyproject.toml" | "go.mod" | "makefile"
        ) =>
        {
            1
        }
        "rs" | "py" | "js" | "ts" | "go" | "java" | "c" | "h" | "cpp" | "rb" | "sh" | "kt"
        | "swift" => 2,
        "md" | "txt" | "toml" | "rst" => 3,
        _ => 4,
    }
}

/// The calls that list the folder, two levels deep. At the root of the disk they list only a small folder, because
/// listing everything would take long.
fn listings(mind: &mut AgentTurn<'_>) -> Vec<PlannedCall> {
    let patterns: &[&str] = match mind.view.folder.as_deref() {
        Some("" | "/") => &["*.conf"],
        _ => &["*", "*/*", "*/*/*"],
    };
    let mut lists = Vec::new();
    for pattern in patterns {
        let hints = within(mind, json!({ "pattern": pattern }));
        lists.extend(mind.call_of(ToolPurpose::Glob, hints));
    }
    if lists.is_empty() {
        lists.extend(here_listed(mind));
    }
    lists
}

fn here_listed(mind: &mut AgentTurn<'_>) -> Option<PlannedCall> {
    let folder = mind.path(".");
    mind.call_of(ToolPurpose::List, json!({ "path": folder }))
}

fn reads(
    mind: &mut AgentTurn<'_>,
    files: &[String],
    many: usize,
    lines: usize,
) -> Vec<PlannedCall> {
    let files = files.iter().take(many);
    let reads = files.filter_map(|file| {
        mind.call_of(
            ToolPurpose::Read,
            json!({ "file_path": file, "limit": lines }),
        )
    });
    reads.collect()
}

/// The steps of exploring the folder.
const STEPS: [&str; 3] = [
    "List the folder",
    "Read what explains it",
    "Tell what is here",
];

/// Adds the steps to the todo list.
fn planned(mind: &mut AgentTurn<'_>) -> Option<PlannedCall> {
    let states = [
        SimTodoState::Going,
        SimTodoState::Pending,
        SimTodoState::Pending,
    ];
    let todos: Vec<(String, SimTodoState)> =
        STEPS.map(str::to_owned).into_iter().zip(states).collect();
    let offer = mind.tools.of_kind(ToolPurpose::Todo)?;
    Some(mind.todo_call(offer, &todos, "write down the steps"))
}

/// Marks the steps as done, once. After a compaction they are no longer visible.
fn closed(mind: &mut AgentTurn<'_>) -> Option<AgentMove> {
    let offer = mind.tools.of_kind(ToolPurpose::Todo)?;
    let call = match mind.past.goes_on() {
        true if mind.view.rounds(ToolPurpose::Todo) == 0 => {
            let todos = STEPS.map(|step| (step.to_owned(), SimTodoState::Done));
            mind.todo_call(offer, &todos, "close the todo list")
        }
        false if mind.has_open_todos() && mind.view.rounds(ToolPurpose::Todo) == 1 => {
            mind.close_todos(offer)?
        }
        _ => return None,
    };
    Some(acting("", [call]))
}

fn opening(mind: &mut AgentTurn<'_>) -> String {
    let say = mind.chance.say(&[
        "Let me look around",
        "I will have a look",
        "First, what there is",
    ]);
    format!("{say} in `{}`.", mind.here())
}
