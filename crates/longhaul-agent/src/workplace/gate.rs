//! Permissions as the loop asks them. What the rules mean is in `permission`.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use super::trust::Ledger;

use crate::agent::{Gate, Judged, Lasting};
use crate::event::Mode;
use crate::permission::{Judgement, Permissions};
use crate::settings::Want;
use crate::tool::{Access, Guard};
use crate::tools::plan;

const NOBODY: &str = "There is nobody who could agree to a plan.";

/// Judges by the permissions of a project.
pub(super) struct ProjectGate {
    pub(super) permissions: Arc<Permissions>,
    pub(super) root: PathBuf,
    pub(super) ledger: Mutex<Ledger>,
}

impl Gate for ProjectGate {
    fn judge(&self, tool: &str, input: &Value, access: &Access) -> Judged {
        // A plan needs consent whatever else runs unasked; outside of plan mode the tool itself says no.
        if tool == plan::EXIT {
            return match self.permissions.mode() {
                Mode::Plan => Judged::Ask {
                    reason: "The model has made a plan and wants to begin.".to_owned(),
                    rule: None,
                },
                Mode::DontAsk => Judged::Deny {
                    reason: NOBODY.to_owned(),
                },
                Mode::Default | Mode::AcceptEdits | Mode::BypassPermissions => Judged::Allow,
            };
        }
        match self.permissions.judge(tool, input, access) {
            Judgement::Allow => Judged::Allow,
            Judgement::Ask { reason, rule } => Judged::Ask { reason, rule },
            Judgement::Deny { reason } => Judged::Deny { reason },
        }
    }

    fn guard(&self, access: &Access) -> Guard {
        self.permissions.guard(access)
    }

    fn remember(&self, rule: &str, lasting: Lasting) -> Result<(), String> {
        match lasting {
            Lasting::Session => {
                let allowed = self.permissions.approve(rule);
                allowed.map_err(|error| error.to_string())
            }
            Lasting::Project => {
                let allowed = self.permissions.allow_in_project(rule);
                allowed.map_err(|error| error.to_string())?;
                self.keep_answer(rule);
                Ok(())
            }
        }
    }

    fn mode(&self) -> Mode {
        self.permissions.mode()
    }

    fn set_mode(&self, mode: Mode) {
        self.permissions.set_mode(mode);
    }

    fn forget_approvals(&self) -> usize {
        self.permissions.forget_approvals()
    }
}

impl ProjectGate {
    /// The project's settings hold a rule of the user's own now: who gave it need not be asked about it.
    fn keep_answer(&self, rule: &str) {
        let want = Want::Allow(rule.trim().to_owned());
        let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = ledger.agree(&self.root, [&want]) {
            tracing::warn!(%error, "who gave the rule will be asked about it");
        }
    }
}
