//! Connects the loop's gate to the permissions. The meaning of the rules is in `permission`.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::trust::ConsentStore;

use crate::agent::{Gate, GateDecision, RuleLifetime};
use crate::event::ApprovalMode;
use crate::permission::{PermissionDecision, Permissions};
use crate::settings::TrustRequirement;
use crate::tool::{CallGuard, ToolAccess};
use crate::tools::plan;

const NOBODY: &str = "There is nobody who could agree to a plan.";

/// Decides by the permissions of a project.
pub(super) struct ProjectGate {
    pub(super) permissions: Arc<Permissions>,
    pub(super) root: PathBuf,
    pub(super) ledger: Mutex<ConsentStore>,
}

impl Gate for ProjectGate {
    fn judge(&self, tool: &str, input: &Value, access: &ToolAccess) -> GateDecision {
        // A plan needs consent whatever else may run without asking; outside of plan mode the tool itself refuses.
        if tool == plan::EXIT {
            return match self.permissions.mode() {
                ApprovalMode::Plan => GateDecision::Ask {
                    reason: "The model has made a plan and wants to begin.".to_owned(),
                    rule: None,
                },
                ApprovalMode::DontAsk => GateDecision::Deny {
                    reason: NOBODY.to_owned(),
                },
                ApprovalMode::Default
                | ApprovalMode::AcceptEdits
                | ApprovalMode::BypassPermissions => GateDecision::Allow,
            };
        }
        match self.permissions.judge(tool, input, access) {
            PermissionDecision::Allow => GateDecision::Allow,
            PermissionDecision::Ask { reason, rule } => GateDecision::Ask { reason, rule },
            PermissionDecision::Deny { reason } => GateDecision::Deny { reason },
        }
    }

    fn guard(&self, access: &ToolAccess) -> CallGuard {
        self.permissions.guard(access)
    }

    fn remember(&self, rule: &str, lasting: RuleLifetime) -> Result<(), String> {
        match lasting {
            RuleLifetime::Session => {
                let allowed = self.permissions.approve(rule);
                allowed.map_err(|error| error.to_string())
            }
            RuleLifetime::Project => {
                let allowed = self.permissions.allow_in_project(rule);
                allowed.map_err(|error| error.to_string())?;
                self.keep_answer(rule);
                Ok(())
            }
        }
    }

    fn mode(&self) -> ApprovalMode {
        self.permissions.mode()
    }

    fn set_mode(&self, mode: ApprovalMode) {
        self.permissions.set_mode(mode);
    }

    fn allow_for_turn(&self, rules: &[String]) -> Vec<String> {
        self.permissions.allow_for_turn(rules)
    }

    fn end_turn_rules(&self) {
        self.permissions.end_turn_rules();
    }

    fn forget_approvals(&self) -> usize {
        self.permissions.forget_approvals()
    }
}

impl ProjectGate {
    /// Records consent to a rule that the user just added to the project's settings, so that nobody is asked about it
    /// later.
    fn keep_answer(&self, rule: &str) {
        let want = TrustRequirement::Allow(rule.trim().to_owned());
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = ledger.agree(&self.root, [&want]) {
            tracing::warn!(%error, "the user will be asked about the rule again");
        }
    }
}
