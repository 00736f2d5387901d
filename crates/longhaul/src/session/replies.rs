//! Replies as the engine takes them.

use longhaul_core::engine::{Ending, ModelReply, SummaryReply};
use longhaul_core::micro::native::Applied;
use longhaul_core::summary::Stop;
use longhaul_provider::{AppliedEdit, Error, ErrorClass, Reply, StopReason};

/// A turn of the conversation, and the reply for the host.
pub(super) fn model_reply(reply: Reply) -> Result<(Reply, ModelReply), Error> {
    let message = serde_json::from_slice(&reply.message_json());
    let message = message.map_err(|error| {
        Error::new(
            ErrorClass::Malformed,
            format!("the reply cannot be kept: {error}"),
        )
    })?;
    let applied = reply.applied_edits.iter().fold(Applied::default(), sum);
    let for_engine = ModelReply {
        message,
        usage: reply.usage.clone(),
        request_id: reply.request_id.clone(),
        applied,
        ending: match reply.stop {
            Some(StopReason::ContextWindowExceeded) => Ending::WindowExceeded,
            _ => Ending::Complete,
        },
    };
    Ok((reply, for_engine))
}

/// A reply, as an answer to a request to summarise.
pub fn summary_reply(reply: Reply) -> SummaryReply {
    SummaryReply {
        message: serde_json::from_slice(&reply.message_json()).ok(),
        text: reply.text(),
        calls: reply.tool_calls().count(),
        stop: match reply.stop {
            Some(StopReason::MaxTokens) | None => Stop::CutOff,
            Some(StopReason::ContextWindowExceeded) => Stop::WindowFull,
            Some(StopReason::ToolUse) => Stop::ToolUse,
            Some(StopReason::Refusal) => Stop::Refusal,
            Some(_) => Stop::Finished,
        },
        usage: Some(reply.usage),
    }
}

fn sum(sum: Applied, edit: &AppliedEdit) -> Applied {
    match edit {
        AppliedEdit::ToolUses { cleared, tokens } => Applied {
            tool_uses: sum.tool_uses + cleared,
            input_tokens: sum.input_tokens + tokens,
            ..sum
        },
        AppliedEdit::Thinking { turns, tokens } => Applied {
            thinking_turns: sum.thinking_turns + turns,
            input_tokens: sum.input_tokens + tokens,
            ..sum
        },
        AppliedEdit::Other(_) => sum,
    }
}
