//! Why a tool call is answered with an error. Each message says what the model can do next.

use longhaul_store::archive::ArchiveError;

use super::foreign::one_line;
use crate::failure::CliError;

/// A call that cannot be answered.
#[derive(Debug, thiserror::Error)]
pub(super) enum McpToolError {
    #[error("This call of {tool} cannot be answered: {problem}. {usage}", problem = one_line(problem))]
    Input {
        tool: &'static str,
        problem: String,
        usage: &'static str,
    },
    #[error("No session of {scope} has an id that begins with {id}. Call sessions to list their ids.", id = one_line(id))]
    NoSuchSession { id: String, scope: &'static str },
    #[error("{id} is the beginning of several ids: {candidates}. Give more of the id.", id = one_line(id))]
    AmbiguousSession { id: String, candidates: String },
    #[error(
        "There are no sessions of {scope} yet. Longhaul reads the sessions of Claude Code and its own; those of other programs it cannot read."
    )]
    NoSessions { scope: &'static str },
    #[error("Nothing has the id {id}. A search with query shows the ids of its matches.", id = one_line(id))]
    UnknownId { id: String },
    #[error("The session {session} cannot be read: {reason}. Call sessions for others.", reason = one_line(reason))]
    Unreadable { session: String, reason: String },
    #[error("The index of {session} cannot be used: {reason}. Try again, or look at another session.", reason = one_line(&reason.to_string()))]
    Index {
        session: String,
        reason: ArchiveError,
    },
    #[error("The search ended early: {0}. Call the tool again.")]
    Interrupted(String),
}

impl McpToolError {
    pub(super) fn unreadable(session: &str, error: &CliError) -> Self {
        Self::Unreadable {
            session: session.to_owned(),
            reason: error.without_name(),
        }
    }
}
