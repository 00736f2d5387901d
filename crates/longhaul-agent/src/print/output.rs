//! What print mode writes during the work: objects to stdout, notices for people to stderr.

use std::io::{self, Write};

use longhaul_core::engine::{CompactFailure, Event};
use longhaul_core::figures::counted;
use longhaul_core::listing::{harmless, harmless_json};
use serde_json::Value;

use super::PrintFormat;
use super::message;
use crate::event::{AgentEvent, DeniedCall, PromptOutcome};
use crate::retry_words;

/// Where the output goes.
pub(super) struct PrintOutput<'a> {
    pub(super) format: PrintFormat,
    pub(super) session: String,
    out: &'a mut (dyn Write + Send),
    talk: &'a mut (dyn FnMut(&str) + Send),
    pub(super) denials: Vec<Value>,
    /// Why nothing can be written any more.
    pub(super) broken: Option<io::Error>,
}

impl<'a> PrintOutput<'a> {
    pub(super) fn new(
        format: PrintFormat,
        session: &str,
        out: &'a mut (dyn Write + Send),
        talk: &'a mut (dyn FnMut(&str) + Send),
    ) -> Self {
        Self {
            format,
            session: session.to_owned(),
            out,
            talk,
            denials: Vec::new(),
            broken: None,
        }
    }

    pub(super) fn event(&mut self, event: AgentEvent) {
        let streams = self.format == PrintFormat::StreamJson;
        match event {
            AgentEvent::Replied(reply) if streams => {
                let object = message::assistant(&self.session, &reply);
                self.object(&object);
            }
            AgentEvent::ToolEnded { id, output } if streams => {
                let object = message::result_of(&self.session, &id, &output);
                self.object(&object);
            }
            // Nobody is there to answer: dropping the question means no, which is then reported as a denial.
            AgentEvent::Asks(_) => {}
            AgentEvent::Denied(denied) => {
                let DeniedCall {
                    id,
                    name,
                    line,
                    input,
                    reason,
                } = denied;
                self.denials.push(message::denial(&name, &id, &input));
                (self.talk)(&format!("{name} {line} was not allowed: {reason}"));
            }
            AgentEvent::Retrying(wait) => {
                if streams {
                    let object = message::retry(&self.session, &wait);
                    self.object(&object);
                }
                (self.talk)(&retry_words::line(&wait, wait.wait));
            }
            AgentEvent::Engine(event) => self.engine(&event),
            AgentEvent::Notice(sentence) => (self.talk)(&sentence),
            _ => {}
        }
    }

    /// Writes an engine event: the progress of a compaction (F8), what hooks say about it (K1).
    fn engine(&mut self, event: &Event) {
        let streams = self.format == PrintFormat::StreamJson;
        match event {
            Event::Phase(phase) if streams => {
                let object = message::status(&self.session, phase.is_some());
                self.object(&object);
            }
            Event::StillCompacting { .. } if streams => {
                let object = message::status(&self.session, true);
                self.object(&object);
            }
            Event::Compacted(done) if streams => {
                let object = message::boundary(&self.session, done);
                self.object(&object);
            }
            Event::CompactFailed { kind, message } => {
                if streams {
                    let object = message::not_compacted(&self.session, message);
                    self.object(&object);
                }
                if *kind != CompactFailure::Cancelled {
                    (self.talk)(&format!("not compacted: {message}"));
                }
            }
            Event::HookMessage { event, text } => (self.talk)(&format!("{event} hook: {text}")),
            Event::BreakerTripped => (self.talk)(
                "automatic compaction failed too often and no longer asks a model in this session",
            ),
            _ => {}
        }
    }

    pub(super) fn text(&mut self, ended: &PromptOutcome, text: &str) {
        match ended {
            PromptOutcome::Done => self.line(&harmless(text.trim_end())),
            PromptOutcome::Cancelled => (self.talk)("interrupted"),
            PromptOutcome::Refused(why) | PromptOutcome::Failed(why) => (self.talk)(why),
            PromptOutcome::TurnsUsedUp(turns) => {
                (self.talk)(&format!(
                    "it did not finish within {}",
                    counted(u64::from(*turns), "turn")
                ));
            }
            PromptOutcome::BudgetUsedUp { cost, limit } => {
                (self.talk)(&format!("it has cost {cost}; the limit is {limit}"));
            }
        }
    }

    pub(super) fn talk(&mut self, sentence: &str) {
        (self.talk)(sentence);
    }

    pub(super) fn object(&mut self, object: &Value) {
        self.line(&harmless_json(&object.to_string()));
    }

    fn line(&mut self, line: &str) {
        if self.broken.is_none() {
            let written = writeln!(self.out, "{line}").and_then(|()| self.out.flush());
            self.broken = written.err();
        }
    }
}
