//! What managing does in each case, with the simulator as the upstream.

use std::sync::Arc;

use longhaul_gateway::branch::Tenants;
use longhaul_gateway::front::{Gateway, GatewayOptions, UpstreamChoice};
use longhaul_gateway::store::{GatewayStorage, InMemoryStore, SqliteStore};
use serde_json::{Value, json};

use super::endless::{Endless, refused, small_windows, world};
use super::support::{body_of, exchange, get, header, post, sessions_when};

const HEADERS: &str =
    "x-api-key: k\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n";

async fn ask(gateway: &Gateway, path: &str, body: &Value) -> (String, Value) {
    let answer = exchange(gateway.addr(), &post(path, HEADERS, &body.to_string())).await;
    let said = serde_json::from_str(body_of(&answer)).unwrap();
    (answer, said)
}

fn text(role: &str, text: String) -> Value {
    json!({"role": role, "content": [{"type": "text", "text": text}]})
}

/// A conversation of this many exchanges, about 600 tokens each.
pub(crate) fn talk(exchanges: usize) -> Vec<Value> {
    let one = |at| {
        let said = text("user", format!("Question {at}: always keep rule {at}."));
        [
            said,
            text("assistant", format!("Answer {at}. ").repeat(140)),
        ]
    };
    let mut messages: Vec<Value> = (0..exchanges).flat_map(one).collect();
    messages.push(text("user", "And now?".to_owned()));
    messages
}

pub(crate) fn body(messages: &[Value]) -> Value {
    json!({"model": "claude-sonnet-4-6", "max_tokens": 8_000, "messages": messages})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h1_x8_a_history_that_is_too_long_from_the_first_is_made_to_fit_before_it_is_sent() {
    let gateway = world(|_| {}).await;
    let (answer, said) = ask(&gateway, "/v1/messages", &body(&talk(120))).await;
    assert_eq!(said["type"], "message", "{answer}");
    let action = header(&answer, "x-longhaul-action").unwrap();
    assert!(["summarised", "extracted"].contains(&&*action), "{action}");
    let before = refused(&gateway);
    assert_eq!(before, 0, "the upstream refused nothing");
    // The next request has the same beginning.
    let mut more = talk(120);
    more.extend([
        json!({"role": "assistant", "content": said["content"]}),
        text("user", "Go on.".into()),
    ]);
    let (answer, _) = ask(&gateway, "/v1/messages", &body(&more)).await;
    assert_eq!(refused(&gateway), before);
    assert!(
        header(&answer, "x-longhaul-replaced-messages").is_some(),
        "{answer}"
    );
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x8_what_is_asked_first_is_never_replaced() {
    let gateway = world(|_| {}).await;
    let first = [text(
        "user",
        "Explain every one of these words. ".repeat(20_000),
    )];
    let (answer, said) = ask(&gateway, "/v1/messages", &body(&first)).await;
    assert_eq!(said["error"]["type"], "invalid_request_error", "{answer}");
    assert_eq!(header(&answer, "x-longhaul-replaced-messages"), None);
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x8_count_tokens_counts_what_would_be_sent() {
    let gateway = world(|_| {}).await;
    ask(&gateway, "/v1/messages", &body(&talk(120))).await;
    let mut counted = body(&talk(120));
    counted.as_object_mut().unwrap().remove("max_tokens");
    let (_, count) = ask(&gateway, "/v1/messages/count_tokens", &counted).await;
    assert!(count["input_tokens"].as_u64().unwrap() < 30_000, "{count}");
    let observe = format!("{HEADERS}x-longhaul-policy: observe\r\n");
    let raw = post("/v1/messages/count_tokens", &observe, &counted.to_string());
    let answer = exchange(gateway.addr(), &raw).await;
    let count: Value = serde_json::from_str(body_of(&answer)).unwrap();
    assert!(count["input_tokens"].as_u64().unwrap() > 40_000, "{count}");
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x8_branches_share_a_summary_and_an_edit_before_it_loses_it() {
    let gateway = world(|_| {}).await;
    let (_, said) = ask(&gateway, "/v1/messages", &body(&talk(120))).await;
    let reply = json!({"role": "assistant", "content": said["content"]});
    let before = refused(&gateway);
    for branch in ["left", "right"] {
        let mut messages = talk(120);
        messages.extend([reply.clone(), text("user", format!("Go {branch}."))]);
        let (answer, _) = ask(&gateway, "/v1/messages", &body(&messages)).await;
        assert!(
            header(&answer, "x-longhaul-replaced-messages").is_some(),
            "{answer}"
        );
        assert_ne!(
            header(&answer, "x-longhaul-action").as_deref(),
            Some("recovered")
        );
    }
    assert_eq!(refused(&gateway), before);
    let mut edited = talk(120);
    edited[0] = text("user", "Something else was asked first.".to_owned());
    let (answer, said) = ask(&gateway, "/v1/messages", &body(&edited)).await;
    assert_eq!(said["type"], "message");
    assert_eq!(
        header(&answer, "x-longhaul-note").as_deref(),
        Some("a new conversation")
    );
    let action = header(&answer, "x-longhaul-action").unwrap();
    assert_ne!(action, "passed", "it has a summary of its own");
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x8_observe_passes_the_upstreams_error_on() {
    let gateway = world(|options| options.policies.rules = vec!["observe".parse().unwrap()]).await;
    let (answer, said) = ask(&gateway, "/v1/messages", &body(&talk(120))).await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(
        said["error"]["message"]
            .as_str()
            .unwrap()
            .starts_with("prompt is too long")
    );
    assert_eq!(header(&answer, "x-longhaul-action"), None);
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o3_x8_an_error_that_has_nothing_to_do_with_length_reaches_the_client_as_it_came() {
    let gateway = world(|_| {}).await;
    let (answer, said) = ask(
        &gateway,
        "/v1/messages",
        &json!({"model": "claude-sonnet-4-6", "max_tokens": 9, "colour": 1,
        "messages": [{"role": "user", "content": "hi"}]}),
    )
    .await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(
        said["error"]["message"]
            .as_str()
            .unwrap()
            .contains("colour"),
        "{said}"
    );
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x1_y3_what_the_user_said_is_in_every_summary_and_the_report_says_so() {
    let store = Arc::new(InMemoryStore::new().unwrap());
    let mut options = GatewayOptions::new(UpstreamChoice::Simulated, store, Tenants::passing());
    options.models = small_windows();
    let gateway = Gateway::start(options).await.unwrap();
    let mut client = Endless::new(&gateway, "claude-sonnet-4-6").await;
    client.go_on(&json!({"content": []}));
    for _ in 0..120 {
        let reply = client.turn().await;
        client.go_on(&reply);
    }
    let sessions = sessions_when(gateway.addr(), |all| all["sessions"][0]["calls"] == 120).await;
    let session = &sessions["sessions"][0];
    assert!(session["compactions"].as_u64().unwrap() >= 2, "{session}");
    assert!(
        session["saved_tokens"].as_u64().unwrap() > 100_000,
        "{session}"
    );
    let id = session["session"].as_str().unwrap();
    let answer = get(gateway.addr(), &format!("/longhaul/api/sessions/{id}")).await;
    let session: Value = serde_json::from_str(body_of(&answer)).unwrap();
    for made in session["compactions"].as_array().unwrap() {
        let report = &made["report"];
        if made["kind"] == "summarised" {
            assert_eq!(report["user_messages"]["omitted"], 0, "{report}");
            assert_eq!(
                report["rules"]["total"], report["rules"]["verbatim"],
                "{report}"
            );
        }
        assert!(!report.to_string().contains("transcript"), "{report}");
    }
    gateway.stop().await;
}

/// A gateway with a store file, in front of its own upstream.
async fn on_file(path: &std::path::Path, upstream: &str) -> Gateway {
    let store: Arc<dyn GatewayStorage> = Arc::new(SqliteStore::open(path).unwrap());
    let upstream = UpstreamChoice::Url(upstream.parse().unwrap());
    let tenants = Tenants::of_file(&path.with_extension("secret")).unwrap();
    let mut options = GatewayOptions::new(upstream, store, tenants);
    options.models = small_windows();
    Gateway::start(options).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn y2_x8_a_gateway_that_starts_again_sends_the_same_beginning() {
    let behind = world(|options| options.policies.rules = vec!["off".parse().unwrap()]).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("books.sqlite");
    let gateway = on_file(&path, &behind.url()).await;
    let mut client = Endless::new(&gateway, "claude-opus-5-5").await;
    client.go_on(&json!({"content": []}));
    // Until a summary is in use, and the next one is far off.
    loop {
        let reply = client.turn().await;
        client.go_on(&reply);
        let usage = &reply["usage"];
        let count = |name: &str| usage[name].as_u64().unwrap();
        let read = count("cache_read_input_tokens");
        let prompt = read + count("cache_creation_input_tokens") + count("input_tokens");
        let summed_up = client
            .actions
            .last()
            .is_some_and(|action| action != "passed");
        if summed_up && read > 4_000 && prompt < 16_000 {
            break;
        }
    }
    gateway.stop().await;
    let gateway = on_file(&path, &behind.url()).await;
    client.reconnect(&gateway).await;
    let reply = client.turn().await;
    assert!(
        reply["usage"]["cache_read_input_tokens"].as_u64().unwrap() > 2_000,
        "the provider's cache still knows what is sent: {}",
        reply["usage"]
    );
    assert_eq!(
        refused(&behind),
        0,
        "thinking that is bound to it is still valid"
    );
    gateway.stop().await;
    behind.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn y1_x8_whatever_the_model_does_wrong_there_is_a_summary() {
    let gateway = world(|_| {}).await;
    let sim = gateway.simulated().unwrap();
    let raw = json!({"misbehave": "summary:empty*40"}).to_string();
    let url = sim.url();
    let addr = url.trim_start_matches("http://").parse().unwrap();
    exchange(
        addr,
        &post("/sim/faults", "content-type: application/json\r\n", &raw),
    )
    .await;
    let mut client = Endless::new(&gateway, "claude-sonnet-4-6").await;
    client.go_on(&json!({"content": []}));
    for _ in 0..80 {
        let reply = client.turn().await;
        client.go_on(&reply);
    }
    assert!(
        client.actions.iter().any(|action| action == "extracted"),
        "{:?}",
        client.actions
    );
    assert_eq!(refused(&gateway), 0);
    let metrics = get(gateway.addr(), "/metrics").await;
    assert!(
        metrics.contains("longhaul_compactions_total{kind=\"extracted\"}"),
        "{metrics}"
    );
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn n2_x8_thinking_whose_beginning_was_lost_is_left_out_and_the_conversation_goes_on() {
    let behind = world(|options| options.policies.rules = vec!["off".parse().unwrap()]).await;
    let folder = tempfile::tempdir().unwrap();
    let gateway = on_file(&folder.path().join("one.sqlite"), &behind.url()).await;
    let mut client = Endless::new(&gateway, "claude-opus-5-5").await;
    client.go_on(&json!({"content": []}));
    for _ in 0..60 {
        let reply = client.turn().await;
        client.go_on(&reply);
    }
    assert!(client.actions.iter().any(|action| action == "summarised"));
    gateway.stop().await;
    // Another gateway, which does not know it.
    let gateway = on_file(&folder.path().join("two.sqlite"), &behind.url()).await;
    client.reconnect(&gateway).await;
    for _ in 0..10 {
        let reply = client.turn().await;
        client.go_on(&reply);
    }
    assert_ne!(client.actions[60], "passed");
    gateway.stop().await;
    behind.stop().await;
}
