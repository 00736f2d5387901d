//! Whole conversations through the gateway to the simulator, which rejects what the API would reject.

use std::sync::Arc;

use longhaul_gateway::branch::Tenants;
use longhaul_gateway::front::{Gateway, GatewayOptions, UpstreamChoice};
use longhaul_gateway::store::InMemoryStore;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::support::{body_of, get, header, post, read_message, sessions_when};

async fn gateway() -> Gateway {
    let store = Arc::new(InMemoryStore::new().unwrap());
    Gateway::start(GatewayOptions::new(
        UpstreamChoice::Simulated,
        store,
        Tenants::passing(),
    ))
    .await
    .unwrap()
}

/// A client that keeps its history and sets a breakpoint on its newest message.
pub(crate) struct Client {
    stream: TcpStream,
    key: String,
    pub(crate) system: String,
    pub(crate) messages: Vec<Value>,
}

impl Client {
    pub(crate) async fn new(gateway: &Gateway, key: &str) -> Self {
        Self {
            stream: TcpStream::connect(gateway.addr()).await.unwrap(),
            key: key.to_owned(),
            system: "rules ".repeat(9_000),
            messages: Vec::new(),
        }
    }

    /// Uses another gateway from now on.
    pub(crate) async fn go_to(&mut self, gateway: &Gateway) {
        self.stream = TcpStream::connect(gateway.addr()).await.unwrap();
    }

    /// One turn; returns the headers and the body of the response.
    pub(crate) async fn turn(&mut self, text: &str) -> (String, Value) {
        self.ask(text).await;
        let answer = String::from_utf8(read_message(&mut self.stream).await.unwrap()).unwrap();
        let reply: Value = serde_json::from_str(body_of(&answer)).unwrap();
        assert_eq!(reply["type"], "message", "{answer}");
        self.messages
            .push(json!({"role": "assistant", "content": reply["content"]}));
        (answer, reply)
    }

    /// Sends a turn without waiting for its response.
    pub(crate) async fn ask(&mut self, text: &str) {
        for message in &mut self.messages {
            if let Some(block) = message["content"]
                .as_array_mut()
                .and_then(|all| all.last_mut())
            {
                block.as_object_mut().unwrap().remove("cache_control");
            }
        }
        let marked = json!({"type": "ephemeral"});
        self.messages.push(json!({"role": "user", "content": [{"type": "text", "text": text, "cache_control": marked}]}));
        let body = json!({
            "model": "claude-opus-4-5", "max_tokens": 200, "messages": self.messages,
            "system": [{"type": "text", "text": self.system, "cache_control": marked}],
        });
        let headers = format!(
            "x-api-key: {}\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n",
            self.key
        );
        self.stream
            .write_all(&post("/v1/messages", &headers, &body.to_string()))
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn x8_a_conversation_with_the_offline_world_is_one_line_with_a_warm_cache() {
    let gateway = gateway().await;
    let mut client = Client::new(&gateway, "k").await;
    let mut lines = std::collections::BTreeSet::new();
    for turn in 0..12 {
        let (answer, reply) = client.turn(&format!("question {turn}")).await;
        lines.insert(header(&answer, "x-longhaul-line").unwrap());
        if turn > 0 {
            assert!(reply["usage"]["cache_read_input_tokens"].as_u64().unwrap() > 1_000);
        }
    }
    assert_eq!(lines.len(), 1);
    let sessions = sessions_when(gateway.addr(), |all| all["sessions"][0]["calls"] == 12).await;
    let session = &sessions["sessions"][0];
    assert_eq!(session["messages"], 23);
    assert_eq!(session["findings"], 0);
    let books = gateway
        .simulated()
        .unwrap()
        .with_world(|world| world.usage_log().total);
    let cost = session["cost_usd"].as_f64().unwrap();
    assert!(
        (cost - books.cost_usd.to_f64()).abs() < 1e-9,
        "{cost} is what the world says: {}",
        books.cost_usd.to_f64()
    );
    gateway.stop().await;
}

#[tokio::test]
async fn d2_a_changed_system_prompt_is_the_same_line_and_is_found() {
    let gateway = gateway().await;
    let mut client = Client::new(&gateway, "k").await;
    let (first, _) = client.turn("one").await;
    client.turn("two").await;
    client.system.push_str("and one more rule");
    let (third, _) = client.turn("three").await;
    assert_eq!(
        header(&third, "x-longhaul-line"),
        header(&first, "x-longhaul-line")
    );
    let sessions = sessions_when(gateway.addr(), |all| all["sessions"][0]["calls"] == 3).await;
    assert_eq!(sessions["sessions"][0]["findings"], 1);
    let id = sessions["sessions"][0]["session"].as_str().unwrap();
    let answer = get(gateway.addr(), &format!("/longhaul/api/sessions/{id}")).await;
    let calls: Value = serde_json::from_str(body_of(&answer)).unwrap();
    let finding = calls["calls"][2]["finding"].as_str().unwrap();
    assert!(
        finding.contains("cache broke") && finding.contains("system"),
        "{finding}"
    );
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x8_many_conversations_at_once_are_each_answered_and_kept_apart() {
    let gateway = gateway().await;
    let gateway = Arc::new(gateway);
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..24 {
        let gateway = Arc::clone(&gateway);
        tasks.spawn(async move {
            let mut client = Client::new(&gateway, &format!("key {}", number % 5)).await;
            let mut line = None;
            for turn in 0..6 {
                let (answer, _) = client.turn(&format!("client {number} turn {turn}")).await;
                let seen = header(&answer, "x-longhaul-line").unwrap();
                assert_eq!(*line.get_or_insert_with(|| seen.clone()), seen);
            }
            line.unwrap()
        });
    }
    let lines: std::collections::BTreeSet<String> = tasks.join_all().await.into_iter().collect();
    assert_eq!(lines.len(), 24);
    let all = sessions_when(gateway.addr(), |all| {
        let sessions = all["sessions"].as_array().unwrap();
        sessions
            .iter()
            .map(|session| session["calls"].as_u64().unwrap())
            .sum::<u64>()
            == 144
    })
    .await;
    assert!(
        all["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .all(|session| session["failed"] == 0)
    );
    assert_eq!(gateway.metrics().under_way(), 0);
}
