//! Replies: a model's draft dressed as the API's message, and that message told as a stream of events.
//!
//! `cut` ends a draft where the request says it must end; `dress` makes the message; `usage` its counts; `events` the
//! stream; `ids` the names. What was billed and why is in `cache/`.

mod cut;
mod dress;
mod events;
mod ids;
mod usage;

pub use cut::{Cut, Limits, StopReason, cut};
pub use dress::{Display, Dressing, dress};
pub use events::{Event, Pacing, events};
pub use ids::Ids;
pub use usage::{Counts, Step, StepKind};

use longhaul_core::message::Usage;
use longhaul_core::money::Usd;
use serde_json::Value;

use crate::cache::Verdict;
use crate::call::Millis;
use crate::faults::Fault;

/// The answer to a call.
#[derive(Debug, Clone)]
pub struct Reply {
    /// `request-id`.
    pub request_id: String,
    /// The whole message, as a call without `stream` gets it.
    pub message: Value,
    /// Whether the call asked for a stream.
    pub stream: bool,
    /// When the call started.
    pub started: Millis,
    /// When the first byte of the answer leaves.
    pub first_byte: Millis,
    /// When the last does.
    pub ended: Millis,
    /// Headers beside the usual: name and value.
    pub headers: Vec<(&'static str, String)>,
    /// What was billed, by class and step.
    pub usage: Usage,
    /// What it cost, where the model's prices are known.
    pub cost: Option<Usd>,
    /// What became of each position of the prompt.
    pub verdict: Verdict,
    /// What goes wrong with its delivery, if the model's script says so. For whoever delivers it.
    pub fault: Option<Fault>,
}

impl Reply {
    /// The message as the events of a stream, each with the time at which it leaves.
    pub fn events(&self) -> Vec<Event> {
        events(
            &self.message,
            Pacing {
                first_byte: self.first_byte,
                ended: self.ended,
            },
        )
    }

    /// The stream as bytes.
    pub fn sse(&self) -> String {
        self.events().iter().map(Event::to_sse).collect()
    }
}
