//! The `TaskOutput` tool: tells the model whether a background agent is still at work, and returns its report.

use std::sync::Arc;

use longhaul::Boxed;
use longhaul_core::rehydrate::AgentState;
use serde_json::{Value, json};

use super::SubAgents;
use super::job::bounded;
use crate::tool::{CallContext, Tool, ToolAccess, ToolCallOutput};

/// The `TaskOutput` tool, which returns the report of a background agent.
pub(crate) struct TaskOutputTool(pub(crate) Arc<SubAgents>);

impl Tool for TaskOutputTool {
    fn name(&self) -> &str {
        "TaskOutput"
    }

    fn definition(&self) -> Value {
        json!({
            "name": self.name(),
            "description": include_str!("fragments/task_output.md").trim_end(),
            "input_schema": {
                "type": "object",
                "properties": {
                    "task_id": {"type": "string", "description": "The id that the agent was started with"},
                    "block": {"type": "boolean", "description": "Whether to wait for its end; true if left out"},
                },
                "required": ["task_id"],
            },
        })
    }

    fn access(&self, _: &Value) -> ToolAccess {
        ToolAccess::Nothing
    }

    fn line(&self, input: &Value) -> String {
        task_id(input).to_owned()
    }

    fn run<'a>(&'a self, input: Value, call: &'a CallContext) -> Boxed<'a, ToolCallOutput> {
        Box::pin(async move {
            let jobs = &self.0.jobs;
            let id = task_id(&input);
            let block = input.get("block").and_then(Value::as_bool).unwrap_or(true);
            let job = if block {
                tokio::select! {
                    job = jobs.ended(id) => job,
                    () = call.cancel.cancelled() => jobs.find(id),
                }
            } else {
                jobs.find(id)
            };
            let Some(job) = job else {
                return ToolCallOutput::error(format!(
                    "There is no agent {id:?} in the background."
                ));
            };
            match job.state {
                AgentState::Running => {
                    ToolCallOutput::text(format!("Agent {id} is still at work."), "still at work")
                }
                AgentState::Finished | AgentState::Failed => {
                    jobs.collect(id);
                    let report = bounded(&job.report, &job.transcript);
                    ToolCallOutput {
                        is_error: job.state == AgentState::Failed,
                        ..ToolCallOutput::text(report, "its report")
                    }
                }
            }
        })
    }
}

/// The id of the agent that a call asks for; empty if the call has none.
fn task_id(input: &Value) -> &str {
    let id = input.get("task_id").and_then(Value::as_str);
    id.unwrap_or_default()
}
