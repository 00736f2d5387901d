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

    /// Allows by these rules until the turn ends (the front matter of the user's own commands). Returns sentences about
    /// those that are not rules.
    pub(crate) fn allow_for_turn(&self, rules: &[String]) -> Vec<String> {
        let mut state = self.write();
        let mut notices = Vec::new();
        for text in rules {
            match state.parse(text) {
                Ok(rule) => state.allowed_in_turn.push(rule),
                Err(error) => {
                    notices.push(format!("`{text}` in allowed-tools is no rule: {error}"))
                }
            }
        }
        notices
    }

    /// Ends what was allowed for the turn.
    pub(crate) fn end_turn_rules(&self) {
        self.write().allowed_in_turn.clear();
    }

    /// Forgets the approvals, and returns the number of forgotten rules.
    pub(crate) fn forget_approvals(&self) -> usize {
        std::mem::take(&mut self.write().approved).len()
    }
}
