//! How far a check came, so that the next request of the conversation is checked only from where it grew.

use std::collections::VecDeque;

use longhaul_core::models::ModelSpec;

use super::prefix::ThinkingPrefix;
use crate::call::ApiCall;
use crate::request::{ApiRole, MessagesRequest};

/// The number of stages kept: breakpoints move in the last few messages, so these are read again.
const STAGES: usize = 8;

/// The state of a check before a message.
#[derive(Debug, Clone)]
pub(crate) struct ThinkingCheckStage {
    pub(super) messages: usize,
    pub(super) prefix: ThinkingPrefix,
    pub(super) role: Option<ApiRole>,
    pub(super) in_turn: Option<u64>,
}

/// The last stages of a check that found nothing to change.
#[derive(Debug, Clone, Default)]
pub(crate) struct ThinkingCheckProgress {
    model: String,
    key: String,
    start: Option<ThinkingPrefix>,
    stages: VecDeque<ThinkingCheckStage>,
}

impl ThinkingCheckProgress {
    pub(super) fn of(
        start: &ThinkingPrefix,
        spec: &ModelSpec,
        call: &ApiCall,
    ) -> ThinkingCheckProgress {
        ThinkingCheckProgress {
            model: spec.id.clone(),
            key: call.key.clone(),
            start: Some(start.clone()),
            stages: VecDeque::new(),
        }
    }

    pub(super) fn note(
        &mut self,
        messages: usize,
        prefix: &ThinkingPrefix,
        role: Option<ApiRole>,
        in_turn: Option<u64>,
    ) {
        if self.stages.len() == STAGES {
            self.stages.pop_front();
        }
        self.stages.push_back(ThinkingCheckStage {
            messages,
            prefix: prefix.clone(),
            role,
            in_turn,
        });
    }

    /// Where to continue in a request whose first `kept` messages were checked, with the stages before it; `None` if
    /// the check must start over because something else changed.
    pub(crate) fn stage(
        &self,
        request: &MessagesRequest,
        spec: &ModelSpec,
        call: &ApiCall,
        kept: usize,
    ) -> Option<ThinkingCheckStage> {
        let same = self.model == spec.id
            && self.key == call.key
            && self.start.as_ref() == Some(&ThinkingPrefix::start(request));
        let deferred = request.tools.iter().any(|tool| tool.deferred);
        let stages = self.stages.iter().rev();
        let mut within = stages.filter(|stage| stage.messages <= kept);
        within.next().filter(|_| same && !deferred).cloned()
    }
}
