//! Records every call in the usage log, including refused ones.

use serde_json::Value;

use super::World;
use super::exchange;
use super::named_call::NamedCall;
use crate::cache::PromptVerdict;
use crate::call::{ApiCall, ApiError, VirtualMillis};
use crate::reply::ApiReply;
use crate::usage_log::{self, LoggedCall, NO_SESSION};

/// Answers a call and records it.
pub(super) fn messages(world: &mut World, call: &ApiCall) -> Result<ApiReply, ApiError> {
    let session = call.session.as_deref().unwrap_or(NO_SESSION);
    let case = NamedCall {
        call,
        session,
        request_id: world.ids.request(),
    };
    let answered = exchange::answer(world, &case);
    let record = match &answered {
        Ok(answer) => {
            let reply = &answer.reply;
            let text = |field| reply.message.get(field).and_then(Value::as_str);
            LoggedCall {
                message_id: text("id").map(str::to_owned),
                model: text("model").unwrap_or_default().to_owned(),
                first_byte_ms: reply.first_byte.0,
                ended_ms: reply.ended.0,
                status: 200,
                outcome: text("stop_reason").unwrap_or_default().to_owned(),
                tokens: usage_log::answered(&reply.usage, reply.cost),
                verdict: reply.verdict.clone(),
                changed: answer.changed.clone(),
                ..blank(case.request_id, session, world.clock)
            }
        }
        Err(error) => LoggedCall {
            status: error.status,
            outcome: error.kind.to_owned(),
            refusal: Some(error.message.clone()),
            tokens: usage_log::refused(),
            ..blank(case.request_id, session, world.clock)
        },
    };
    world.books.enter(record);
    answered.map(|answer| answer.reply)
}

fn blank(request_id: String, session: &str, now: VirtualMillis) -> LoggedCall {
    LoggedCall {
        request_id,
        message_id: None,
        session: session.to_owned(),
        model: String::new(),
        started_ms: now.0,
        first_byte_ms: now.0,
        ended_ms: now.0,
        status: 0,
        outcome: String::new(),
        refusal: None,
        tokens: usage_log::UsageTotals::default(),
        verdict: PromptVerdict::default(),
        changed: None,
    }
}
