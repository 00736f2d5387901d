//! The bill as it was recorded, and the same bill computed from sizes and times: the difference is how far a replay can
//! be trusted.

use super::session::{RecordedRequest, SessionRecording, ViewChange};
use super::terms::ReplayTerms;
use crate::economy::{PrefixWarmth, TokenRates};
use crate::message::Usage;
use crate::money::Usd;

/// What a session was billed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecordedBill {
    /// What was billed for prompts.
    pub prompts: Usd,
    /// What was billed for what the model wrote, estimated where the record is incomplete.
    pub output: Usd,
    /// What prompts would have been billed by the model that replays use.
    pub recomputed_prompts: Usd,
    /// What the requests for recorded summaries cost by our estimate. They are not in the file, and not in the bill.
    pub summaries: Usd,
}

impl RecordedBill {
    /// Adds up a session. Its models must have prices.
    pub fn of(session: &SessionRecording, terms: &ReplayTerms) -> Self {
        let mut bill = Self::default();
        for conversation in &session.conversations {
            let mut before: Option<&RecordedRequest> = None;
            for request in &conversation.requests {
                let spec = &terms.recorded[request.model];
                let prompt = without_output(&request.usage);
                bill.prompts += spec.cost_of_reply(&prompt).unwrap_or_default();
                let size = request.usage.prompt();
                let Some(prices) = &spec.prices else { continue };
                let rates = TokenRates::of(prices, size, session.ttl);
                bill.output += rates.output.of(request.output);
                bill.recomputed_prompts += match before {
                    None => spec.cost_of_reply(&prompt).unwrap_or_default(),
                    Some(before) => {
                        let warmth = warmth(session, before, request);
                        let reused = match request.change {
                            ViewChange::Grew => before.usage.prompt(),
                            ViewChange::Cleared | ViewChange::Compacted => conversation.hot_prefix,
                        };
                        let reused = reused.min(size);
                        rates.sending_again(warmth, reused)
                            + rates.sending_first(warmth, size - reused)
                    }
                };
                if let Some(before) = before
                    && request.change == ViewChange::Compacted
                {
                    let written = size.saturating_sub(conversation.hot_prefix);
                    let output = written.min(crate::economy::SummaryForecast::FIRST_OUTPUT);
                    bill.summaries +=
                        rates.read.of(before.usage.prompt()) + rates.output.of(output);
                }
                before = Some(request);
            }
        }
        bill
    }

    /// The whole bill.
    pub fn total(&self) -> Usd {
        self.prompts + self.output
    }

    /// How far the computed bill is from the recorded one, as a share of the recorded one.
    pub fn deviation(&self) -> Option<f64> {
        let recorded = self.prompts.to_f64();
        (recorded > 0.0).then(|| (self.recomputed_prompts.to_f64() - recorded) / recorded)
    }
}

fn warmth(
    session: &SessionRecording,
    before: &RecordedRequest,
    request: &RecordedRequest,
) -> PrefixWarmth {
    if before.model != request.model {
        return PrefixWarmth::Cold;
    }
    let idle = before.start.zip(request.start);
    let idle = idle.map(|(from, to)| to.duration_since(from).as_secs());
    PrefixWarmth::after(idle, session.ttl)
}

fn without_output(usage: &Usage) -> Usage {
    let mut usage = usage.clone();
    usage.output = 0;
    for iteration in &mut usage.iterations {
        iteration.usage.output = 0;
    }
    usage
}
