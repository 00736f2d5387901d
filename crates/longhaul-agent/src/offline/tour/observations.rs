//! What the tour has observed: what it can report, and whether it may continue.

use longhaul_core::engine::Event;
use longhaul_core::report::LossReport;
use serde_json::Value;

use crate::event::{AgentEvent, AgentStatus, PromptOutcome};

/// The name of the tool that reads files.
const READS: &str = "Read";

/// What was observed so far.
#[derive(Debug, Clone, Default)]
pub(super) struct TourObservations {
    glance: Option<AgentStatus>,
    /// The number of cleared results, and of tokens saved by clearing.
    cleared: Option<(u64, u64)>,
    report: Option<LossReport>,
    ended: Option<PromptOutcome>,
    /// The number of files read since the last prompt.
    reads: u32,
    prompts: u32,
    /// Whether the session was reopened; after that, the first reply's cached and new tokens are recorded.
    resumed: bool,
    first: Option<(u64, u64)>,
}

impl TourObservations {
    pub(super) fn take_in(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::Glance(glance) => self.glance = Some(glance.clone()),
            AgentEvent::Ended(ended) => self.ended = Some(ended.clone()),
            AgentEvent::ToolStarted { name, .. } if name == READS => self.reads += 1,
            AgentEvent::Replied(message) if self.resumed && self.first.is_none() => {
                self.first = Some(read_and_new(message));
            }
            AgentEvent::Engine(Event::MicroCompacted { results, saved, .. }) => {
                self.clears(*results as u64, *saved);
            }
            AgentEvent::Engine(Event::NativeCleared {
                tool_uses, tokens, ..
            }) => {
                self.clears(*tool_uses, *tokens);
            }
            AgentEvent::Engine(Event::Compacted(done)) => self.report = Some(done.report.clone()),
            _ => {}
        }
    }

    fn clears(&mut self, results: u64, tokens: u64) {
        let (all, saved) = self.cleared.unwrap_or_default();
        self.cleared = Some((all + results, saved + tokens));
    }

    pub(super) fn about_to_ask(&mut self) {
        self.ended = None;
        self.reads = 0;
        self.prompts += 1;
    }

    pub(super) fn about_to_resume(&mut self) {
        self.resumed = true;
    }

    pub(super) fn ended(&self) -> Option<&PromptOutcome> {
        self.ended.as_ref()
    }

    pub(super) fn forget_end(&mut self) {
        self.ended = None;
    }

    pub(super) fn cleared(&self) -> bool {
        self.cleared.is_some()
    }

    pub(super) fn compacted(&self) -> bool {
        self.report.is_some()
    }

    /// Whether clearing can be reported, or need not be waited for any longer.
    pub(super) fn over(&self) -> bool {
        self.cleared() || self.compacted()
    }

    /// Whether the last prompt read nothing, so that nothing is left to read.
    pub(super) fn nothing_read(&self) -> bool {
        self.prompts > 1 && self.reads == 0
    }

    /// Fills the placeholders of a text with what was observed.
    pub(super) fn fill(&self, text: &str) -> String {
        let (used, limit, left) = match &self.glance {
            Some(glance) => (glance.used, glance.limit, glance.percent_left),
            None => (0, 0, 100),
        };
        let cost = self.glance.as_ref().and_then(|glance| glance.cost);
        let (results, saved) = self.cleared.unwrap_or_default();
        let (read, new) = self.first.unwrap_or_default();
        let report = self.report.as_ref().map(LossReport::tell);
        text.replace("{used}", &used.to_string())
            .replace("{limit}", &limit.to_string())
            .replace("{left}", &left.to_string())
            .replace("{results}", &results.to_string())
            .replace("{saved}", &saved.to_string())
            .replace("{read}", &read.to_string())
            .replace("{new}", &new.to_string())
            .replace(
                "{cost}",
                &cost.map_or_else(|| "not known".to_owned(), |cost| cost.to_string()),
            )
            .replace(
                "{report}",
                report
                    .as_deref()
                    .unwrap_or("There was nothing to compact.\n")
                    .trim_end(),
            )
    }
}

/// The tokens of a reply's prompt that came from the cache, and those that did not.
fn read_and_new(message: &Value) -> (u64, u64) {
    let count = |name: &str| {
        let usage = message.get("usage").and_then(|usage| usage.get(name));
        usage.and_then(Value::as_u64).unwrap_or(0)
    };
    let new = count("input_tokens") + count("cache_creation_input_tokens");
    (count("cache_read_input_tokens"), new)
}
