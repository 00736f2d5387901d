//! How much of what came with a project counts: what the user said to it, as it is handed to whoever reads its settings.

use std::path::PathBuf;

/// Whether the user trusts a project: what it brings runs and is allowed only then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProjectTrust {
    /// All that it says counts.
    #[default]
    Trusted,
    /// Of its settings only what forbids counts.
    Untrusted,
}

/// What the user granted a project.
#[derive(Debug, Clone, Default)]
pub struct ProjectGrant {
    /// To the settings that came with it.
    pub project: ProjectTrust,
    /// To its `.claude/settings.local.json`, which may be the user's own and may not.
    pub local: ProjectTrust,
    /// Files and folders outside of the project, links resolved, that its files may lead to.
    pub outside: Vec<PathBuf>,
    /// Rules that forbid, beside those of the settings.
    pub deny: Vec<String>,
}
