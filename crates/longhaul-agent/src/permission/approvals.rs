//! What the user approved during the work, for the session alone. It ends with a compaction (C1): the model then works
//! from a summary, which may not contain what the user had in mind. Rules from settings and flags are not approvals.

use super::{PermissionRuleError, Permissions};

impl Permissions {
    /// Approves calls like one that was asked about, until the conversation is compacted.
    pub(crate) fn approve(&self, rule: &str) -> Result<(), PermissionRuleError> {
        let mut state = self.write();
        let rule = state.parse(rule)?;
        state.approved.push(rule);
        Ok(())
    }

    /// Forgets the approvals, and returns the number of forgotten rules.
    pub(crate) fn forget_approvals(&self) -> usize {
        std::mem::take(&mut self.write().approved).len()
    }
}
