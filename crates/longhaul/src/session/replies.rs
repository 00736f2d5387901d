//! Converts replies into the form that the engine expects.

use longhaul_core::engine::{ModelReply, ReplyEnding, SummaryReply};
use longhaul_core::micro::native::ProviderClearing;
use longhaul_core::summary::SummaryStop;
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
    let applied = reply
        .applied_edits
        .iter()
        .fold(ProviderClearing::default(), sum);
    let for_engine = ModelReply {
        message,
        usage: reply.usage.clone(),
        request_id: reply.request_id.clone(),
        applied,
        ending: match reply.stop {
            Some(StopReason::ContextWindowExceeded) => ReplyEnding::WindowExceeded,
            _ => ReplyEnding::Complete,
        },
    };
    Ok((reply, for_engine))
}

/// A reply to a request for a summary.
pub fn summary_reply(reply: Reply) -> SummaryReply {
    SummaryReply {
        message: serde_json::from_slice(&reply.message_json()).ok(),
        text: reply.text(),
        calls: reply.tool_calls().count(),
        stop: match reply.stop {
            Some(StopReason::MaxTokens) | None => SummaryStop::CutOff,
            Some(StopReason::ContextWindowExceeded) => SummaryStop::WindowFull,
            Some(StopReason::ToolUse) => SummaryStop::ToolUse,
            Some(StopReason::Refusal) => SummaryStop::Refusal,
            Some(_) => SummaryStop::Finished,
        },
        usage: Some(reply.usage),
    }
}

fn sum(sum: ProviderClearing, edit: &AppliedEdit) -> ProviderClearing {
    match edit {
        AppliedEdit::ToolUses { cleared, tokens } => ProviderClearing {
            tool_uses: sum.tool_uses + cleared,
            input_tokens: sum.input_tokens + tokens,
            ..sum
        },
        AppliedEdit::Thinking { turns, tokens } => ProviderClearing {
            thinking_turns: sum.thinking_turns + turns,
            input_tokens: sum.input_tokens + tokens,
            ..sum
        },
        // An edit that we do not know: what it freed is not known either.
        _ => sum,
    }
}
