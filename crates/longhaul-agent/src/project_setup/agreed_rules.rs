//! Remembers that the user agreed to the rules that they added to the project's settings while they worked.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::trust::ConsentStore;
use crate::permission::ConsentKeeper;
use crate::settings::TrustRequirement;

/// The user's answers about one project.
#[derive(Debug)]
pub(super) struct AgreedRules {
    pub(super) root: PathBuf,
    pub(super) answers: Mutex<ConsentStore>,
}

impl ConsentKeeper for AgreedRules {
    fn agreed(&self, rule: &str) {
        let want = TrustRequirement::Allow(rule.trim().to_owned());
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = answers.agree(&self.root, [&want]) {
            tracing::warn!(%error, "the user will be asked about the rule again");
        }
    }
}
