//! The `Task` tool: starts sub-agents.

use std::sync::Arc;

use longhaul::Boxed;
use serde_json::{Value, json};

use super::job::bounded;
use super::{SubAgentOrder, SubAgents, ended_badly, listing};
use crate::event::PromptOutcome;
use crate::tool::{CallContext, Tool, ToolAccess, ToolCallOutput};

/// Starts sub-agents.
pub(crate) struct TaskTool(pub(crate) Arc<SubAgents>);

impl Tool for TaskTool {
    fn name(&self) -> &str {
        "Task"
    }

    fn definition(&self) -> Value {
        let kinds = listing(&self.0.shared.recipe.kinds).join("\n");
        let description = include_str!("fragments/task.md").trim_end();
        json!({
            "name": self.name(),
            "description": description.replace("{kinds}", &kinds),
            "input_schema": {
                "type": "object",
                "properties": {
                    "description": {"type": "string", "description": "The task in three to five words"},
                    "prompt": {"type": "string", "description": "All that the agent must know"},
                    "subagent_type": {"type": "string", "description": "The kind of agent"},
                    "run_in_background": {"type": "boolean", "description": "Whether to go on without waiting for it"},
                    "model": {"type": "string", "description": "Another model than yours; leave it out unless the user asked for one"},
                },
                "required": ["description", "prompt", "subagent_type"],
            },
        })
    }

    // The sub-agent itself asks for permission for whatever it touches.
    fn access(&self, _: &Value) -> ToolAccess {
        ToolAccess::Nothing
    }

    fn line(&self, input: &Value) -> String {
        let kind = text(input, "subagent_type").unwrap_or_default();
        let description = text(input, "description").unwrap_or_default();
        format!("{kind}: {description}")
            .trim_matches([':', ' '])
            .to_owned()
    }

    fn run<'a>(&'a self, input: Value, call: &'a CallContext) -> Boxed<'a, ToolCallOutput> {
        Box::pin(async move {
            let order = match self.order(&input) {
                Ok(order) => order,
                Err(sentence) => return ToolCallOutput::error(sentence),
            };
            if input.get("run_in_background").and_then(Value::as_bool) == Some(true) {
                return self.in_background(order);
            }
            let ran = self
                .0
                .run(order, call.cancel.clone(), call.progress.clone());
            let report = match ran.await {
                Ok(report) => report,
                Err(error) => {
                    return ToolCallOutput::error(format!("The agent cannot start: {error}"));
                }
            };
            // The user refused a call of the agent without a reason, which stops the work, as it does for a call of the
            // main conversation.
            if report.ended == PromptOutcome::Cancelled {
                call.work.cancel();
            }
            if report.ended != PromptOutcome::Done {
                return ToolCallOutput::error(ended_badly(&report));
            }
            let said = match report.text.trim() {
                "" => include_str!("fragments/silent.txt")
                    .trim_end()
                    .replace("{transcript}", &report.transcript.display().to_string()),
                text => bounded(text, &report.transcript),
            };
            let counted = |number: usize, noun: &str| match number {
                1 => format!("1 {noun}"),
                many => format!("{many} {noun}s"),
            };
            let turns = counted(report.turns as usize, "turn");
            let line = format!("{turns}, {}", counted(report.calls, "call"));
            ToolCallOutput::text(said, line)
        })
    }
}

impl TaskTool {
    fn order(&self, input: &Value) -> Result<SubAgentOrder, String> {
        let prompt =
            text(input, "prompt").ok_or("`prompt` is missing: say what the agent shall do.")?;
        let named = text(input, "subagent_type");
        let kind = self.0.kind(named).ok_or_else(|| {
            let kinds = self.0.shared.recipe.kinds.iter();
            let names: Vec<&str> = kinds.map(|kind| &*kind.name).collect();
            format!(
                "There is no such kind of agent. There are: {}",
                names.join(", ")
            )
        })?;
        Ok(SubAgentOrder {
            description: text(input, "description").unwrap_or("a task").to_owned(),
            prompt: prompt.to_owned(),
            kind: kind.clone(),
            model: text(input, "model").map(str::to_owned),
        })
    }

    fn in_background(&self, order: SubAgentOrder) -> ToolCallOutput {
        let (kind, description) = (order.kind.name.clone(), order.description.clone());
        let (id, transcript) = self.0.start(order);
        let said = include_str!("fragments/started.txt")
            .trim_end()
            .replace("{id}", &id)
            .replace("{transcript}", &transcript.display().to_string())
            .replace("{kind}", &kind)
            .replace("{description}", &description);
        ToolCallOutput::text(said, format!("{id} started"))
    }
}

fn text<'a>(input: &'a Value, name: &str) -> Option<&'a str> {
    let text = input.get(name).and_then(Value::as_str)?;
    (!text.trim().is_empty()).then_some(text)
}
