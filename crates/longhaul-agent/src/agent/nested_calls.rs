//! Calls that a tool makes as a part of its own call: the commands for the shell in a skill. Each has its hooks, rules and
//! questions, like a call of the model.

use std::sync::Arc;

use longhaul::Boxed;
use longhaul_provider::CancellationToken;
use serde_json::Value;

use super::requested_call::RequestedCall;
use super::tool_executor::{CallAudience, ToolExecutor};
use crate::tool::{NestedCalls, SingleCall};

/// Runs calls as a part of another one.
pub(super) struct CallsOfCall {
    executor: ToolExecutor,
    /// The id of the call that they are a part of.
    id: String,
    cancel: CancellationToken,
}

impl CallsOfCall {
    pub(super) fn new(
        executor: &ToolExecutor,
        call: &RequestedCall,
        cancel: &CancellationToken,
    ) -> Self {
        Self {
            // These are no calls of the model: whoever makes them tells about them.
            executor: ToolExecutor {
                audience: CallAudience::Progress(Arc::new(|_| {})),
                ..executor.clone()
            },
            id: call.id.clone(),
            cancel: cancel.clone(),
        }
    }
}

impl NestedCalls for CallsOfCall {
    fn run<'a>(&'a self, tool: &'a str, input: Value) -> Boxed<'a, SingleCall> {
        Box::pin(async move {
            let call = RequestedCall {
                id: self.id.clone(),
                name: tool.to_owned(),
                input: Some(input),
            };
            self.executor.run_one(&call, &self.cancel).await
        })
    }

    fn allow_for_turn(&self, rules: &[String]) -> Vec<String> {
        self.executor.gate.allow_for_turn(rules)
    }
}
