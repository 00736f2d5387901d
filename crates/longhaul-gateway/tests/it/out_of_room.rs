//! Responses that end because the window is full (O3): an upstream whose replies are as long as a test wants.

use std::sync::Arc;

use longhaul_gateway::branch::Tenants;
use longhaul_gateway::front::{Gateway, GatewayOptions, UpstreamChoice};
use longhaul_gateway::store::InMemoryStore;
use longhaul_sim::model::script::ReplyScript;
use longhaul_sim::model::{SimModel, SimModelOptions as ModelOptions};
use longhaul_sim::server::{SimServer, SimServerOptions as ServerOptions};
use longhaul_sim::world::{self, World};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::endless::small_windows;
use super::managed::{body, talk};
use super::support::{body_of, exchange, header, post};

const HEADERS: &str =
    "x-api-key: k\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n";
const EXCEEDED: &str = "model_context_window_exceeded";

/// A gateway, and an upstream whose first reply is longer than the window has room for.
async fn start() -> (Gateway, SimServer) {
    let mut script = json!({"script": 1, "by": "calls", "helpers": "built-in"}).to_string();
    let long = json!({"text": "word ".repeat(20_000)});
    let short = json!({"text": "In short: yes."});
    // Requests for summaries count as calls, too.
    for turn in std::iter::once(&long).chain([&short; 8]) {
        script = format!("{script}\n{turn}");
    }
    let model = SimModel::new(ModelOptions {
        script: Some(ReplyScript::parse(&script).unwrap()),
        ..ModelOptions::default()
    });
    let sim = World::new(world::WorldOptions {
        models: small_windows(),
        ..world::WorldOptions::new(1, Box::new(model))
    });
    let address = "127.0.0.1:0".parse().unwrap();
    let server = SimServer::start(address, sim, ServerOptions::default())
        .await
        .unwrap();
    let upstream = UpstreamChoice::Url(server.url().parse().unwrap());
    let store = Arc::new(InMemoryStore::new().unwrap());
    let mut options = GatewayOptions::new(upstream, store, Tenants::passing());
    options.models = small_windows();
    (Gateway::start(options).await.unwrap(), server)
}

async fn ask(gateway: &Gateway, body: &Value) -> String {
    let request = post("/v1/messages", HEADERS, &body.to_string());
    exchange(gateway.addr(), &request).await
}

/// The headers of a streamed response, and its joined chunks.
async fn streamed(gateway: &Gateway, body: &Value) -> String {
    let headers = format!("{HEADERS}connection: close\r\n");
    let request = post("/v1/messages", &headers, &body.to_string());
    let mut connection = TcpStream::connect(gateway.addr()).await.unwrap();
    connection.write_all(&request).await.unwrap();
    let mut answer = Vec::new();
    connection.read_to_end(&mut answer).await.unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, mut chunks) = answer.split_once("\r\n\r\n").unwrap();
    let mut all = format!("{head}\r\n\r\n");
    while let Some((length, rest)) = chunks.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        all.push_str(&rest[..length]);
        chunks = rest[length..].trim_start_matches("\r\n");
    }
    all
}

/// A request below the threshold of the window of 40,000 tokens, and too long for a reply of 20,000.
fn asked() -> Value {
    let mut asked = body(&talk(36));
    asked["max_tokens"] = json!(24_000);
    asked
}

fn outcomes(server: &SimServer) -> Vec<String> {
    server.with_world(|world| {
        let calls = world.usage_log().recent.iter();
        calls.map(|call| call.outcome.clone()).collect()
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o3_x8_a_whole_answer_that_ran_out_of_room_is_withheld_and_asked_for_again() {
    let (gateway, server) = start().await;
    let answer = ask(&gateway, &asked()).await;
    let said: Value = serde_json::from_str(body_of(&answer)).unwrap();
    let calls = outcomes(&server);
    assert_eq!(
        calls.first().map(String::as_str),
        Some(EXCEEDED),
        "{calls:?}"
    );
    assert_eq!(said["content"][0]["text"], "In short: yes.", "{calls:?}");
    assert_eq!(
        header(&answer, "x-longhaul-action").as_deref(),
        Some("recovered")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o3_x8_a_streamed_answer_that_ran_out_of_room_stands_and_the_next_request_is_smaller() {
    let (gateway, server) = start().await;
    let mut asked = asked();
    asked["stream"] = json!(true);
    let answer = streamed(&gateway, &asked).await;
    assert!(answer.contains(EXCEEDED), "{:?}", outcomes(&server));
    let said = answer.matches("word ").count();
    let messages = asked["messages"].as_array_mut().unwrap();
    let text = "word ".repeat(said);
    messages.push(json!({"role": "assistant", "content": [{"type": "text", "text": text.trim()}]}));
    messages.push(json!({"role": "user", "content": "In short?"}));
    let answer = streamed(&gateway, &asked).await;
    let calls = outcomes(&server);
    assert!(answer.contains("In short"), "{said} {calls:?} {answer}");
    let action = header(&answer, "x-longhaul-action");
    assert_ne!(action.as_deref(), Some("passed"));
    assert!(!calls[1..].contains(&EXCEEDED.to_owned()), "{calls:?}");
}
