//! What the user approved of while the agent worked, for the session alone. It ends with a compaction (C1): the model then
//! works from a summary, and what the user had in mind may not be in it. Rules of settings and flags are no approvals.

use super::{PermissionRuleError, Permissions};

impl Permissions {
    /// The user approves of calls like one that was asked for, until the conversation is compacted.
    pub(crate) fn approve(&self, rule: &str) -> Result<(), PermissionRuleError> {
        let mut state = self.write();
        let rule = state.parse(rule)?;
        state.approved.push(rule);
        Ok(())
    }

    /// Forgets what was approved of, and gives how many rules that were.
    pub(crate) fn forget_approvals(&self) -> usize {
        std::mem::take(&mut self.write().approved).len()
    }
}
