//! Sub-agents: their lines inside the main file, or progress lines that carry their messages.
//!
//! Older versions wrote the first, newer ones the second (and the agent's lines into a file of its own, as with
//! [`super::TranscriptRole::SubAgent`]).

use super::generator::Generator;
use super::meter::{UsageMeter, usage_json};
use super::reply::ResponseWork;
use super::spec::Feature;
use super::transcript_builder::SpeakerThread;
use super::truth::ExpectedUsage;
use crate::ids;
use crate::json::{ObjectBuilder, array, quote};
use crate::words;

impl Generator {
    /// Writes the lines that a running sub-agent leaves in the file.
    pub(super) fn sub_agent(&mut self, agent: &str, prompt: &str, call_id: &str) {
        let nested = self.spec.has(Feature::AgentProgress);
        let inline = self.spec.has(Feature::Sidechains);
        if inline && (!nested || self.rng.percent(50)) {
            self.sidechain(agent, prompt);
        } else if nested {
            self.agent_progress(agent, prompt, call_id);
        }
    }

    /// Writes a small conversation on a chain of its own.
    fn sidechain(&mut self, agent: &str, prompt: &str) {
        let thread = SpeakerThread {
            agent: Some(agent.to_owned()),
            last: None,
        };
        let meter = UsageMeter::new(&mut self.rng, self.spec.cache_ttl, 9_000, 14_000);
        let main_thread = std::mem::replace(&mut self.thread, thread);
        let main_meter = std::mem::replace(&mut self.meter, meter);
        self.depth += 1;
        self.user_line(&quote(prompt), |line| line);
        for _ in 0..self.rng.between(1, 4) {
            self.round(ResponseWork::Continue);
        }
        self.round(ResponseWork::Finish);
        self.depth -= 1;
        self.thread = main_thread;
        self.meter = main_meter;
    }

    /// Writes progress lines on the main chain with whole messages inside: ids, usage and a `uuid` key that are not the
    /// line's own.
    fn agent_progress(&mut self, agent: &str, prompt: &str, call_id: &str) {
        let progress_id = format!("agent_{}", ids::message(&mut self.rng));
        for _ in 0..self.rng.between(1, 6) {
            let file = self.new_file();
            let (path, content) = (self.absolute(file), self.file_content(file));
            let tool = ids::tool(&mut self.rng);
            let call = ObjectBuilder::new()
                .text("type", "tool_use")
                .text("id", &tool)
                .text("name", "Read")
                .raw(
                    "input",
                    &ObjectBuilder::new().text("file_path", &path).end(),
                )
                .end();
            let usage = ExpectedUsage {
                input: 3,
                cache_read: 9_758,
                cache_write_5m: 1_400,
                cache_write_1h: 0,
                output: 2,
            };
            let message = ObjectBuilder::new()
                .text("model", "claude-haiku-4-5-20251001")
                .text("id", &ids::message(&mut self.rng))
                .text("type", "message")
                .text("role", "assistant")
                .raw("content", &array([call]))
                .raw("stop_reason", "null")
                .raw("stop_sequence", "null")
                .raw("usage", &usage_json(&usage))
                .end();
            let asked = ObjectBuilder::new()
                .text("type", "assistant")
                .text("timestamp", &self.tape.stamp())
                .raw("message", &message)
                .text("requestId", &ids::request(&mut self.rng))
                .text("uuid", &ids::uuid(&mut self.rng))
                .end();
            self.agent_line(&asked, agent, prompt, &progress_id, call_id);
            let shown = if self.rng.percent(30) {
                content
            } else {
                words::code(&mut self.rng, 12, self.letters)
            };
            let block = ObjectBuilder::new()
                .text("tool_use_id", &tool)
                .text("type", "tool_result")
                .text("content", &shown)
                .end();
            let message = ObjectBuilder::new()
                .text("role", "user")
                .raw("content", &array([block]))
                .end();
            let answered = ObjectBuilder::new()
                .text("type", "user")
                .raw("message", &message)
                .text("uuid", &ids::uuid(&mut self.rng))
                .text("timestamp", &self.tape.stamp())
                .end();
            self.agent_line(&answered, agent, prompt, &progress_id, call_id);
        }
    }

    fn agent_line(
        &mut self,
        message: &str,
        agent: &str,
        prompt: &str,
        progress_id: &str,
        call_id: &str,
    ) {
        let data = ObjectBuilder::new()
            .raw("message", message)
            .raw("normalizedMessages", "[]")
            .text("type", "agent_progress")
            .text("prompt", prompt)
            .text("agentId", agent)
            .end();
        self.progress_line(&data, progress_id, call_id);
    }
}
