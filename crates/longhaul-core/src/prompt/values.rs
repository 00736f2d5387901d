//! What a host knows and the standard sections tell: plain values, all of them optional.
//!
//! The date is not among them: it changes at midnight, and belongs to the user context.

use std::path::PathBuf;

use crate::money::Usd;

/// Values for the standard sections. What is absent is not spoken of; a section with nothing to say is not sent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HostValues {
    /// What this session offers the model.
    pub guidance: ToolGuidance,
    /// Where memories are written.
    pub memory: MemoryPrompt,
    /// Where the session runs.
    pub environment: Environment,
    /// The language the user wants to be answered in.
    pub language: Option<String>,
    /// How answers should be.
    pub output_style: Option<OutputStyle>,
    /// What connected tool servers say about themselves.
    pub servers: Vec<ServerInstructions>,
    /// A folder for temporary files.
    pub scratchpad: Option<PathBuf>,
    /// That old parts of the conversation go away, and the ways back to them (U2). None where nothing is ever
    /// compacted or cleared.
    pub history: Option<HistoryAccess>,
    /// Limits that were set for the session.
    pub budgets: SessionBudgets,
}

/// What this session offers the model, by the names of the tools for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolGuidance {
    /// The tool that asks the user.
    pub ask_tool: Option<String>,
    /// The tool that starts another agent.
    pub agent_tool: Option<String>,
    /// The tool that runs a skill.
    pub skill_tool: Option<String>,
    /// Whether anybody is there to answer.
    pub presence: UserPresence,
}

/// Whether a user is there to answer questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UserPresence {
    /// Somebody is at the keyboard.
    #[default]
    Attended,
    /// Nobody is.
    Unattended,
}

/// Where the model is to write what should be remembered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryPrompt {
    /// The project's memory file.
    pub project_file: Option<PathBuf>,
    /// The user's own, for all projects.
    pub user_file: Option<PathBuf>,
    /// A folder for notes of the model's own.
    pub notes_folder: Option<PathBuf>,
}

/// Where the session runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// The working directory.
    pub cwd: Option<PathBuf>,
    /// Other directories that the session may work in.
    pub further: Vec<PathBuf>,
    /// The repository, if the working directory is in one.
    pub git: Option<GitState>,
    /// The operating system and its version.
    pub os: Option<String>,
    /// The shell that runs commands.
    pub shell: Option<String>,
    /// The model's name.
    pub model: Option<String>,
}

/// A repository, as it was when the section was computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitState {
    /// The branch; none if no branch is checked out.
    pub branch: Option<String>,
    /// Whether anything was changed.
    pub work_tree: WorkTree,
}

/// Whether a work tree differs from its last commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkTree {
    /// It does not.
    Clean,
    /// It does.
    Changed,
    /// Nobody looked.
    Unknown,
}

/// How answers should be, by the user's choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputStyle {
    /// What the style is called.
    pub name: String,
    /// What it asks for.
    pub instructions: String,
}

/// What a tool server says about its tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerInstructions {
    /// The server's name.
    pub name: String,
    /// Its instructions, of any length: long ones are cut.
    pub instructions: String,
}

/// Ways back to what is no longer in view.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HistoryAccess {
    /// The tool that brings back what was cleared (X2).
    pub recall_tool: Option<String>,
    /// The session's transcript.
    pub transcript: Option<PathBuf>,
}

/// Limits of the session. They are stated once: what is left of them would change with every turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionBudgets {
    /// The most tokens of one answer.
    pub answer_tokens: Option<u64>,
    /// The most tokens of the session.
    pub session_tokens: Option<u64>,
    /// The most turns.
    pub turns: Option<u64>,
    /// The most it may cost.
    pub cost: Option<Usd>,
}
