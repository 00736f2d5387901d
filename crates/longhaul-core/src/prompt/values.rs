//! The host's values for the standard sections: plain values, all of them optional.
//!
//! The date is not among them: it changes at midnight and belongs to the user context.

use std::path::PathBuf;

use crate::money::Usd;

/// Values for the standard sections. Absent values are not mentioned, and a section without any value is not sent.
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
    /// The style of answers that the user wants.
    pub output_style: Option<OutputStyle>,
    /// The instructions of connected tool servers.
    pub servers: Vec<ServerInstructions>,
    /// A folder for temporary files.
    pub scratchpad: Option<PathBuf>,
    /// The fact that old parts of the conversation are removed, and the ways back to them (U2). `None` if nothing is
    /// ever compacted or cleared.
    pub history: Option<HistoryAccess>,
    /// The limits that were set for the session.
    pub budgets: SessionBudgets,
}

/// What this session offers the model, as the names of the tools for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolGuidance {
    /// The tool that asks the user.
    pub ask_tool: Option<String>,
    /// The tool that starts another agent.
    pub agent_tool: Option<String>,
    /// The tool that runs a skill.
    pub skill_tool: Option<String>,
    /// Whether a user is there to answer.
    pub presence: UserPresence,
}

/// Whether a user is there to answer questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UserPresence {
    /// A user is at the keyboard.
    #[default]
    Attended,
    /// No user is there.
    Unattended,
}

/// Where the model should write what must be remembered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryPrompt {
    /// The project's memory file.
    pub project_file: Option<PathBuf>,
    /// The user's own memory file, for all projects.
    pub user_file: Option<PathBuf>,
    /// A folder for the model's own notes.
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
    /// The branch; `None` if no branch is checked out.
    pub branch: Option<String>,
    /// Whether anything was changed.
    pub work_tree: WorkTree,
}

/// Whether a work tree differs from its last commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkTree {
    /// The work tree has no changes.
    Clean,
    /// The work tree has changes.
    Changed,
    /// The work tree was not checked.
    Unknown,
}

/// The style of answers that the user chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputStyle {
    /// The name of the style.
    pub name: String,
    /// The instructions of the style.
    pub instructions: String,
}

/// A tool server's instructions for its tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerInstructions {
    /// The server's name.
    pub name: String,
    /// The instructions, of any length: long ones are cut.
    pub instructions: String,
}

/// Ways back to parts of the conversation that are no longer in view.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HistoryAccess {
    /// The tool that brings back cleared content (X2).
    pub recall_tool: Option<String>,
    /// The session's transcript.
    pub transcript: Option<PathBuf>,
}

/// Limits of the session. They are stated once: the remaining amounts would change with every turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionBudgets {
    /// The maximum number of tokens in one answer.
    pub answer_tokens: Option<u64>,
    /// The maximum number of tokens in the session.
    pub session_tokens: Option<u64>,
    /// The maximum number of turns.
    pub turns: Option<u64>,
    /// The maximum cost.
    pub cost: Option<Usd>,
}
