//! Small talk: who answers, where it works, what it can do and what it cannot.

use super::super::symbols::defined;
use super::super::turn::AgentTurn;
use super::project;
use crate::model::toolbox::ToolPurpose;

/// The answer where no calls are allowed.
pub(super) const WITHOUT_TOOLS: &str =
    "I may not use tools for this, and without them I know nothing: I am a simulated model.";

/// The abilities of the agent: the tool that each needs, and how to ask for it.
const ABLE: &[(ToolPurpose, &str)] = &[
    (
        ToolPurpose::Glob,
        "look around (“what is in this project?”)",
    ),
    (ToolPurpose::Grep, "find words in files (“find main”)"),
    (
        ToolPurpose::Bash,
        "run a command that you name (“run `ls -l`”)",
    ),
    (ToolPurpose::Read, "show a file (“explain README.md”)"),
    (
        ToolPurpose::Write,
        "write a file (“write a file hello.txt saying good morning”)",
    ),
    (ToolPurpose::Todo, "keep a list (“todo read the manual”)"),
];
/// The abilities that need no tool.
const ALWAYS: &[&str] = &[
    "say what we did so far (“where were we?”)",
    "make text up to fill the window (“write a made-up text”)",
    "say who I am (“who are you?”)",
];

/// Says who answers.
pub(super) fn who() -> String {
    include_str!("who.md").trim_end().to_owned()
}

/// Says what the agent can do, with examples that work here, as far as it has seen the folder.
pub(super) fn help(mind: &AgentTurn<'_>) -> String {
    let mut text = include_str!("help.md")
        .trim_end()
        .replace("{here}", mind.here());
    let names = defined(&mind.held);
    let name = names.first().map_or("TODO", String::as_str);
    let known = mind.view.places.files.first();
    let known = project::readme(mind).or_else(|| known.cloned());
    let mut examples = vec![(ToolPurpose::Grep, format!("find {name}"))];
    if let Some(file) = known {
        let file = mind.display_path(&file);
        examples.push((ToolPurpose::Read, format!("explain {file}")));
        let all = "read everything (fills the window until it is compacted)";
        examples.push((ToolPurpose::Read, all.to_owned()));
    }
    examples.push(match project::test_command(mind) {
        Some(_) => (ToolPurpose::Bash, "run the tests".to_owned()),
        None => (ToolPurpose::Bash, "run `ls -l`".to_owned()),
    });
    for (kind, example) in examples {
        if mind.can(kind) {
            text.push_str(&format!("\n- {example}"));
        }
    }
    text
}

/// Says in which folder the agent works.
pub(super) fn folder(mind: &AgentTurn<'_>) -> String {
    match mind.view.folder.as_deref() {
        Some("") => "I work in `/`.".to_owned(),
        Some(folder) => format!("I work in `{folder}`."),
        None => "I was not told which folder I work in.".to_owned(),
    }
}

/// Says in one line that a request is beyond the agent, with three things that it can do.
pub(super) fn beyond(mind: &AgentTurn<'_>) -> String {
    let able = ABLE.iter().filter(|(kind, _)| mind.can(*kind));
    let able = able.map(|(_, how)| *how).chain(ALWAYS.iter().copied());
    let able: Vec<&str> = able.take(3).collect();
    let able = match able.as_slice() {
        [first, second, third] => format!("{first}, {second}, or {third}"),
        others => others.join(", "),
    };
    format!("I cannot do that: I am a simulated model and go by keywords. I can {able}.")
}

/// Says that pictures are not seen.
pub(super) fn pictures(mind: &AgentTurn<'_>) -> String {
    let what = match mind.view.pictures {
        1 => "The picture is here, but".to_owned(),
        many => format!("The {many} pictures are here, but"),
    };
    format!("{what} I am a simulated model and see none. A real one would.")
}

/// Acknowledges a rule, without a promise that keywords cannot keep.
pub(super) fn noted() -> String {
    "Noted. I only read unless you tell me otherwise, and a compaction keeps your rule word for word.".to_owned()
}

pub(super) fn thanks(mind: &mut AgentTurn<'_>) -> String {
    let say = ["You are welcome.", "Gladly.", "Any time."];
    mind.chance.say(&say).to_owned()
}

/// The answer to an order that lacks something.
pub(super) fn unclear(how: &str) -> String {
    format!("I understand only simple words. Put it like this: {how}")
}
