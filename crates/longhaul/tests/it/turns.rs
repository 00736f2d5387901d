//! A conversation with the offline world that compares every reply with what the cache should have given.

use std::path::Path;

use bytes::Bytes;
use longhaul_core::models::PriorThinking;
use longhaul_core::prompt::{
    CacheSettings, PrefixReason, RequestKind, RequestPrefix, Ttl, TtlPolicy,
};
use longhaul_core::window::QuerySource;
use longhaul_sim::call::ApiCall;
use longhaul_sim::model::{DraftBlock, ModelTurn, ReplyDraft, ReplyModel};
use longhaul_sim::reply::ApiReply;
use longhaul_sim::request::ApiRole;
use longhaul_sim::world::World;
use longhaul_store::resume;
use serde_json::{Value, json};

use crate::host::{Host, head, spec};

const CALLS: [usize; 7] = [1, 2, 12, 1, 5, 8, 3];
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// Works for three rounds of calls, then answers.
pub(crate) struct Worker;

impl ReplyModel for Worker {
    fn reply(&mut self, turn: &ModelTurn<'_>) -> ReplyDraft {
        let messages = &turn.request.messages;
        let step = messages
            .iter()
            .filter(|said| said.role == ApiRole::Assistant)
            .count();
        let mut content = vec![DraftBlock::Thinking(format!(
            "Step {step}: what is next? {}",
            "Hm. ".repeat(step % 9)
        ))];
        if step % 4 == 3 {
            content.push(DraftBlock::Text(format!("Done with part {step}.")));
        } else {
            if step.is_multiple_of(2) {
                content.push(DraftBlock::Text(format!("I look at part {step}.")));
            }
            content.extend(
                (0..CALLS[step % CALLS.len()]).map(|call| DraftBlock::ToolUse {
                    name: ["Bash", "Read", "Task"][call % 3].to_owned(),
                    input: json!({ "path": format!("src/part_{step}/file_{call}.rs") }),
                }),
            );
        }
        ReplyDraft {
            content,
            ..ReplyDraft::default()
        }
    }
}

/// What a request left in the cache, and since when.
#[derive(Clone, Copy, Default)]
pub(crate) struct Left {
    tokens: u64,
    since: u64,
}

/// The settings of a run and its results.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) requests: usize,
    pub(crate) expired: usize,
    pub(crate) stripped: usize,
    pub(crate) read: u64,
    pub(crate) written: u64,
    pub(crate) input: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, reply: &ApiReply) {
        self.requests += 1;
        self.read += reply.usage.cache_read;
        self.written += reply.usage.cache_write();
        self.input += reply.usage.input;
    }

    pub(crate) fn hit_rate(&self) -> f64 {
        self.read as f64 / (self.read + self.written + self.input) as f64
    }
}

/// Which parts of a request are new since the last.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum New {
    Prompt,
    Results,
}

pub(crate) struct Session {
    pub(crate) host: Host,
    name: String,
    betas: Vec<String>,
    pub(crate) ttl: Ttl,
    pub(crate) prior: PriorThinking,
    pub(crate) left: Option<Left>,
    /// The approximate number of tokens of tools and system.
    head_tokens: u64,
    pub(crate) tally: Tally,
}

impl Session {
    pub(crate) fn new(
        world: &mut World,
        folder: &Path,
        name: &str,
        model: &str,
        settings: CacheSettings,
    ) -> Self {
        let source = match name {
            "main" => QuerySource::MAIN,
            _ => QuerySource::agent(name),
        };
        let ttl = TtlPolicy::new(settings).decide(&source).unwrap();
        let spec = spec(model);
        let head = head(model, Some(ttl), name);
        let head_tokens = head_tokens(world, &head);
        let betas = head.latched.betas.clone();
        let path = folder.join(format!("{name}.jsonl"));
        let mut host = Host::new(&path, name, head, spec.thinking.binding);
        host.anew(PrefixReason::First);
        Self {
            host,
            name: name.to_owned(),
            betas,
            ttl,
            prior: spec.thinking.prior,
            left: None,
            head_tokens,
            tally: Tally::default(),
        }
    }

    fn add(&mut self, kind: &str, message: &Value) {
        let (uuid, parent) = (self.host.uuid(), self.host.newest.clone());
        let line = json!({"parentUuid": parent, "type": kind, "uuid": uuid, "sessionId": "s", "message": message});
        self.host.add(&line.to_string());
    }

    pub(crate) fn prompt(&mut self, number: usize) {
        let mut content = vec![
            json!({"type": "text", "text": format!("Please do part {number}. {}", "Take care. ".repeat(number % 7))}),
        ];
        if number % 10 == 1 {
            let source = json!({"type": "base64", "media_type": "image/png", "data": PIXEL});
            content.push(json!({"type": "image", "source": source}));
        }
        self.add("user", &json!({"role": "user", "content": content}));
    }

    fn call(&self, body: Bytes) -> ApiCall {
        ApiCall {
            key: "key".into(),
            version: "2026-10-21".into(),
            betas: self.betas.iter().cloned().collect(),
            session: Some(self.name.clone()),
            body,
        }
    }

    /// Sends a request, compares what it read from the cache with what the last one left, and records the reply.
    /// Returns whether the reply calls tools.
    pub(crate) fn exchange(&mut self, world: &mut World, new: New) -> bool {
        let request = self.host.request(RequestKind::Main).unwrap();
        if self.tally.requests % 23 == 7 {
            let elsewhere = self.host.elsewhere(RequestKind::Main).unwrap();
            assert!(
                elsewhere.to_vec() == request.to_vec(),
                "another process sends the same"
            );
        }
        let at = world.now().0;
        let call = self.call(request.to_vec().into());
        let reply = match world.exchange(&call) {
            Ok(reply) => reply,
            Err(error) => panic!(
                "{} request {}: {}",
                self.name, self.tally.requests, error.message
            ),
        };
        self.check(&reply, at, new);
        self.tally.add(&reply);
        let usage = &reply.usage;
        self.left = Some(Left {
            tokens: usage.cache_read + usage.cache_write(),
            since: at,
        });
        self.take(&reply.message)
    }

    fn check(&mut self, reply: &ApiReply, at: u64, new: New) {
        let read = reply.usage.cache_read;
        let Some(left) = self.left else {
            return;
        };
        let place = format!(
            "{} request {}: {:?}",
            self.name, self.tally.requests, reply.verdict.missed
        );
        if at - left.since >= self.ttl.seconds() as u64 * 1_000 {
            self.tally.expired += 1;
            assert_eq!(read, 0, "{place}");
        } else if self.prior == PriorThinking::Strip && new == New::Prompt {
            // A new prompt removes the thinking before it: only what comes before that thinking can be read.
            self.tally.stripped += 1;
            assert!(read < left.tokens, "{place}");
            assert!(
                read + 50 >= self.head_tokens,
                "{place}: {read} of {}",
                self.head_tokens
            );
        } else {
            assert_eq!(read, left.tokens, "{place}");
        }
    }

    /// Writes a reply, one line per block, and the results of its calls; sometimes a result is between the lines.
    fn take(&mut self, message: &Value) -> bool {
        let interleaved = self.tally.requests.is_multiple_of(2);
        let mut results = Vec::new();
        for block in message["content"].as_array().unwrap() {
            let line = json!({
                "id": message["id"], "type": "message", "role": "assistant", "model": message["model"],
                "content": [block], "usage": message["usage"],
            });
            self.add("assistant", &line);
            if block["type"] == "tool_use" {
                let path = block["input"]["path"].as_str().unwrap();
                let text = format!("{path}: {}", "a line of the file\n".repeat(12));
                results.push(
                    json!({"type": "tool_result", "tool_use_id": block["id"], "content": text}),
                );
                if interleaved && results.len() == 1 {
                    self.add("user", &json!({"role": "user", "content": [results[0]]}));
                }
            }
        }
        for result in results.iter().skip(usize::from(interleaved)) {
            self.add("user", &json!({"role": "user", "content": [result]}));
        }
        !results.is_empty()
    }

    /// A fork reads what is there and writes nothing.
    pub(crate) fn fork(&mut self, world: &mut World) {
        let kind = RequestKind::Fork {
            text: "Say in one line where you are. Do not use any tools.",
        };
        let (at, left) = (world.now().0, self.left.unwrap());
        let expired = at - left.since >= self.ttl.seconds() as u64 * 1_000;
        if self.prior == PriorThinking::Strip && expired {
            return;
        }
        let request = self.host.request(kind).unwrap();
        let reply = world.exchange(&self.call(request.to_vec().into())).unwrap();
        let usage = &reply.usage;
        match self.prior {
            // What has expired is written again, up to where it was written, and no further.
            PriorThinking::Keep if expired => assert_eq!(usage.cache_write(), left.tokens),
            PriorThinking::Keep => {
                assert_eq!(usage.cache_write(), 0, "a fork writes nothing");
                assert_eq!(usage.cache_read, left.tokens, "a fork reads all");
            }
            // Its message is a user message, so the thinking before it is removed.
            PriorThinking::Strip => return,
        }
        self.left = Some(Left { since: at, ..left });
    }

    /// Continues in another process.
    pub(crate) fn restart(&mut self) {
        let resumed = resume(&self.host.path).unwrap();
        self.host.assembly = Some(resumed.assembly().unwrap());
    }
}

/// The number of tokens of tools and system.
fn head_tokens(world: &mut World, head: &RequestPrefix) -> u64 {
    let model = head.model().unwrap().into_owned();
    let part = |part: &str| serde_json::from_str::<Value>(part).unwrap();
    let body = json!({
        "model": model,
        "system": part(head.system.get()),
        "tools": part(head.tools.get()),
        "messages": [{"role": "user", "content": "x"}],
    });
    let call = ApiCall {
        key: "key".into(),
        version: "2026-10-21".into(),
        body: body.to_string().into(),
        ..ApiCall::default()
    };
    world.count_tokens(&call).unwrap()["input_tokens"]
        .as_u64()
        .unwrap()
}
