//! Compares the cost of one more turn in a long conversation with one in a short conversation, with a cached prefix.
//!
//! Run with `cargo bench -p longhaul-sim --bench turn`. A turn is one call: the whole history again, the newest reply
//! and the result of the tool that it called, with the breakpoint on that. The new part has about 1,700 tokens.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a bench talks and may fail loudly"
)]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use bytes::Bytes;
use longhaul_sim::call::ApiCall;
use longhaul_sim::model::{DraftBlock, DraftStop, ModelTurn, ReplyDraft, ReplyModel};
use longhaul_sim::world::{World, WorldOptions};

const SHORT: u64 = 50_000;
const LONG: u64 = 500_000;
const TIMED: usize = 8;
const ROUNDS: usize = 8;

fn main() {
    let mut best = [(Duration::MAX, 0, 0); 2];
    for _ in 0..ROUNDS {
        for (best, tokens) in best.iter_mut().zip([SHORT, LONG]) {
            let measured = measure(tokens);
            *best = (*best).min(measured);
        }
    }
    println!("one turn of the simulated world, best of {ROUNDS} times {TIMED}");
    let first = best[0].0.as_secs_f64();
    for (time, prompt, bytes) in best {
        println!(
            "  at {prompt:>7} tokens ({:>7} KB)   {:>8.0} µs   {:.2}x",
            bytes / 1_000,
            time.as_secs_f64() * 1e6 / TIMED as f64,
            time.as_secs_f64() / first
        );
    }
}

/// The time of some turns in a conversation that has grown to this many tokens; its prompt and body at the end.
fn measure(tokens: u64) -> (Duration, u64, usize) {
    let mut world = World::new(WorldOptions::new(1, Box::new(Calls)));
    let mut conversation = Conversation::new();
    loop {
        let reply = world.exchange(&conversation.call()).unwrap();
        conversation.grow(&reply.message.to_string());
        if reply.usage.prompt() >= tokens {
            break;
        }
    }
    let mut spent = Duration::ZERO;
    let mut prompt = 0;
    for _ in 0..TIMED {
        let call = conversation.call();
        let start = Instant::now();
        let reply = world.exchange(&call).unwrap();
        spent += start.elapsed();
        assert!(reply.usage.cache_hit_rate() > 0.9, "{:?}", reply.usage);
        prompt = reply.usage.prompt();
        conversation.grow(&reply.message.to_string());
    }
    (spent, prompt, conversation.call().body.len())
}

/// A model that calls a tool every time.
struct Calls;

impl ReplyModel for Calls {
    fn reply(&mut self, turn: &ModelTurn<'_>) -> ReplyDraft {
        let path = format!("src/module_{}.rs", turn.seed % 1_000);
        ReplyDraft {
            content: vec![
                DraftBlock::Thinking("The failing test names this module, so I read it.".into()),
                DraftBlock::Text("I look at the module the test names.".into()),
                DraftBlock::ToolUse {
                    name: "Read".into(),
                    input: serde_json::json!({ "file_path": path }),
                },
            ],
            stop: DraftStop::Natural,
        }
    }
}

/// A conversation as a client keeps it: bytes that only grow.
struct Conversation {
    messages: String,
    turns: usize,
}

impl Conversation {
    fn new() -> Self {
        Self {
            messages: String::from(r#"{"role":"user","content":"Make the tests pass."}"#),
            turns: 0,
        }
    }

    /// The call with its body; the last block carries a breakpoint.
    fn call(&self) -> ApiCall {
        let head = r#"{"model":"claude-opus-5","max_tokens":4096,"system":[{"type":"text","text":"You are a careful engineer.","cache_control":{"type":"ephemeral"}}],"tools":[{"name":"Read","description":"Reads a file.","input_schema":{"type":"object","properties":{"file_path":{"type":"string"}}}}],"messages":["#;
        let marked = match self.messages.strip_suffix("\"}]}") {
            Some(rest) => format!(r#"{rest}","cache_control":{{"type":"ephemeral"}}}}]}}"#),
            None => self.messages.clone(),
        };
        ApiCall {
            key: "key".into(),
            version: "2023-06-01".into(),
            session: Some("bench".into()),
            body: Bytes::from(format!("{head}{marked}]}}")),
            ..ApiCall::default()
        }
    }

    /// Adds a reply and the result of its call.
    fn grow(&mut self, reply: &str) {
        let reply: serde_json::Value = serde_json::from_str(reply).unwrap();
        let content = &reply["content"];
        let id = content.as_array().unwrap().last().unwrap()["id"]
            .as_str()
            .unwrap();
        let mut file = String::new();
        for line in 0..45 {
            let nth = self.turns * 45 + line;
            write!(file, "    let value_{nth} = compute(&input[{line}], {nth}).context(\\\"step {nth}\\\")?;\\n").unwrap();
        }
        write!(
            self.messages,
            r#",{{"role":"assistant","content":{content}}},{{"role":"user","content":[{{"tool_use_id":"{id}","type":"tool_result","content":"{file}"}}]}}"#
        )
        .unwrap();
        self.turns += 1;
    }
}
