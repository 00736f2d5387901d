//! Replies: turns a model's draft into the API's message, and that message into a stream of events.
//!
//! `truncate` ends a draft where the request demands it; `envelope` builds the message; `usage` its counts; `events`
//! the stream; `ids` the ids. Billing is in `cache/`.

mod envelope;
mod events;
mod ids;
mod truncate;
mod usage;

pub(crate) use envelope::{MessageEnvelope, ThinkingDisplay, build_message};
pub use events::{StreamTiming, TimedEvent, events};
pub(crate) use ids::ApiIds;
pub(crate) use truncate::{ReplyLimits, SimStopReason, TruncatedDraft, cut};
pub(crate) use usage::{ReplyCounts, SamplingStep, SamplingStepKind};

use longhaul_core::message::Usage;
use longhaul_core::money::Usd;
use serde_json::Value;

use crate::cache::PromptVerdict;
use crate::call::VirtualMillis;
use crate::faults::InjectedFault;

/// The answer to a call.
#[derive(Debug, Clone)]
pub struct ApiReply {
    /// The `request-id` header.
    pub request_id: String,
    /// The whole message, as a call without `stream` gets it.
    pub message: Value,
    /// The `usage` at the beginning of a stream, where the reply took several sampling steps: that of the first.
    pub begun: Option<Value>,
    /// Whether the call asked for a stream.
    pub stream: bool,
    /// When the call started.
    pub started: VirtualMillis,
    /// When the first byte of the answer is sent.
    pub first_byte: VirtualMillis,
    /// When the last byte of the answer is sent.
    pub ended: VirtualMillis,
    /// Additional headers: name and value.
    pub headers: Vec<(&'static str, String)>,
    /// The billed usage, by class and step.
    pub usage: Usage,
    /// The cost, if the model's prices are known.
    pub cost: Option<Usd>,
    /// What happened to each position of the prompt.
    pub verdict: PromptVerdict,
    /// The fault of the delivery, if the model's script names one. The server applies it.
    pub fault: Option<InjectedFault>,
}

impl ApiReply {
    /// The message as the events of a stream, each with the time at which it is sent.
    pub fn events(&self) -> Vec<TimedEvent> {
        events(
            &self.message,
            self.begun.as_ref(),
            StreamTiming {
                first_byte: self.first_byte,
                ended: self.ended,
            },
        )
    }

    /// The stream as bytes.
    pub fn sse(&self) -> String {
        self.events().iter().map(TimedEvent::to_sse).collect()
    }
}
