//! A client that never trims its history, uses either API, and streams or does not.

use std::collections::BTreeMap;

use longhaul_gateway::front::Gateway;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::texts::{Chance, Kind, text};
use crate::support::{header, post};

/// The API that the client uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Messages,
    Chat,
}

/// The contents of each turn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Workload {
    pub(crate) name: &'static str,
    /// The size of the user's messages, in thousandths of the window.
    pub(crate) words: u64,
    /// The size of each result of a turn, in thousandths of the window.
    pub(crate) result: u64,
    /// How many tools are called in parallel.
    pub(crate) calls: usize,
    /// The kinds of results, in turn; the user writes like the last kind, if that is Chinese.
    pub(crate) kinds: &'static [Kind],
    pub(crate) streamed: bool,
    pub(crate) dialect: Dialect,
    /// Whether the client sets a breakpoint on its last message.
    pub(crate) marks: bool,
    /// The longest reply.
    pub(crate) max_tokens: u64,
}

impl Workload {
    pub(crate) const PLAIN: Self = Self {
        name: "plain",
        words: 1,
        result: 10,
        calls: 1,
        kinds: &[Kind::Words],
        streamed: false,
        dialect: Dialect::Messages,
        marks: true,
        max_tokens: 8_000,
    };
}

pub(crate) struct Client {
    addr: std::net::SocketAddr,
    model: &'static str,
    workload: Workload,
    window: u64,
    chance: Chance,
    messages: Vec<Value>,
    /// The messages that will not change any more, as they are sent.
    written: String,
    until: usize,
    /// How often `x-longhaul-action` had which value.
    pub(crate) actions: BTreeMap<String, usize>,
    /// Every decision by price, as `x-longhaul-economy` told it.
    pub(crate) decisions: Vec<String>,
    /// The text of the stable request prefix.
    pub(crate) head: String,
}

impl Client {
    pub(crate) async fn new(
        gateway: &Gateway,
        model: &'static str,
        workload: Workload,
        window: u64,
    ) -> Self {
        Self {
            addr: gateway.addr(),
            model,
            workload,
            window,
            chance: Chance(1),
            messages: vec![
                json!({"role": "user", "content": "Fix the tests. Never touch the lock file."}),
            ],
            written: String::new(),
            until: 0,
            actions: BTreeMap::new(),
            decisions: Vec::new(),
            head: "You work on a repository. ".repeat(20),
        }
    }

    /// The body as it is sent. Earlier messages are written only once: in a long conversation they are most of the
    /// work.
    fn body(&mut self) -> String {
        let last = self.messages.len() - 1;
        for message in &self.messages[self.until..last] {
            self.written += &message.to_string();
            self.written.push(',');
        }
        self.until = last;
        let mut newest = self.messages[last].clone();
        if self.workload.marks
            && self.workload.dialect == Dialect::Messages
            && let Some(block) = newest["content"]
                .as_array_mut()
                .and_then(|all| all.last_mut())
        {
            block["cache_control"] = json!({"type": "ephemeral"});
        }
        let beside = self.beside();
        let lead = match self.workload.dialect {
            Dialect::Chat => json!({"role": "system", "content": self.head}).to_string() + ",",
            Dialect::Messages => String::new(),
        };
        let beside = beside.to_string();
        let beside = beside.trim_start_matches('{');
        format!("{{\"messages\":[{lead}{}{newest}],{beside}", self.written)
    }

    /// The members besides the messages.
    fn beside(&self) -> Value {
        let schema = json!({"type": "object", "properties": {"command": {"type": "string"}}});
        match self.workload.dialect {
            Dialect::Chat => {
                let function = json!({"name": "Bash", "description": "Run", "parameters": schema});
                json!({"model": self.model, "max_tokens": self.workload.max_tokens,
                    "tools": [{"type": "function", "function": function}]})
            }
            Dialect::Messages => {
                let mut body = json!({"model": self.model, "max_tokens": self.workload.max_tokens,
                    "system": [{"type": "text", "text": self.head}], "stream": self.workload.streamed,
                    "tools": [{"name": "Bash", "description": "Run", "input_schema": schema}]});
                if self.binds() {
                    body["thinking"] = json!({"type": "adaptive"});
                }
                if self.workload.marks {
                    body["system"][0]["cache_control"] = json!({"type": "ephemeral"});
                }
                body
            }
        }
    }

    /// Whether the model's own messages are sent back, with thinking that is bound to the messages before it.
    fn binds(&self) -> bool {
        matches!(self.model, "claude-opus-5-5" | "claude-fable-5-2")
    }

    /// One turn; returns the size of its prompt.
    pub(crate) async fn turn(&mut self, turn: u64) -> u64 {
        let (answer, reply) = self.ask().await;
        let usage = &reply["usage"];
        let count = |name: &str| usage[name].as_u64().unwrap_or(0);
        let prompt = match self.workload.dialect {
            Dialect::Messages => {
                count("input_tokens")
                    + count("cache_read_input_tokens")
                    + count("cache_creation_input_tokens")
            }
            Dialect::Chat => count("prompt_tokens"),
        };
        assert!(
            prompt > 0,
            "turn {turn} was not answered: {answer}\n{reply}"
        );
        let action = header(&answer, "x-longhaul-action").unwrap_or_default();
        *self.actions.entry(action).or_default() += 1;
        self.decisions.extend(header(&answer, "x-longhaul-economy"));
        self.go_on(turn, &reply);
        prompt
    }

    /// Sends the history; returns the headers of the response, and the reply.
    pub(crate) async fn ask(&mut self) -> (String, Value) {
        let body = self.body();
        let path = match self.workload.dialect {
            Dialect::Messages => "/v1/messages",
            Dialect::Chat => "/v1/chat/completions",
        };
        let headers = "x-api-key: k\r\nauthorization: Bearer k\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json\r\nconnection: close\r\n";
        let mut stream = TcpStream::connect(self.addr).await.unwrap();
        stream.write_all(&post(path, headers, &body)).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let reply = if self.workload.streamed && head.starts_with("HTTP/1.1 200") {
            streamed(body)
        } else {
            let json = body.find('{').map_or("", |at| &body[at..]);
            let mut read = serde_json::Deserializer::from_str(json).into_iter();
            read.next()
                .unwrap_or(Ok(Value::Null))
                .unwrap_or(Value::Null)
        };
        (format!("{head}\r\n\r\n"), reply)
    }

    fn go_on(&mut self, turn: u64, reply: &Value) {
        let Workload {
            words,
            result,
            calls,
            kinds,
            dialect,
            ..
        } = self.workload;
        let tokens = |thousandths: u64| (self.window * thousandths / 1_000) as usize;
        let (words, result) = (tokens(words), tokens(result));
        let kind = kinds[turn as usize % kinds.len()];
        let speaks = match kinds {
            [Kind::Chinese] => Kind::Chinese,
            _ => Kind::Words,
        };
        let said = format!("{turn}: {}", text(speaks, words, &mut self.chance));
        let mut ids: Vec<String> = (0..calls)
            .map(|at| format!("toolu_{turn:06}_{at}"))
            .collect();
        let content = if self.binds() {
            let content = reply["content"].clone();
            let blocks = content.as_array().unwrap().iter();
            let called = blocks.filter(|block| block["type"] == "tool_use");
            ids = called
                .map(|call| call["id"].as_str().unwrap().to_owned())
                .collect();
            content
        } else {
            let call = |id: &String| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": format!("step {turn}")}});
            let text = json!({"type": "text", "text": "Next step."});
            std::iter::once(text).chain(ids.iter().map(call)).collect()
        };
        if dialect == Dialect::Chat {
            let call = |id: &String| json!({"id": id, "type": "function", "function": {"name": "Bash", "arguments": format!("{{\"command\":\"step {turn}\"}}")}});
            let calls: Vec<Value> = ids.iter().map(call).collect();
            self.messages
                .push(json!({"role": "assistant", "content": "Next step.", "tool_calls": calls}));
            for id in &ids {
                let text = text(kind, result, &mut self.chance);
                self.messages
                    .push(json!({"role": "tool", "tool_call_id": id, "content": text}));
            }
            self.messages.push(json!({"role": "user", "content": said}));
            return;
        }
        self.messages
            .push(json!({"role": "assistant", "content": content}));
        let mut blocks: Vec<Value> = Vec::new();
        for id in &ids {
            let text = text(kind, result, &mut self.chance);
            blocks.push(json!({"type": "tool_result", "tool_use_id": id, "content": text}));
        }
        if ids.is_empty() {
            let pasted = text(kind, result, &mut self.chance);
            blocks.push(json!({"type": "text", "text": format!("Look at this:\n{pasted}")}));
        }
        blocks.push(json!({"type": "text", "text": said}));
        self.messages
            .push(json!({"role": "user", "content": blocks}));
    }
}

/// A reply assembled from its events.
fn streamed(body: &str) -> Value {
    let mut blocks: Vec<(Value, String)> = Vec::new();
    let mut usage = json!({});
    for line in body.lines() {
        let Some(event) = line
            .strip_prefix("data: ")
            .and_then(|data| serde_json::from_str::<Value>(data).ok())
        else {
            continue;
        };
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => usage = event["message"]["usage"].clone(),
            "content_block_start" => blocks.push((event["content_block"].clone(), String::new())),
            "content_block_delta" => {
                let (block, json) = blocks.last_mut().unwrap();
                let delta = &event["delta"];
                for (kind, field) in [
                    ("text", "text"),
                    ("thinking", "thinking"),
                    ("signature", "signature"),
                ] {
                    if let Some(more) = delta[kind].as_str() {
                        let before = block[field].as_str().unwrap_or_default().to_owned();
                        block[field] = Value::from(before + more);
                    }
                }
                json.push_str(delta["partial_json"].as_str().unwrap_or_default());
            }
            _ => {}
        }
    }
    let blocks = blocks.into_iter().map(|(mut block, json)| {
        if !json.is_empty() {
            block["input"] = serde_json::from_str(&json).unwrap();
        }
        block
    });
    json!({"content": blocks.collect::<Vec<_>>(), "usage": usage})
}
