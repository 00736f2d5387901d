//! A server for a test, with a model that is easy to predict, and a plain HTTP client.

use std::time::Duration;

use longhaul_sim::faults::FaultPlan;
use longhaul_sim::faults::wire::EventPace;
use longhaul_sim::model::{DraftBlock, DraftStop, ModelTurn, ReplyDraft, ReplyModel};
use longhaul_sim::server::{SimServer, SimServerOptions, TimeSource};
use longhaul_sim::world::{self, World};
use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Value, json};

/// The model's text when it does not call a tool.
pub(crate) const SAID: &str = "The parser reads one line at a time, keeps what it cannot understand as it stands, and \
                               reports it with its number. Nothing is lost, and nothing is made up.";

/// A model that calls the first tool once, then answers in text.
struct Plain;

impl ReplyModel for Plain {
    fn reply(&mut self, turn: &ModelTurn<'_>) -> ReplyDraft {
        let answered = turn.request.messages.last().is_some_and(|message| {
            message
                .content
                .iter()
                .any(|block| block.kind == "tool_result")
        });
        let content = match turn.request.tools.first() {
            Some(tool) if !answered => vec![
                DraftBlock::Text("Let me look.".to_owned()),
                DraftBlock::ToolUse {
                    name: tool.name.clone(),
                    input: json!({ "path": "src/parser.rs" }),
                },
            ],
            _ => vec![DraftBlock::Text(SAID.to_owned())],
        };
        ReplyDraft {
            content,
            stop: DraftStop::Natural,
        }
    }
}

/// A world with that model.
pub(crate) fn world() -> World {
    World::new(world::WorldOptions {
        pace: SimServerOptions::world_pace(EventPace::FAST),
        ..world::WorldOptions::new(1, Box::new(Plain))
    })
}

/// A plain HTTP client. It never uses TLS, but needs a TLS provider.
pub(crate) fn http_client() -> Client {
    // Another test may have set it already, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().timeout(Duration::from_secs(20));
    client.no_proxy().build().unwrap()
}

/// A running server and a client for it.
pub(crate) struct House {
    pub(crate) server: SimServer,
    pub(crate) client: Client,
}

impl House {
    pub(crate) async fn new() -> Self {
        Self::with(SimServerOptions::default()).await
    }

    /// A server in virtual time, with these faults.
    pub(crate) async fn faulty(spec: &str) -> Self {
        let options = SimServerOptions {
            faults: FaultPlan::parse(spec, 1).unwrap(),
            ..SimServerOptions::default()
        };
        Self::with(options).await
    }

    pub(crate) async fn still() -> Self {
        let options = SimServerOptions {
            time: TimeSource::Virtual,
            ..SimServerOptions::default()
        };
        Self::with(options).await
    }

    pub(crate) async fn with(options: SimServerOptions) -> Self {
        let listen = "127.0.0.1:0".parse().unwrap();
        let server = SimServer::start(listen, world(), options).await.unwrap();
        Self {
            server,
            client: http_client(),
        }
    }

    /// A POST request of a Messages API client, without a body.
    pub(crate) fn post(&self, path: &str) -> RequestBuilder {
        self.client
            .post(format!("{}{path}", self.server.url()))
            .header("x-api-key", "test-key")
            .header("anthropic-version", "2023-06-01")
    }

    pub(crate) async fn messages(&self, body: &Value) -> Response {
        let request = self.post("/v1/messages?beta=true").json(body);
        request.send().await.unwrap()
    }

    pub(crate) async fn chat(&self, body: &Value) -> Response {
        let request = self
            .client
            .post(format!("{}/v1/chat/completions", self.server.url()))
            .bearer_auth("test-key")
            .json(body);
        request.send().await.unwrap()
    }

    pub(crate) async fn control(&self, path: &str, body: &str) -> (u16, Value) {
        let url = format!("{}{path}", self.server.url());
        let response = self.client.post(url).body(body.to_owned()).send().await;
        let response = response.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let url = format!("{}{path}", self.server.url());
        self.client
            .get(url)
            .send()
            .await
            .unwrap()
            .json()
            .await
            .unwrap()
    }

    /// Waits until no connection and no reply is left.
    pub(crate) async fn is_empty(&self) -> bool {
        for _ in 0..200 {
            if self.server.connections() == 0 && self.server.replies() == 0 {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        false
    }
}

/// The smallest request.
pub(crate) fn hello() -> Value {
    json!({
        "model": "claude-opus-5-5",
        "max_tokens": 1024,
        "messages": [{ "role": "user", "content": "How does the parser work?" }],
    })
}

/// The smallest request, streamed.
pub(crate) fn hello_streamed() -> Value {
    let mut hello = hello();
    hello["stream"] = json!(true);
    hello
}

/// A text that is long enough to be cached.
pub(crate) fn long_text() -> String {
    "The parser reads one line at a time and keeps what it cannot read. ".repeat(400)
}

/// The data of each event, without `[DONE]`.
pub(crate) fn data(stream: &str) -> Vec<Value> {
    stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .filter(|data| *data != "[DONE]")
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}
