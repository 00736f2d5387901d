//! What the tour has observed: what it can report, and whether it may continue.

use longhaul_core::engine::{CompactionSuccess, Event, Summarizer};
use longhaul_core::figures::grouped;
use longhaul_core::report::ViewTokens;
use serde_json::Value;

use crate::event::{AgentEvent, AgentStatus, PromptOutcome};

/// What was observed so far.
#[derive(Debug, Clone, Default)]
pub(super) struct TourObservations {
    glance: Option<AgentStatus>,
    compaction: Option<Box<CompactionSuccess>>,
    ended: Option<PromptOutcome>,
    /// Whether the session was reopened; after that, the first reply's cached and all tokens of its prompt are recorded.
    resumed: bool,
    first: Option<(u64, u64)>,
}

impl TourObservations {
    pub(super) fn take_in(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::Glance(glance) => self.glance = Some(glance.clone()),
            AgentEvent::Ended(ended) => self.ended = Some(ended.clone()),
            AgentEvent::Replied(message) if self.resumed && self.first.is_none() => {
                self.first = Some(read_and_all(message));
            }
            AgentEvent::Engine(Event::Compacted(done)) => {
                self.compaction = Some(done.clone());
            }
            _ => {}
        }
    }

    pub(super) fn about_to_ask(&mut self) {
        self.ended = None;
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

    pub(super) fn compacted(&self) -> bool {
        self.compaction.is_some()
    }

    /// Fills the placeholders of a text with what was observed.
    pub(super) fn fill(&self, text: &str) -> String {
        let (used, limit) = match &self.glance {
            Some(glance) => (glance.used, glance.limit),
            None => (0, 0),
        };
        let (read, prompt) = self.first.unwrap_or_default();
        let text = text
            .replace("{used}", &grouped(used))
            .replace("{limit}", &grouped(limit))
            .replace("{read}", &grouped(read))
            .replace("{prompt}", &grouped(prompt));
        match &self.compaction {
            Some(done) => fill_compaction(&text, done),
            None => text,
        }
    }
}

fn fill_compaction(text: &str, done: &CompactionSuccess) -> String {
    let sizes = ViewTokens {
        before: done.pre_tokens,
        after: done.window,
    };
    let (before, after) = (sizes.before, sizes.after);
    let percent = before.saturating_sub(after) * 100 / before.max(1);
    let files = match done.report.files.restored {
        1 => "1 file".to_owned(),
        files => format!("{files} files"),
    };
    let summary = match done.by {
        Summarizer::Notes => "the notes that it took on the way",
        _ => "a summary",
    };
    text.replace("{before}", &grouped(before))
        .replace("{after}", &grouped(after))
        .replace("{percent}", &percent.to_string())
        .replace("{files}", &files)
        .replace("{summary}", summary)
        .replace("{report}", done.report.tell_of(sizes).trim_end())
}

/// The tokens of a reply's prompt that came from the cache, and all of them.
fn read_and_all(message: &Value) -> (u64, u64) {
    let count = |name: &str| {
        let usage = message.get("usage").and_then(|usage| usage.get(name));
        usage.and_then(Value::as_u64).unwrap_or(0)
    };
    let read = count("cache_read_input_tokens");
    let new = count("input_tokens") + count("cache_creation_input_tokens");
    (read, read + new)
}
