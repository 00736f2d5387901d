//! One model response: several lines that share a message id, and the results that answer its calls.

use super::generator::Generator;
use super::meter::{self, usage_json};
use super::spec::Feature;
use super::tools::GeneratedCall;
use super::transcript_builder::WrittenLine;
use super::truth::ExpectedUsage;
use crate::ids;
use crate::json::{ObjectBuilder, array};
use crate::words;

/// What a response does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResponseWork {
    /// It calls tools; another response follows.
    Continue,
    /// It answers in words and ends the turn.
    Finish,
}

/// The block on one line.
struct LineBlock {
    json: String,
    call: Option<GeneratedCall>,
}

impl Generator {
    /// Writes one response and all its results.
    pub(super) fn round(&mut self, work: ResponseWork) {
        let think = self.rng.between(1_500, 9_000);
        self.tape.wait(think);
        let mut usage = self.meter.request(&mut self.rng, self.tape.now);
        let blocks = self.blocks(work);
        let output = blocks
            .iter()
            .map(|block| meter::tokens(block.json.len()))
            .sum::<u64>()
            .max(8);
        let counts = self.output_counts(blocks.len(), output);
        usage.output = counts.iter().copied().max().unwrap_or(0);
        self.cut();

        let (message_id, request_id) = (ids::message(&mut self.rng), ids::request(&mut self.rng));
        let mut first_line = None;
        let mut pending: Vec<(GeneratedCall, WrittenLine)> = Vec::new();
        for (block, count) in blocks.into_iter().zip(counts) {
            let usage = ExpectedUsage {
                output: count,
                ..usage
            };
            let written = self.assistant_line(&message_id, &request_id, &block.json, &usage);
            first_line.get_or_insert(written.line);
            if let Some(call) = block.call {
                self.before_call(&call);
                pending.push((call, written));
                // A quick tool answers while the response is still streaming.
                if pending.len() > 1 && self.rng.percent(30) {
                    let (call, written) = pending.remove(0);
                    self.deliver(call, &written);
                }
            }
        }
        self.meter.add(output);
        self.settle(first_line.unwrap_or(0), &usage);
        while !pending.is_empty() {
            let at = self.rng.below(pending.len());
            let (call, written) = pending.remove(at);
            self.deliver(call, &written);
        }
    }

    fn blocks(&mut self, work: ResponseWork) -> Vec<LineBlock> {
        let letters = self.letters;
        let mut blocks = Vec::new();
        if self.spec.has(Feature::Thinking) && self.rng.percent(42) {
            let sentences = self.rng.skewed(2, 40);
            let thinking = words::prose(&mut self.rng, sentences, letters);
            let len = self.rng.between(280, 900);
            let signature = ids::base64(&mut self.rng, len);
            let json = ObjectBuilder::new()
                .text("type", "thinking")
                .text("thinking", &thinking)
                .text("signature", &signature);
            blocks.push(LineBlock {
                json: json.end(),
                call: None,
            });
        }
        if work == ResponseWork::Finish || self.rng.percent(55) {
            let sentences = if work == ResponseWork::Finish {
                self.rng.skewed(3, 60)
            } else {
                self.rng.between(1, 3)
            };
            let text = words::prose(&mut self.rng, sentences, letters);
            let json = ObjectBuilder::new()
                .text("type", "text")
                .text("text", &text);
            blocks.push(LineBlock {
                json: json.end(),
                call: None,
            });
        }
        if work == ResponseWork::Continue {
            let parallel = self.spec.has(Feature::ParallelCalls) && self.rng.percent(22);
            let calls = if parallel { self.rng.between(2, 5) } else { 1 };
            for _ in 0..calls {
                let call = self.call();
                let json = ObjectBuilder::new()
                    .text("type", "tool_use")
                    .text("id", &call.id)
                    .text("name", call.tool);
                blocks.push(LineBlock {
                    json: json.raw("input", &call.input).end(),
                    call: Some(call),
                });
            }
        }
        blocks
    }

    /// The output count that each line carries. Streams are recorded as they begin, so early lines may know only a few
    /// tokens; the last line always has the full count, so that the reply's count does not look partial.
    fn output_counts(&mut self, lines: usize, output: u64) -> Vec<u64> {
        if !self.spec.has(Feature::PartialUsage) {
            return vec![output; lines];
        }
        let early = (self.rng.between(1, 9) as u64).min(output);
        let is_early = self.rng.percent(55);
        let mut counts = vec![if is_early { early } else { output }; lines];
        if let Some(last) = counts.last_mut() {
            *last = output;
        }
        counts
    }

    fn assistant_line(
        &mut self,
        message_id: &str,
        request_id: &str,
        block: &str,
        usage: &ExpectedUsage,
    ) -> WrittenLine {
        let pause = self.rng.between(100, 3_000);
        self.tape.wait(pause);
        let message = ObjectBuilder::new()
            .text("model", &self.spec.model)
            .text("id", message_id)
            .text("type", "message")
            .text("role", "assistant")
            .raw("content", &array([block]))
            .raw("stop_reason", "null")
            .raw("stop_sequence", "null")
            .raw("usage", &usage_json(usage))
            .end();
        let uuid = ids::uuid(&mut self.rng);
        let line = self
            .tape
            .open(&self.thread, self.thread.last.as_deref())
            .raw("message", &message)
            .text("requestId", request_id)
            .text("type", "assistant")
            .text("uuid", &uuid)
            .text("timestamp", &self.tape.stamp())
            .end();
        let written = self.tape.link(&mut self.thread, &line, uuid);
        self.see(written.clone());
        written
    }

    fn settle(&mut self, first_line: usize, usage: &ExpectedUsage) {
        if self.depth > 0 {
            self.truth.sidechain_usage.add(usage);
            return;
        }
        self.truth.rounds += 1;
        self.rounds_since_boundary += 1;
        self.truth.usage.add(usage);
        self.truth.anchor = Some((first_line, *usage));
        self.context = usage.context();
    }

    /// Now and then writes a reply that does not come from a model: an API error that the host wrote itself.
    pub(super) fn api_error(&mut self) {
        if self.depth > 0 || !self.spec.has(Feature::ApiErrors) || !self.rng.percent(1) {
            return;
        }
        let uuid = ids::uuid(&mut self.rng);
        let text = ObjectBuilder::new()
            .text("type", "text")
            .text("text", "API Error: 529 overloaded, tried again")
            .end();
        let nothing = "{\"input_tokens\":0,\"output_tokens\":0,\"cache_creation_input_tokens\":0,\
                       \"cache_read_input_tokens\":0,\"service_tier\":null,\"cache_creation\":\
                       {\"ephemeral_1h_input_tokens\":0,\"ephemeral_5m_input_tokens\":0}}";
        let message = ObjectBuilder::new()
            .text("id", &ids::uuid(&mut self.rng))
            .raw("container", "null")
            .text("model", "<synthetic>")
            .text("role", "assistant")
            .text("stop_reason", "stop_sequence")
            .text("stop_sequence", "")
            .text("type", "message")
            .raw("usage", nothing)
            .raw("content", &array([text]))
            .raw("context_management", "null")
            .end();
        let line = self
            .tape
            .open(&self.thread, self.thread.last.as_deref())
            .text("type", "assistant")
            .text("uuid", &uuid)
            .text("timestamp", &self.tape.stamp())
            .raw("message", &message)
            .flag("isApiErrorMessage", true)
            .end();
        self.tape.link(&mut self.thread, &line, uuid);
    }
}
