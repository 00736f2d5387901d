//! Clients that never trim their history, through the gateway to the simulator, which rejects what the API rejects.

use std::sync::Arc;

use longhaul_core::models::ModelTable;
use longhaul_gateway::branch::Tenants;
use longhaul_gateway::front::{Gateway, GatewayOptions, UpstreamChoice};
use longhaul_gateway::store::InMemoryStore;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::support::{body_of, header, post, read_message};

/// Models with small windows, which sessions fill soon.
pub(crate) fn small_windows() -> ModelTable {
    let small = |id: &str| format!("[models.{id}]\nwindow = 40_000\n");
    let text: String = ["claude-sonnet-4-6", "claude-opus-5-5"].map(small).concat();
    ModelTable::builtin().extended_with(&text).unwrap()
}

pub(crate) async fn world(change: impl FnOnce(&mut GatewayOptions)) -> Gateway {
    let store = Arc::new(InMemoryStore::new().unwrap());
    let mut options = GatewayOptions::new(UpstreamChoice::Simulated, store, Tenants::passing());
    options.models = small_windows();
    change(&mut options);
    Gateway::start(options).await.unwrap()
}

/// The simplest possible agent loop: it sends everything, every time.
pub(crate) struct Endless {
    stream: TcpStream,
    pub(crate) model: &'static str,
    pub(crate) messages: Vec<Value>,
    /// The user's messages.
    pub(crate) said: Vec<String>,
    /// The `x-longhaul-action` of each response.
    pub(crate) actions: Vec<String>,
    /// How many results the last request had in a smaller form.
    pub(crate) reduced: u64,
    /// How many of its messages the last request was sent without.
    pub(crate) replaced: usize,
    pub(crate) largest: u64,
    calls: usize,
}

impl Endless {
    pub(crate) async fn new(gateway: &Gateway, model: &'static str) -> Self {
        Self {
            stream: TcpStream::connect(gateway.addr()).await.unwrap(),
            model,
            messages: Vec::new(),
            said: Vec::new(),
            actions: Vec::new(),
            reduced: 0,
            replaced: 0,
            largest: 0,
            calls: 0,
        }
    }

    /// Connects the same client to another gateway.
    pub(crate) async fn reconnect(&mut self, gateway: &Gateway) {
        self.stream = TcpStream::connect(gateway.addr()).await.unwrap();
    }

    /// Another client that says the same, at the given gateway.
    pub(crate) async fn twin(&self, gateway: &Gateway) -> Self {
        Self {
            messages: self.messages.clone(),
            said: self.said.clone(),
            ..Self::new(gateway, self.model).await
        }
    }

    fn body(&self) -> Value {
        let tool = |name: &str, argument: &str| {
            json!({"name": name, "description": format!("{name} something."), "input_schema":
                {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]}})
        };
        json!({
            "model": self.model, "max_tokens": 8_000,
            "system": [{"type": "text", "text": "You work on a repository. ".repeat(40), "cache_control": {"type": "ephemeral"}}],
            "tools": [tool("Read", "file_path"), tool("Bash", "command"), tool("lookup", "id")],
            "thinking": {"type": "adaptive"},
            "messages": self.messages,
        })
    }

    /// Sets a breakpoint on the last block, as clients do, and removes all others.
    fn mark(&mut self) {
        let last = self.messages.len() - 1;
        for (at, message) in self.messages.iter_mut().enumerate() {
            let Some(blocks) = message["content"].as_array_mut() else {
                continue;
            };
            let end = blocks.len().saturating_sub(1);
            for (place, block) in blocks.iter_mut().enumerate() {
                let fields = block.as_object_mut().unwrap();
                fields.remove("cache_control");
                if at == last && place == end {
                    fields.insert("cache_control".into(), json!({"type": "ephemeral"}));
                }
            }
        }
    }

    /// Sends the history, and adds the reply.
    pub(crate) async fn turn(&mut self) -> Value {
        self.mark();
        let headers =
            "x-api-key: k\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n";
        let body = self.body().to_string();
        let request = post("/v1/messages", headers, &body);
        self.stream.write_all(&request).await.unwrap();
        let answer = String::from_utf8(read_message(&mut self.stream).await.unwrap()).unwrap();
        let reply: Value = serde_json::from_str(body_of(&answer)).unwrap();
        assert_eq!(
            reply["type"],
            "message",
            "turn {}: {answer}",
            self.actions.len()
        );
        self.actions
            .push(header(&answer, "x-longhaul-action").unwrap_or_default());
        let reduced = header(&answer, "x-longhaul-reduced-results");
        self.reduced = reduced.map_or(0, |count| count.parse().unwrap());
        let replaced = header(&answer, "x-longhaul-replaced-messages");
        self.replaced = replaced.map_or(0, |count| count.parse().unwrap());
        let usage = &reply["usage"];
        let tokens = [
            "input_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
        ];
        let prompt = tokens
            .map(|name| usage[name].as_u64().unwrap_or(0))
            .iter()
            .sum();
        self.largest = self.largest.max(prompt);
        self.messages
            .push(json!({"role": "assistant", "content": reply["content"]}));
        reply
    }

    /// Continues with the same text as the result of every call.
    pub(crate) fn answer_calls(&mut self, reply: &Value, text: &str) {
        let blocks = reply["content"].as_array().unwrap().iter();
        let calls = blocks.filter(|block| block["type"] == "tool_use");
        let results: Vec<Value> = calls
            .map(|call| json!({"type": "tool_result", "tool_use_id": call["id"], "content": text}))
            .collect();
        assert!(!results.is_empty(), "{reply}");
        self.messages
            .push(json!({"role": "user", "content": results}));
    }

    /// Continues: with results if tools were called, otherwise with a new task.
    pub(crate) fn go_on(&mut self, reply: &Value) {
        let calls: Vec<&Value> = reply["content"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|block| block["type"] == "tool_use")
            .collect();
        if calls.is_empty() {
            let text = format!(
                "Task {}: never touch file{}.lock, and improve part {}.",
                self.said.len(),
                self.said.len(),
                self.said.len()
            );
            self.said.push(text.clone());
            self.messages
                .push(json!({"role": "user", "content": [{"type": "text", "text": text}]}));
            return;
        }
        let results: Vec<Value> = calls
            .iter()
            .map(|call| {
                self.calls += 1;
                let text = format!("line of result {} with words in it\n", self.calls).repeat(60);
                json!({"type": "tool_result", "tool_use_id": call["id"], "content": text})
            })
            .collect();
        self.messages
            .push(json!({"role": "user", "content": results}));
    }
}

pub(crate) fn refused(gateway: &Gateway) -> u64 {
    gateway
        .simulated()
        .unwrap()
        .with_world(|world| world.usage_log().total.errors)
}

async fn endless(model: &'static str, turns: usize) {
    let gateway = world(|_| {}).await;
    let mut client = Endless::new(&gateway, model).await;
    client.go_on(&json!({"content": []}));
    for _ in 0..turns {
        let reply = client.turn().await;
        client.go_on(&reply);
    }
    let mut counts = std::collections::BTreeMap::new();
    for action in &client.actions {
        *counts.entry(action.as_str()).or_insert(0) += 1;
    }
    let bytes = client.body().to_string().len();
    println!(
        "{model}: {turns} turns, {} prompts, history {bytes} bytes, largest prompt {} tokens, actions {counts:?}",
        client.said.len(),
        client.largest
    );
    assert_eq!(
        refused(&gateway),
        0,
        "nothing was refused, so nothing was ever too long"
    );
    assert!(client.largest < 40_000);
    assert!(
        bytes / 4 > 3 * 40_000,
        "the client's history is far beyond the window"
    );
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x8_a_client_that_never_trims_goes_on_for_400_turns() {
    endless("claude-sonnet-4-6", 400).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn n2_x8_so_does_one_on_a_model_that_binds_thinking() {
    endless("claude-opus-5-5", 400).await;
}
