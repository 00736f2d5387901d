//! A client of either dialect, streamed or not, that never trims its history, retries as SDKs do, and recognizes its
//! own responses.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::BufReader;
use tokio::net::TcpStream;

use super::super::echo::Tag;
use super::Counts;
use super::wire::{self, Failed};

/// How often SDKs try, and how long this client pauses in between.
const TRIES: u32 = 3;
const BACK_OFF: Duration = Duration::from_millis(5);
/// After this time, a response counts as lost.
const LOST: Duration = Duration::from_secs(120);
/// How many lines a tool result has.
const LINES: usize = 120;

/// How a client asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Messages,
    MessagesStreamed,
    Chat,
    ChatStreamed,
}

impl Kind {
    pub(super) const ALL: [Self; 4] = [
        Self::Messages,
        Self::MessagesStreamed,
        Self::Chat,
        Self::ChatStreamed,
    ];

    fn is_chat(self) -> bool {
        matches!(self, Self::Chat | Self::ChatStreamed)
    }

    fn is_streamed(self) -> bool {
        matches!(self, Self::MessagesStreamed | Self::ChatStreamed)
    }
}

/// A conversation that never trims its history and checks its responses.
pub(super) struct Conversation {
    addr: String,
    key: String,
    kind: Kind,
    model: &'static str,
    messages: Vec<Value>,
    tag: Tag,
    stream: Option<BufReader<TcpStream>>,
}

impl Conversation {
    pub(super) fn new(
        addr: &str,
        key: String,
        kind: Kind,
        model: &'static str,
        conversation: u64,
    ) -> Self {
        let tag = Tag {
            conversation,
            turn: 0,
        };
        let mut new = Self {
            addr: addr.to_owned(),
            key,
            kind,
            model,
            messages: Vec::new(),
            tag,
            stream: None,
        };
        new.says();
        new
    }

    /// One turn: asks until there is a response, checks that it is the right one, and continues.
    pub(super) async fn turn(&mut self, counts: &Counts) {
        let body = self.body().to_string();
        let mut tries = 0;
        let reply = loop {
            let asking = tokio::time::timeout(LOST, self.ask(&body));
            match asking.await.expect("a request was lost") {
                Ok(reply) => break reply,
                Err(Failed::ForGood(why)) => {
                    panic!("{:?} {} {}: {why}", self.kind, self.model, self.tag)
                }
                Err(Failed::ForNow) => {
                    self.stream = None;
                    Counts::add(&counts.failures);
                    tries += 1;
                    if tries % TRIES == 0 {
                        // The program reports it, and its user retries.
                        Counts::add(&counts.given_up);
                    }
                    tokio::time::sleep(BACK_OFF).await;
                }
            }
        };
        self.is_mine(&reply);
        counts.turns.fetch_add(1, Ordering::Relaxed);
        self.messages.push(reply);
        self.tag.turn += 1;
        self.goes_on();
    }

    /// Asks, discards the response, pauses, and asks the same again, like a program that was killed.
    pub(super) async fn ask_again(&mut self, rest: Duration) {
        let body = self.body().to_string();
        for _ in 0..2 {
            let Ok(reply) = self.ask(&body).await else {
                panic!("{:?} {} {}", self.kind, self.model, self.tag);
            };
            self.is_mine(&reply);
            tokio::time::sleep(rest).await;
        }
    }

    /// Checks that the response is not for another request.
    fn is_mine(&self, reply: &Value) {
        let text = reply.to_string();
        assert!(
            text.contains(&format!("This answers {}.", self.tag)),
            "{:?} {} {}: {text}",
            self.kind,
            self.model,
            self.tag
        );
        let own = |tag: Tag| tag.conversation == self.tag.conversation;
        assert!(Tag::all(&text).all(own), "{}: {text}", self.tag);
    }

    async fn ask(&mut self, body: &str) -> Result<Value, Failed> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => {
                let stream = TcpStream::connect(&self.addr).await;
                BufReader::new(stream.map_err(|_| Failed::ForNow)?)
            }
        };
        let (path, auth) = if self.kind.is_chat() {
            (
                "/v1/chat/completions",
                format!("authorization: Bearer {}\r\n", self.key),
            )
        } else {
            (
                "/v1/messages",
                format!(
                    "x-api-key: {}\r\nanthropic-version: 2023-06-01\r\n",
                    self.key
                ),
            )
        };
        let answer = wire::exchange(&mut stream, path, &auth, body).await?;
        let reply = match self.kind {
            Kind::Messages => wire::message(&answer),
            Kind::MessagesStreamed => wire::streamed_message(&answer),
            Kind::Chat => wire::completion(&answer),
            Kind::ChatStreamed => wire::streamed_completion(&answer),
        };
        self.stream = Some(stream);
        reply.ok_or(Failed::ForNow)
    }

    fn body(&mut self) -> Value {
        let system = "You work on a repository. ".repeat(40);
        let schema = |argument: &str| json!({"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]});
        let tools = [("Read", "file_path"), ("Bash", "command")];
        let mut body = if self.kind.is_chat() {
            let mut messages = vec![json!({"role": "system", "content": system})];
            messages.extend(self.messages.iter().cloned());
            let tools = tools.map(|(name, argument)| {
                let function =
                    json!({"name": name, "description": name, "parameters": schema(argument)});
                json!({"type": "function", "function": function})
            });
            json!({"model": self.model, "max_completion_tokens": 8_000, "tools": tools, "messages": messages})
        } else {
            self.mark();
            let tools = tools.map(|(name, argument)| {
                    json!({"name": name, "description": name, "input_schema": schema(argument)})
                });
            let system =
                json!([{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}]);
            json!({"model": self.model, "max_tokens": 8_000, "system": system, "tools": tools,
                    "thinking": {"type": "adaptive"}, "messages": self.messages})
        };
        if self.kind.is_streamed() {
            body["stream"] = json!(true);
            if self.kind.is_chat() {
                body["stream_options"] = json!({"include_usage": true});
            }
        }
        body
    }

    /// Sets a breakpoint on the newest block, and removes the one before.
    fn mark(&mut self) {
        let count = self.messages.len();
        for (at, message) in self.messages.iter_mut().enumerate() {
            let blocks = message["content"].as_array_mut().unwrap();
            let Some(fields) = blocks.last_mut().and_then(Value::as_object_mut) else {
                continue;
            };
            fields.remove("cache_control");
            if at + 1 == count {
                fields.insert("cache_control".into(), json!({"type": "ephemeral"}));
            }
        }
    }

    /// Adds a message of the user.
    fn says(&mut self) {
        let text = format!(
            "Task {}: improve part {}, and never touch file{}.lock.",
            self.tag, self.tag.turn, self.tag.turn
        );
        self.messages.push(if self.kind.is_chat() {
            json!({"role": "user", "content": text})
        } else {
            json!({"role": "user", "content": [{"type": "text", "text": text}]})
        });
    }

    /// Continues with results if tools were called, otherwise with a new task.
    fn goes_on(&mut self) {
        let newest = self.messages.last().unwrap();
        let text = format!("{}\n", self.tag)
            + &format!("line {} of a result with words in it\n", self.tag.turn).repeat(LINES);
        let calls = newest["tool_calls"].as_array();
        let blocks = newest["content"].as_array();
        let of_chat = calls
            .into_iter()
            .flatten()
            .map(|call| json!({"role": "tool", "tool_call_id": call["id"], "content": text}));
        let uses = blocks.into_iter().flatten();
        let uses = uses
            .filter(|block| block["type"] == "tool_use")
            .map(|call| json!({"type": "tool_result", "tool_use_id": call["id"], "content": text}));
        let (of_chat, uses): (Vec<_>, Vec<_>) = (of_chat.collect(), uses.collect());
        match (of_chat.is_empty(), uses.is_empty()) {
            (true, true) => self.says(),
            (false, _) => self.messages.extend(of_chat),
            (true, false) => self.messages.push(json!({"role": "user", "content": uses})),
        }
    }
}
