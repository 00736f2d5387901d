//! What a check has found.

use serde::Serialize;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FindingState {
    /// It is as it should be.
    Ok,
    /// It is good to know.
    Note,
    /// It may become a problem.
    Warning,
    /// Something does not work because of it.
    Broken,
}

/// What a check has found.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Finding {
    /// What was looked at.
    pub(super) check: &'static str,
    pub(super) state: FindingState,
    /// What was found, without any secret.
    pub(super) says: String,
    /// What to do about it.
    pub(super) advice: Option<String>,
}

impl Finding {
    pub(super) fn new(check: &'static str, state: FindingState, says: impl Into<String>) -> Self {
        Self {
            check,
            state,
            says: says.into(),
            advice: None,
        }
    }

    pub(super) fn advise(self, advice: impl Into<String>) -> Self {
        Self {
            advice: Some(advice.into()),
            ..self
        }
    }
}
