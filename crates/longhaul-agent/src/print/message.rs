//! The objects of `json` and `stream-json`, in the shape in which Claude Code writes them.

use longhaul::session::RetryWait;
use longhaul_core::engine::CompactionSuccess;
use longhaul_core::figures::counted;
use longhaul_core::message::Usage;
use serde_json::{Value, json};

use crate::agent::{Agent, UsageTotal};
use crate::event::PromptOutcome;
use crate::retry_words;
use crate::tool::ToolCallOutput;

/// The object for the start of a session.
pub(super) fn init(agent: &Agent) -> Value {
    json!({
        "type": "system",
        "subtype": "init",
        "session_id": agent.session_id(),
        "cwd": agent.place().cwd,
        "model": agent.model(),
        "tools": agent.tool_names(),
        "permissionMode": agent.mode(),
        "transcript_path": agent.place().transcript,
    })
}

/// The object for a reply.
pub(super) fn assistant(session: &str, message: &Value) -> Value {
    json!({
        "type": "assistant",
        "message": message,
        "parent_tool_use_id": null,
        "session_id": session,
    })
}

/// The object for the result of a call.
pub(super) fn result_of(session: &str, call: &str, output: &ToolCallOutput) -> Value {
    let mut block = json!({
        "type": "tool_result",
        "tool_use_id": call,
        "content": output.content,
    });
    if output.is_error {
        block["is_error"] = Value::Bool(true);
    }
    json!({
        "type": "user",
        "message": {"role": "user", "content": [block]},
        "parent_tool_use_id": null,
        "session_id": session,
    })
}

/// The object for a compaction.
pub(super) fn boundary(session: &str, done: &CompactionSuccess) -> Value {
    json!({
        "type": "system",
        "subtype": "compact_boundary",
        "session_id": session,
        "uuid": done.boundary,
        "compact_metadata": {
            "trigger": done.trigger,
            "pre_tokens": done.pre_tokens,
            "post_tokens": done.window,
            "duration_ms": done.milliseconds,
        },
    })
}

/// The object that says whether a compaction is in progress. It is repeated every 30 seconds during a compaction (F8).
pub(super) fn status(session: &str, compacting: bool) -> Value {
    json!({
        "type": "system",
        "subtype": "status",
        "status": compacting.then_some("compacting"),
        "session_id": session,
    })
}

/// The object for a request that failed and is sent again after a wait.
pub(super) fn retry(session: &str, wait: &RetryWait) -> Value {
    json!({
        "type": "system",
        "subtype": "api_retry",
        "attempt": wait.attempt - 1,
        "retry_delay_ms": wait.wait.as_millis() as u64,
        "error_status": wait.status,
        "error": retry_words::reason(wait.class),
        "session_id": session,
    })
}

/// The object for a compaction that did not happen.
pub(super) fn not_compacted(session: &str, why: &str) -> Value {
    json!({
        "type": "system",
        "subtype": "status",
        "status": null,
        "compact_result": "failed",
        "compact_error": why,
        "session_id": session,
    })
}

/// The answer to a request of the control protocol, which is not supported.
pub(super) fn unsupported(request: &str) -> Value {
    json!({
        "type": "control_response",
        "response": {
            "subtype": "error",
            "request_id": request,
            "error": "control requests are not supported",
        },
    })
}

/// The object for a call that nobody allowed.
pub(super) fn denial(name: &str, call: &str, input: &Value) -> Value {
    json!({"tool_name": name, "tool_use_id": call, "tool_input": input})
}

/// How the run ended.
pub(super) struct PrintResult<'a> {
    pub(super) ended: &'a PromptOutcome,
    /// The last text of the model, or of a command.
    pub(super) text: &'a str,
    pub(super) turns: u32,
    pub(super) milliseconds: u128,
    pub(super) denials: &'a [Value],
    pub(super) spent: &'a UsageTotal,
}

pub(super) fn finish(agent: &Agent, finish: &PrintResult<'_>) -> Value {
    let (subtype, result) = match finish.ended {
        PromptOutcome::Done => ("success", finish.text.to_owned()),
        PromptOutcome::TurnsUsedUp(turns) => (
            "error_max_turns",
            format!(
                "It did not finish within {}.",
                counted(u64::from(*turns), "turn")
            ),
        ),
        PromptOutcome::BudgetUsedUp { cost, limit } => (
            "error_max_budget_usd",
            format!("It has cost {cost}; the limit is {limit}."),
        ),
        PromptOutcome::Cancelled => ("error_during_execution", "It was interrupted.".to_owned()),
        PromptOutcome::Refused(why) | PromptOutcome::Failed(why) => {
            ("error_during_execution", why.clone())
        }
    };
    json!({
        "type": "result",
        "subtype": subtype,
        "is_error": *finish.ended != PromptOutcome::Done,
        "duration_ms": finish.milliseconds,
        "num_turns": finish.turns,
        "result": result,
        "session_id": agent.session_id(),
        "total_cost_usd": finish.spent.cost.map(|cost| cost.to_f64()),
        "is_simulated": agent.backend().is_simulated(),
        "usage": usage(&finish.spent.usage),
        "permission_denials": finish.denials,
    })
}

fn usage(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write(),
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
        "server_tool_use": { "web_search_requests": usage.web_searches },
    })
}
