//! Replies: a model's draft dressed as the API's message, and that message told as a stream of events.
//!
//! `cut` ends a draft where the request says it must end; `dress` makes the message; `usage` its counts; `events` the
//! stream; `ids` the names. What was billed and why is in `cache/`.

mod envelope;
mod events;
mod ids;
mod truncate;
mod usage;

pub use envelope::{MessageEnvelope, ThinkingDisplay, build_message};
pub use events::{StreamTiming, TimedEvent, events};
pub use ids::ApiIds;
pub use truncate::{ReplyLimits, SimStopReason, TruncatedDraft, cut};
pub use usage::{ReplyCounts, SamplingStep, SamplingStepKind};

use longhaul_core::message::Usage;
use longhaul_core::money::Usd;
use serde_json::Value;

use crate::cache::PromptVerdict;
use crate::call::VirtualMillis;
use crate::faults::InjectedFault;

/// The answer to a call.
#[derive(Debug, Clone)]
pub struct ApiReply {
    /// `request-id`.
    pub request_id: String,
    /// The whole message, as a call without `stream` gets it.
    pub message: Value,
    /// Whether the call asked for a stream.
    pub stream: bool,
    /// When the call started.
    pub started: VirtualMillis,
    /// When the first byte of the answer leaves.
    pub first_byte: VirtualMillis,
    /// When the last does.
    pub ended: VirtualMillis,
    /// Headers beside the usual: name and value.
    pub headers: Vec<(&'static str, String)>,
    /// What was billed, by class and step.
    pub usage: Usage,
    /// What it cost, where the model's prices are known.
    pub cost: Option<Usd>,
    /// What became of each position of the prompt.
    pub verdict: PromptVerdict,
    /// What goes wrong with its delivery, if the model's script says so. For whoever delivers it.
    pub fault: Option<InjectedFault>,
}

impl ApiReply {
    /// The message as the events of a stream, each with the time at which it leaves.
    pub fn events(&self) -> Vec<TimedEvent> {
        events(
            &self.message,
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
