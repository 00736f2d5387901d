//! The answer to whether a call may run.

const PLAN_MODE: &str = include_str!("plan_mode.md");

/// The decision about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionDecision {
    /// The call may run.
    Allow,
    /// The user decides.
    Ask {
        /// Why the user is asked, in a sentence for people.
        reason: String,
        /// A rule that would allow similar calls.
        rule: Option<String>,
    },
    /// The call may not run.
    Deny {
        /// Why the call may not run, in a sentence for the model.
        reason: String,
    },
}

impl PermissionDecision {
    /// The answer to a call that would change something in plan mode.
    pub(super) fn not_in_plan_mode() -> Self {
        Self::Deny {
            reason: PLAN_MODE.trim_end().to_owned(),
        }
    }
}
