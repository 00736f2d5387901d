//! Tests everything that shapes the `system` of a request and the text before its first message (A).

mod assembled;
mod blocks;
mod fragments;
mod memory;
mod renderings;
mod sections;
mod user_context;

use std::path::PathBuf;

use longhaul_core::money::Usd;
use longhaul_core::prompt::{
    Environment, GitState, HistoryAccess, HostValues, MemoryPrompt, OutputStyle, PromptSection,
    SectionRegistry, ServerInstructions, SessionBudgets, StandardSection, ToolGuidance,
    UserPresence, WorkTree, agent_registry,
};
use proptest::prelude::*;

/// Returns a host that has values for everything.
fn talkative() -> HostValues {
    let some = |text: &str| Some(text.to_owned());
    HostValues {
        guidance: ToolGuidance {
            ask_tool: some("AskUser"),
            agent_tool: some("Task"),
            skill_tool: some("Skill"),
            presence: UserPresence::Unattended,
        },
        memory: MemoryPrompt {
            project_file: Some("/src/boat/AGENTS.md".into()),
            user_file: Some("/users/ada/.claude/CLAUDE.md".into()),
            notes_folder: Some("/data/longhaul/notes".into()),
        },
        environment: Environment {
            cwd: Some("/src/boat/hull".into()),
            further: vec!["/src/oar".into(), "/src/sail".into()],
            git: Some(GitState {
                branch: some("keel"),
                work_tree: WorkTree::Changed,
            }),
            os: some("Linux 6.12"),
            shell: some("bash"),
            model: some("claude-opus-5-5"),
        },
        language: some("Portuguese"),
        output_style: Some(OutputStyle {
            name: "Terse".to_owned(),
            instructions: "Answer in one sentence.\nNever two.\n".to_owned(),
        }),
        servers: vec![
            server("weather", "Ask for a place, not for coordinates."),
            server("charts", "Depths are in metres.\nTides are in UTC."),
        ],
        scratchpad: Some("/tmp/longhaul/s1".into()),
        history: Some(HistoryAccess {
            recall_tool: some("Recall"),
            transcript: Some("/data/longhaul/projects/boat/s1.jsonl".into()),
        }),
        budgets: SessionBudgets {
            answer_tokens: Some(32_000),
            session_tokens: Some(2_000_000),
            turns: Some(50),
            cost: Some(Usd::from_pico(12_500_000_000_000)),
        },
    }
}

fn server(name: &str, instructions: &str) -> ServerInstructions {
    ServerInstructions {
        name: name.to_owned(),
        instructions: instructions.to_owned(),
    }
}

/// Returns the text of a standard section.
fn standard(section: &PromptSection, values: &HostValues) -> Option<String> {
    StandardSection::of(section)?.text(values)
}

/// Returns the default agent's registry, refreshed.
fn agent(values: &HostValues) -> SectionRegistry {
    let mut registry = agent_registry().unwrap();
    registry.refresh(|section| standard(section, values));
    registry
}

/// Returns hosts with any values, including hostile names.
fn any_values() -> impl Strategy<Value = HostValues> {
    let text = || prop::option::of("\\PC{0,20}|[a-z\n{}]{0,12}");
    let path = || text().prop_map(|text| text.map(PathBuf::from));
    let servers = prop::collection::vec(("[a-c]{1,2}", "\\PC{0,40}"), 0..4);
    (
        (text(), text(), path(), path(), text()),
        (text(), text(), servers, path()),
        (text(), prop::option::of(any::<u64>()), any::<bool>()),
    )
        .prop_map(|(place, manner, rest)| HostValues {
            guidance: ToolGuidance {
                ask_tool: place.0,
                presence: if rest.2 {
                    UserPresence::Attended
                } else {
                    UserPresence::Unattended
                },
                ..ToolGuidance::default()
            },
            memory: MemoryPrompt {
                user_file: place.3,
                ..MemoryPrompt::default()
            },
            environment: Environment {
                cwd: place.2,
                git: place.1.map(|branch| GitState {
                    branch: Some(branch),
                    work_tree: WorkTree::Clean,
                }),
                model: place.4,
                ..Environment::default()
            },
            language: manner.0,
            output_style: manner.1.map(|instructions| OutputStyle {
                name: "any".to_owned(),
                instructions,
            }),
            servers: manner
                .2
                .iter()
                .map(|(name, text)| server(name, text))
                .collect(),
            scratchpad: manner.3,
            history: rest.0.map(|tool| HistoryAccess {
                recall_tool: Some(tool),
                transcript: None,
            }),
            budgets: SessionBudgets {
                turns: rest.1,
                ..SessionBudgets::default()
            },
        })
}
