//! What the loop asks before a call runs. [`Permissions`](super::Permissions) answer it by rules and modes; tests and other
//! hosts have gates of their own.

use serde_json::Value;

use super::PermissionDecision;
use crate::event::ApprovalMode;
use crate::tool::{CallGuard, ToolAccess};

/// How long a rule that the user agreed to applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleLifetime {
    /// The rule applies to this session.
    Session,
    /// The rule applies to this project and is written to its settings.
    Project,
}

/// Decides which calls may run.
///
/// An implementation answers at once from what it knows and asks nobody: asking the user is the loop's task.
pub trait Gate: Send + Sync {
    /// Decides about a call.
    fn judge(&self, tool: &str, input: &Value, access: &ToolAccess) -> PermissionDecision;

    /// What a call that this gate lets run without asking is guarded against.
    fn guard(&self, _: &ToolAccess) -> CallGuard {
        CallGuard::Nothing
    }

    /// Remembers a rule that the user agreed to. The error is a sentence that says what could not be saved.
    fn remember(&self, rule: &str, lasting: RuleLifetime) -> Result<(), String>;

    /// Which calls may run without asking.
    fn mode(&self) -> ApprovalMode;

    /// Sets the mode from now on.
    fn set_mode(&self, mode: ApprovalMode);

    /// Allows calls by these rules until the turn ends, in addition to other rules that allow. Returns sentences about
    /// those that are not rules.
    fn allow_for_turn(&self, _rules: &[String]) -> Vec<String> {
        Vec::new()
    }

    /// Ends what was allowed for the turn.
    fn end_turn_rules(&self) {}

    /// The hosts that rules forbid to fetch from or to search in, as the rules name them.
    fn forbidden_hosts(&self) -> Vec<String> {
        Vec::new()
    }

    /// Forgets what the user approved for the session alone, because the conversation was compacted; it is asked for
    /// again. Returns the number of forgotten rules. Rules from settings and flags stay.
    fn forget_approvals(&self) -> usize {
        0
    }
}

/// Lets every call run: for tests, and for hosts that ask for it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OpenGate;

impl Gate for OpenGate {
    fn judge(&self, _: &str, _: &Value, _: &ToolAccess) -> PermissionDecision {
        PermissionDecision::Allow
    }

    fn remember(&self, _: &str, _: RuleLifetime) -> Result<(), String> {
        Ok(())
    }

    fn mode(&self) -> ApprovalMode {
        ApprovalMode::BypassPermissions
    }

    fn set_mode(&self, _: ApprovalMode) {}
}
