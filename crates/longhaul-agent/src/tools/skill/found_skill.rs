//! A skill that was found: what is known of it before its instructions are read.

use std::path::PathBuf;

/// A skill that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// The name that the skill is invoked by.
    pub name: String,
    /// What the skill is for. The model chooses by this.
    pub description: String,
    /// The folder of the skill, absolute.
    pub folder: PathBuf,
    /// The instructions, usually `SKILL.md` in the folder.
    pub file: PathBuf,
    /// Where the instructions were found, links resolved. They are read only there, wherever the links lead by then.
    pub real: PathBuf,
    /// Who may invoke the skill.
    pub by: SkillInvoker,
    /// Rules for calls that may run without asking while it is worked on, as they are written.
    pub allowed_tools: Vec<String>,
}

/// Who may invoke a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillInvoker {
    /// The model, and also the user.
    Model,
    /// The user alone.
    User,
}
