//! How much of a project's own settings applies: the user's decision, in the form in which the settings reader gets it.

use std::path::PathBuf;

/// Whether the user trusts a project. Only then do its programs run and its permissions apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ProjectTrust {
    /// Everything in its settings applies.
    #[default]
    Trusted,
    /// Only the restrictions in its settings apply.
    Untrusted,
}

/// What the user granted a project.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProjectGrant {
    /// Trust in the settings that came with the project.
    pub project: ProjectTrust,
    /// Trust in its `.claude/settings.local.json`, which may or may not be the user's own.
    pub local: ProjectTrust,
    /// Files and folders outside of the project, links resolved, that its files may lead to.
    pub outside: Vec<PathBuf>,
    /// Rules that forbid, in addition to those of the settings.
    pub deny: Vec<String>,
}
