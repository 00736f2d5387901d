//! A client in the offline world: a growing conversation with breakpoints like ours, and a cache watch.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use longhaul_core::cache::{
    CacheBreakDetector, CacheVerdict, HostModes, RequestFingerprint, WatchedCallId,
};
use longhaul_core::models::{ModelSpec, ModelTable};
use longhaul_sim::call::ApiCall;
use longhaul_sim::model::{DraftBlock, DraftStop, ModelTurn, ReplyDraft, ReplyModel};
use longhaul_sim::reply::ApiReply;
use longhaul_sim::world::{World, WorldOptions};
use serde_json::{Value, json};

/// The randomness of a run: the same seed gives the same run.
#[derive(Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn between(&mut self, low: usize, high: usize) -> usize {
        low + (self.next() % (high - low + 1) as u64) as usize
    }

    pub(crate) fn percent(&mut self, percent: usize) -> bool {
        self.between(0, 99) < percent
    }

    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.between(0, items.len() - 1)]
    }

    pub(crate) fn words(&mut self, count: usize) -> String {
        const WORDS: [&str; 24] = [
            "river", "stone", "light", "paper", "garden", "window", "north", "cloud", "table",
            "letter", "winter", "bridge", "copper", "signal", "market", "forest", "engine",
            "mirror", "silver", "harbor", "ladder", "candle", "button", "meadow",
        ];
        let words: Vec<&str> = (0..count).map(|_| self.pick(&WORDS)).collect();
        words.join(" ")
    }
}

/// Answers with a text; calls as many tools as the newest user message says; thinks where it is told to.
struct Talker;

impl ReplyModel for Talker {
    fn reply(&mut self, turn: &ModelTurn<'_>) -> ReplyDraft {
        let mut chance = Chance::new(turn.seed);
        let thinks = matches!(turn.request.tag("thinking"), Some("enabled"));
        let mut content = Vec::new();
        if thinks {
            content.push(DraftBlock::Thinking(chance.words(30)));
        }
        let length = chance.between(40, 120);
        content.push(DraftBlock::Text(chance.words(length)));
        let last = turn.request.messages.last();
        let texts = last.iter().flat_map(|last| &last.content);
        let texts = texts.filter_map(|block| block.text("text").or(block.text("content")));
        let mut asked = texts.filter_map(|text| text.rsplit_once("calls=")?.1.parse().ok());
        let calls: usize = asked.next_back().unwrap_or_default();
        for nth in 0..calls {
            content.push(DraftBlock::ToolUse {
                name: turn.request.tools[0].name.clone(),
                input: json!({ "path": format!("src/{nth}.rs"), "query": chance.words(3) }),
            });
        }
        ReplyDraft {
            content,
            stop: DraftStop::Natural,
        }
    }
}

/// Where the conversation has its cache breakpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marking {
    /// A breakpoint on the last block.
    Explicit,
    /// The provider places it (automatic caching).
    Automatic,
    /// There is no breakpoint on the messages.
    HeadOnly,
}

/// The result of one exchange.
pub(crate) struct Outcome {
    pub(crate) verdict: CacheVerdict,
    pub(crate) reply: ApiReply,
    /// What the simulator itself says changed.
    pub(crate) changed: Option<String>,
}

pub(crate) struct Session {
    pub(crate) world: World,
    pub(crate) watch: CacheBreakDetector,
    pub(crate) chance: Chance,
    pub(crate) spec: Arc<ModelSpec>,
    pub(crate) source: String,
    pub(crate) betas: BTreeSet<String>,
    pub(crate) flags: HostModes,
    /// The fields of the body except system, tools and messages.
    pub(crate) settings: Value,
    pub(crate) system: Vec<Value>,
    pub(crate) tools: Vec<Value>,
    pub(crate) messages: Vec<Value>,
    pub(crate) ttl: &'static str,
    pub(crate) marking: Marking,
    pub(crate) bridge: bool,
    /// Message and block of the last breakpoint on the messages.
    pub(crate) written: Option<(usize, usize)>,
    /// Replacements in the serialized body, for what a tree cannot express: the order of keys.
    pub(crate) replaced: Vec<(String, String)>,
    /// What only the cache watch sees, since the simulator has no such thing.
    pub(crate) only_watched: fn(&mut Value),
    /// How many calls the next reply makes; random if none.
    pub(crate) calls: Option<usize>,
    /// The size of what the user says, in words.
    pub(crate) says: usize,
}

impl Session {
    pub(crate) fn new(seed: u64, models: &[&str]) -> Self {
        let mut chance = Chance::new(seed);
        let model = chance.pick(models);
        let spec = ModelTable::builtin().resolve(model).spec;
        let (stable, dynamic) = (chance.between(4_200, 5_000), chance.between(300, 900));
        let system = vec![
            json!({ "type": "text", "text": chance.words(stable) }),
            json!({ "type": "text", "text": format!("Today is 2026-11-14.\n{}", chance.words(dynamic)) }),
        ];
        let count = chance.between(3, 6);
        let tools = (0..count).map(|nth| tool(&format!("tool_{nth}"), &mut chance));
        let tools = tools.collect();
        let says = chance.between(700, 1_000);
        Self {
            world: World::new(WorldOptions::new(seed, Box::new(Talker))),
            watch: CacheBreakDetector::default(),
            source: "repl_main_thread".to_owned(),
            betas: BTreeSet::new(),
            flags: HostModes::new(),
            settings: json!({ "model": model, "max_tokens": 8_000 }),
            system,
            tools,
            messages: Vec::new(),
            ttl: chance.pick(&["5m", "1h"]),
            marking: chance.pick(&[Marking::Explicit, Marking::Explicit, Marking::Automatic]),
            bridge: true,
            written: None,
            replaced: Vec::new(),
            only_watched: |_| {},
            calls: None,
            says,
            spec,
            chance,
        }
    }

    pub(crate) fn set_model(&mut self, model: &str) {
        self.settings["model"] = json!(model);
        self.spec = ModelTable::builtin().resolve(model).spec;
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(1_795_000_000_000 + self.world.now().0 as i64).unwrap()
    }

    /// The user speaks, or tools answer, and the reply becomes part of the conversation.
    pub(crate) fn step(&mut self) -> Outcome {
        self.listen();
        self.send()
    }

    /// Adds the next user message.
    pub(crate) fn listen(&mut self) {
        let calls = self.calls.unwrap_or_else(|| {
            if self.chance.percent(40) {
                self.chance.between(1, 2)
            } else {
                0
            }
        });
        let text = format!("{} calls={calls}", self.chance.words(self.says));
        let open: Vec<Value> = self.open_calls();
        let mut content: Vec<Value> = Vec::new();
        for (nth, id) in open.iter().enumerate() {
            let text = if nth + 1 == open.len() {
                text.clone()
            } else {
                self.chance.words(120)
            };
            content.push(json!({ "type": "tool_result", "tool_use_id": id, "content": text }));
        }
        if open.is_empty() {
            content.push(json!({ "type": "text", "text": text }));
        }
        self.messages
            .push(json!({ "role": "user", "content": content }));
    }

    /// How many calls wait for their results.
    pub(crate) fn open(&self) -> usize {
        self.open_calls().len()
    }

    fn open_calls(&self) -> Vec<Value> {
        let last = self.messages.last();
        let blocks = last.and_then(|last| last["content"].as_array());
        let calls = blocks
            .into_iter()
            .flatten()
            .filter(|block| block["type"] == "tool_use");
        calls.map(|call| call["id"].clone()).collect()
    }

    /// The request as it is sent, including breakpoints.
    pub(crate) fn body(&mut self) -> Value {
        let mut body = self.settings.clone();
        let mut system = self.system.clone();
        for block in system.iter_mut().rev().take(2) {
            block["cache_control"] = self.marker();
        }
        let mut messages = self.messages.clone();
        let last = (
            messages.len() - 1,
            blocks(&messages[messages.len() - 1]) - 1,
        );
        let place = |at: (usize, usize)| -> usize {
            messages[..at.0].iter().map(blocks).sum::<usize>() + at.1
        };
        let bridged = self.written.filter(|written| {
            let gone = written.0 >= messages.len() || written.1 >= blocks(&messages[written.0]);
            self.bridge && !gone && place(last).saturating_sub(place(*written)) > 15
        });
        for at in bridged
            .into_iter()
            .chain((self.marking == Marking::Explicit).then_some(last))
        {
            as_blocks(&mut messages[at.0])[at.1]["cache_control"] = self.marker();
        }
        if self.marking == Marking::Automatic {
            body["cache_control"] = self.marker();
        }
        if self.marking != Marking::HeadOnly {
            self.written = Some(last);
        }
        body["system"] = json!(system);
        body["tools"] = json!(self.tools);
        body["messages"] = json!(messages);
        body
    }

    fn marker(&self) -> Value {
        match self.ttl {
            "1h" => json!({ "type": "ephemeral", "ttl": "1h" }),
            _ => json!({ "type": "ephemeral" }),
        }
    }

    fn bytes(&self, body: &Value) -> Bytes {
        let mut text = body.to_string();
        for (from, to) in &self.replaced {
            text = text.replace(from, to);
        }
        Bytes::from(text)
    }

    /// Announces a request to the watch.
    pub(crate) fn announce(&mut self, body: &Value) -> WatchedCallId {
        let mut watched = body.clone();
        (self.only_watched)(&mut watched);
        let betas: Vec<&str> = self.betas.iter().map(String::as_str).collect();
        let bytes = self.bytes(&watched);
        let sent =
            RequestFingerprint::of_body(self.source.clone(), self.now(), &bytes, betas).unwrap();
        self.watch
            .before(sent.with_flags(Arc::new(self.flags.clone())))
    }

    pub(crate) fn call(&self, body: &Value) -> ApiCall {
        ApiCall {
            key: "a".to_owned(),
            version: "2023-06-01".to_owned(),
            betas: self.betas.clone(),
            session: Some(self.source.clone()),
            body: self.bytes(body),
        }
    }

    pub(crate) fn send(&mut self) -> Outcome {
        let body = self.body();
        let id = self.announce(&body);
        let reply = match self.world.exchange(&self.call(&body)) {
            Ok(reply) => reply,
            Err(error) => panic!("refused: {}", error.message),
        };
        let verdict = self.watch.after(id, &reply.usage, Some(&self.spec));
        let changed = self
            .world
            .usage_log()
            .last()
            .and_then(|record| record.changed.clone());
        self.hear(&reply);
        Outcome {
            verdict,
            reply,
            changed,
        }
    }

    /// Takes the reply into the conversation.
    pub(crate) fn hear(&mut self, reply: &ApiReply) {
        let content = reply.message["content"].clone();
        self.messages
            .push(json!({ "role": "assistant", "content": content }));
    }

    /// A message of the user that holds text of their own, in the first third.
    pub(crate) fn early(&mut self, role: &str) -> usize {
        let early = self.messages.len().div_ceil(3);
        let found = (0..early).filter(|at| {
            let message = &self.messages[*at];
            message["role"] == role && message["content"][0]["type"] == "text"
        });
        let found: Vec<usize> = found.collect();
        self.chance.pick(&found)
    }
}

pub(crate) fn tool(name: &str, chance: &mut Chance) -> Value {
    let words = chance.between(60, 160);
    json!({
        "name": name,
        "description": chance.words(words),
        "input_schema": {
            "type": "object",
            "properties": {
                "path": { "type": "string", "description": chance.words(12) },
                "query": { "type": "string", "description": chance.words(12) },
            },
            "required": ["path"],
        },
    })
}

fn blocks(message: &Value) -> usize {
    message["content"].as_array().map_or(1, Vec::len)
}

/// A message's content as a list.
pub(crate) fn as_blocks(message: &mut Value) -> &mut Vec<Value> {
    if let Some(text) = message["content"].as_str() {
        message["content"] = json!([{ "type": "text", "text": text }]);
    }
    message["content"].as_array_mut().unwrap()
}
