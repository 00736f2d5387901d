//! The rules that hold only while a prompt is worked on: those of a command of the user's own, and of skills.

use std::sync::Arc;

use crate::permission::Gate;

/// Rules that hold until this is dropped.
pub(super) struct TurnRules(Arc<dyn Gate>);

impl TurnRules {
    pub(super) fn of(gate: Arc<dyn Gate>) -> Self {
        Self(gate)
    }
}

impl Drop for TurnRules {
    fn drop(&mut self) {
        self.0.end_turn_rules();
    }
}
