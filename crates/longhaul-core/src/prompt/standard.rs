//! The standard dynamic sections and their texts, made from the host's values (A1).

use std::borrow::Cow;
use std::path::Path;

use super::fragment::{fill, one_line, shown_path};
use super::section::{EveryTurnReason, PromptSection, SectionLifetime};
use super::values::{
    Environment, GitState, HistoryAccess, HostValues, MemoryPrompt, OutputStyle,
    ServerInstructions, SessionBudgets, ToolGuidance, UserPresence, WorkTree,
};
use crate::tokens::RoughEstimator;
use crate::tokens::cut;

/// The maximum number of tokens of one server's instructions, since they are foreign text in the most influential
/// position.
const SERVER_TOKENS: u64 = 2_000;

const SERVERS_COME_AND_GO: EveryTurnReason = EveryTurnReason::known(
    "servers connect and disconnect while a session runs, and their tools change the request in the same moment",
);

/// A dynamic section that Longhaul can write itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StandardSection {
    /// What the session offers the model.
    Guidance,
    /// Where memories are written.
    Memory,
    /// Where the session runs.
    Environment,
    /// The user's language.
    Language,
    /// The style of answers that the user wants.
    OutputStyle,
    /// The instructions of tool servers.
    Servers,
    /// The folder for temporary files.
    Scratchpad,
    /// The fact that old results are cleared, and the ways back to them.
    History,
    /// The limits of the session.
    Budgets,
}

impl StandardSection {
    /// All standard sections, in the order in which they are sent.
    pub const ALL: [Self; 9] = [
        Self::Guidance,
        Self::Memory,
        Self::Environment,
        Self::Language,
        Self::OutputStyle,
        Self::Servers,
        Self::Scratchpad,
        Self::History,
        Self::Budgets,
    ];

    /// Returns the section for a registry.
    pub const fn section(self) -> PromptSection {
        let (name, lifetime) = match self {
            Self::Guidance => ("guidance", SectionLifetime::Kept),
            Self::Memory => ("memory", SectionLifetime::Kept),
            Self::Environment => ("environment", SectionLifetime::Kept),
            Self::Language => ("language", SectionLifetime::Kept),
            Self::OutputStyle => ("output_style", SectionLifetime::Kept),
            Self::Servers => ("mcp", SectionLifetime::EveryTurn(SERVERS_COME_AND_GO)),
            Self::Scratchpad => ("scratchpad", SectionLifetime::Kept),
            Self::History => ("history", SectionLifetime::Kept),
            Self::Budgets => ("budgets", SectionLifetime::Kept),
        };
        PromptSection::computed(name, lifetime)
    }

    /// Returns the standard section of this name. A host's own sections have other names, and the host writes them
    /// itself.
    pub fn of(section: &PromptSection) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|standard| standard.section().name() == section.name())
    }

    /// Returns the section's text, or `None` if the host has no values for it.
    pub fn text(self, values: &HostValues) -> Option<String> {
        match self {
            Self::Guidance => guidance(&values.guidance),
            Self::Memory => memory(&values.memory),
            Self::Environment => environment(&values.environment),
            Self::Language => language(values.language.as_deref()?),
            Self::OutputStyle => output_style(values.output_style.as_ref()?),
            Self::Servers => servers(&values.servers),
            Self::Scratchpad => scratchpad(values.scratchpad.as_deref()?),
            Self::History => history(values.history.as_ref()?),
            Self::Budgets => budgets(&values.budgets),
        }
    }
}

fn guidance(values: &ToolGuidance) -> Option<String> {
    let offers = fill(include_str!("fragments/guidance.md"), |name| match name {
        "ask_tool" => line(&values.ask_tool),
        "agent_tool" => line(&values.agent_tool),
        "skill_tool" => line(&values.skill_tool),
        _ => None,
    });
    let alone = match values.presence {
        UserPresence::Attended => None,
        UserPresence::Unattended => Some(include_str!("fragments/unattended.md").trim_end()),
    };
    match (offers.if_any(), alone) {
        (Some(offers), Some(alone)) => Some(format!("{offers}\n\n{alone}")),
        (offers, alone) => offers.or(alone.map(str::to_owned)),
    }
}

fn memory(values: &MemoryPrompt) -> Option<String> {
    fill(include_str!("fragments/memory.md"), |name| match name {
        "project_file" => path(values.project_file.as_deref()),
        "user_file" => path(values.user_file.as_deref()),
        "notes_folder" => path(values.notes_folder.as_deref()),
        _ => None,
    })
    .if_any()
}

fn environment(values: &Environment) -> Option<String> {
    fill(
        include_str!("fragments/environment.md"),
        |name| match name {
            "cwd" => path(values.cwd.as_deref()),
            "further" => further(values),
            "git" => values.git.as_ref().map(git),
            "os" => line(&values.os),
            "shell" => line(&values.shell),
            "model" => line(&values.model),
            _ => None,
        },
    )
    .if_any()
}

fn further(values: &Environment) -> Option<Cow<'_, str>> {
    let paths = values
        .further
        .iter()
        .filter_map(|further| path(Some(further)));
    let quoted: Vec<_> = paths.map(|path| format!("`{path}`")).collect();
    (!quoted.is_empty()).then(|| quoted.join(", ").into())
}

fn git(git: &GitState) -> Cow<'_, str> {
    let branch = match &git.branch {
        Some(branch) => format!("on branch `{}`", one_line(branch)),
        None => "no branch is checked out".to_owned(),
    };
    match git.work_tree {
        WorkTree::Clean => format!("{branch}, nothing uncommitted"),
        WorkTree::Changed => format!("{branch}, with uncommitted changes"),
        WorkTree::Unknown => branch,
    }
    .into()
}

fn language(language: &str) -> Option<String> {
    fill(include_str!("fragments/language.md"), |_| some(language)).if_any()
}

fn output_style(style: &OutputStyle) -> Option<String> {
    fill(
        include_str!("fragments/output_style.md"),
        |name| match name {
            "name" => some(&style.name),
            _ => Some(style.instructions.trim().into()),
        },
    )
    .if_any()
}

/// Returns the servers' instructions, sorted by name so that the order of connection has no effect.
fn servers(servers: &[ServerInstructions]) -> Option<String> {
    let mut servers: Vec<_> = servers.iter().collect();
    servers.retain(|server| !server.instructions.trim().is_empty());
    servers.sort_by(|a, b| (&a.name, &a.instructions).cmp(&(&b.name, &b.instructions)));
    let mut text = String::new();
    for server in servers {
        let instructions = bounded(server.instructions.trim());
        let one = fill(include_str!("fragments/mcp_server.md"), |name| match name {
            "name" => Some(one_line(&server.name)),
            _ => Some(Cow::Borrowed(&*instructions)),
        });
        text.push_str("\n\n");
        text.push_str(&one.text);
    }
    let opening = include_str!("fragments/mcp.md").trim_end();
    (!text.is_empty()).then(|| format!("{opening}{text}"))
}

fn bounded(instructions: &str) -> Cow<'_, str> {
    let units = cut::units_within(SERVER_TOKENS);
    if cut::units(instructions) <= units {
        return instructions.into();
    }
    let kept = cut::at_line(instructions, units);
    let missing = RoughEstimator::text(&instructions[kept.len()..]).unpadded();
    let note = fill(include_str!("fragments/mcp_cut.md"), |_| {
        Some(missing.to_string().into())
    });
    format!("{}\n{}", kept.trim_end(), note.text).into()
}

fn scratchpad(folder: &Path) -> Option<String> {
    fill(include_str!("fragments/scratchpad.md"), |_| {
        path(Some(folder))
    })
    .if_any()
}

fn history(history: &HistoryAccess) -> Option<String> {
    let opening = include_str!("fragments/history.md").trim_end();
    let ways = fill(
        include_str!("fragments/history_ways.md"),
        |name| match name {
            "recall_tool" => line(&history.recall_tool),
            "transcript" => path(history.transcript.as_deref()),
            _ => None,
        },
    );
    let repeat = match history.recall_tool {
        Some(_) => "",
        None => concat!("\n", include_str!("fragments/history_repeat.md")),
    };
    Some(format!("{opening}\n\n{}{}", ways.text, repeat.trim_end()))
}

fn budgets(budgets: &SessionBudgets) -> Option<String> {
    let number = |value: Option<u64>| Some(value?.to_string().into());
    fill(include_str!("fragments/budgets.md"), |name| match name {
        "answer" => number(budgets.answer_tokens),
        "session" => number(budgets.session_tokens),
        "turns" => number(budgets.turns),
        "cost" => Some(budgets.cost?.to_string().into()),
        _ => None,
    })
    .if_any()
}

fn line(value: &Option<String>) -> Option<Cow<'_, str>> {
    some(value.as_deref()?)
}

/// Returns a value on one line, if it is not blank.
fn some(value: &str) -> Option<Cow<'_, str>> {
    let value = value.trim();
    (!value.is_empty()).then(|| one_line(value))
}

fn path(path: Option<&Path>) -> Option<Cow<'_, str>> {
    path.filter(|path| !path.as_os_str().is_empty())
        .map(shown_path)
}
