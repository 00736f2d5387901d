//! The seam to permissions: whether a call may run. The rules themselves are in `permission`.

use serde_json::Value;

use crate::event::ApprovalMode;
use crate::tool::{CallGuard, ToolAccess};

/// What is said of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateDecision {
    /// It may run.
    Allow,
    /// The user is asked.
    Ask {
        /// Why.
        reason: String,
        /// A rule that would allow calls like it from now on.
        rule: Option<String>,
    },
    /// It may not.
    Deny {
        /// Why.
        reason: String,
    },
}

/// How long a rule holds that the user agreed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleLifetime {
    /// For this session.
    Session,
    /// For this project: it goes into its settings.
    Project,
}

/// Says which calls may run.
///
/// An implementer answers from what it knows, at once and without asking anybody: asking is the loop's.
pub trait Gate: Send + Sync {
    /// Judges a call.
    fn judge(&self, tool: &str, input: &Value, access: &ToolAccess) -> GateDecision;

    /// From what a call is guarded that this gate lets run unasked.
    fn guard(&self, _: &ToolAccess) -> CallGuard {
        CallGuard::Nothing
    }

    /// The user agreed to a rule. What could not be kept is said in a sentence.
    fn remember(&self, rule: &str, lasting: RuleLifetime) -> Result<(), String>;

    /// What may run unasked.
    fn mode(&self) -> ApprovalMode;

    /// Another mode from now on.
    fn set_mode(&self, mode: ApprovalMode);

    /// The conversation was compacted: what the user approved of for the session alone is asked for again. Gives how
    /// many rules that were. Rules of settings and flags stay.
    fn forget_approvals(&self) -> usize {
        0
    }
}

/// Lets everything run: for tests, and for who asked for it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OpenGate;

impl Gate for OpenGate {
    fn judge(&self, _: &str, _: &Value, _: &ToolAccess) -> GateDecision {
        GateDecision::Allow
    }

    fn remember(&self, _: &str, _: RuleLifetime) -> Result<(), String> {
        Ok(())
    }

    fn mode(&self) -> ApprovalMode {
        ApprovalMode::BypassPermissions
    }

    fn set_mode(&self, _: ApprovalMode) {}
}
