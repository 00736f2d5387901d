//! The owners of conversations, while the upstream is only beginning to report them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use longhaul_gateway::branch::Tenants;
use longhaul_gateway::front::{Gateway, GatewayOptions, UpstreamChoice};
use longhaul_gateway::store::SqliteStore;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use url::Url;

use super::support::{self, Upstream, exchange, header, options, post, read_message};

/// The organization of each key, as the upstream reports it.
type Organizations = Arc<Mutex<HashMap<&'static str, &'static str>>>;

/// An upstream that reports the organization of a key.
async fn organized(known: &[(&'static str, &'static str)]) -> (Url, Organizations) {
    let mut upstream = Upstream::start().await;
    let url = upstream.url();
    let organizations: Organizations = Arc::new(Mutex::new(known.iter().copied().collect()));
    let told = Arc::clone(&organizations);
    tokio::spawn(async move {
        while let Some(mut stream) = upstream.accepted.recv().await {
            let told = Arc::clone(&told);
            tokio::spawn(async move {
                while let Some(request) = read_message(&mut stream).await {
                    let request = String::from_utf8(request).unwrap();
                    let key = header(&request, "x-api-key").unwrap();
                    let organization = told.lock().unwrap()[key.as_str()];
                    let answer = format!(
                        "HTTP/1.1 200 OK\r\nanthropic-organization-id: {organization}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{{}}"
                    );
                    stream.write_all(answer.as_bytes()).await.unwrap();
                }
            });
        }
    });
    (url, organizations)
}

fn turns(about: &str, count: usize) -> Value {
    let turn = |at: usize| match at % 2 {
        0 => json!({"role": "user", "content": format!("{about} {at}")}),
        _ => json!({"role": "assistant", "content": format!("{about} {at}")}),
    };
    (0..count).map(turn).collect()
}

fn request(key: &str, messages: &Value) -> Vec<u8> {
    let headers = format!("x-api-key: {key}\r\n");
    post("/v1/messages", &headers, &support::body(messages))
}

/// Sends a request, and returns the branch and the note of the response.
async fn ask(gateway: &Gateway, key: &str, messages: &Value) -> (String, String) {
    placed(&exchange(gateway.addr(), &request(key, messages)).await)
}

fn placed(answer: &str) -> (String, String) {
    let header = |name| header(answer, name).unwrap();
    (header("x-longhaul-line"), header("x-longhaul-note"))
}

/// A request that arrived before its key's organization was known, and is read after that.
async fn overtaken(gateway: &Gateway, key: &str, messages: &Value) -> (String, String) {
    let whole = request(key, messages);
    let mut client = TcpStream::connect(gateway.addr()).await.unwrap();
    client
        .write_all(b"GET /longhaul/none HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .await
        .unwrap();
    let (first, rest) = whole.split_at(whole.len() - 10);
    client.write_all(first).await.unwrap();
    // The response to the earlier request shows that the headers have been read too, or will be before another request
    // arrives.
    read_message(&mut client).await.unwrap();
    ask(gateway, key, &turns("something else", 1)).await;
    client.write_all(rest).await.unwrap();
    let answer = read_message(&mut client).await.unwrap();
    placed(&String::from_utf8(answer).unwrap())
}

#[tokio::test]
async fn x8_a_conversation_begun_before_its_organization_was_known_goes_on_behind_it() {
    let (url, _) = organized(&[("k", "org"), ("other key", "org"), ("stranger", "theirs")]).await;
    let folder = tempfile::tempdir().unwrap();
    let start = || async {
        let store = Arc::new(SqliteStore::open(&folder.path().join("books.sqlite")).unwrap());
        let tenants = Tenants::of_file(&folder.path().join("secret")).unwrap();
        let upstream = UpstreamChoice::Url(url.clone());
        Gateway::start(GatewayOptions::new(upstream, store, tenants))
            .await
            .unwrap()
    };
    let gateway = start().await;
    let (line, note) = overtaken(&gateway, "k", &turns("ours", 1)).await;
    assert_eq!(note, "a new conversation");
    let (next, note) = ask(&gateway, "k", &turns("ours", 3)).await;
    assert_eq!((&next, note.as_str()), (&line, "2 messages more"));
    gateway.stop().await;
    // The usage log agrees.
    let gateway = start().await;
    let (next, _) = ask(&gateway, "k", &turns("ours", 5)).await;
    assert_eq!(next, line);
    // A stranger sees nothing of it, neither before nor after its organization is known.
    for count in [7, 9] {
        let (other, _) = ask(&gateway, "stranger", &turns("ours", count)).await;
        assert_ne!(other, line);
    }
    let (next, note) = ask(&gateway, "k", &turns("ours", 7)).await;
    assert_eq!((&next, note.as_str()), (&line, "2 messages more"));
    gateway.stop().await;
}

#[tokio::test]
async fn x8_a_key_that_changes_its_organization_takes_nothing_along() {
    let (url, organizations) = organized(&[("k", "first"), ("colleague", "first")]).await;
    let gateway = Gateway::start(options(url)).await.unwrap();
    ask(&gateway, "colleague", &turns("hello", 1)).await;
    let (line, _) = ask(&gateway, "k", &turns("ours", 1)).await;
    assert_eq!(ask(&gateway, "k", &turns("ours", 3)).await.0, line);
    organizations.lock().unwrap().insert("k", "second");
    // The response to this request reports the change.
    ask(&gateway, "k", &turns("else", 1)).await;
    let (moved, note) = ask(&gateway, "k", &turns("ours", 5)).await;
    assert_ne!(moved, line);
    assert_eq!(note, "a new conversation");
    // What it had stays with its former organization.
    let (stays, note) = ask(&gateway, "colleague", &turns("ours", 5)).await;
    assert_eq!((&stays, note.as_str()), (&line, "2 messages more"));
    gateway.stop().await;
}

#[tokio::test]
async fn x8_the_memory_of_beginnings_is_kept_apart_too() {
    let (url, _) = organized(&[("k", "org"), ("stranger", "theirs")]).await;
    let gateway = Gateway::start(options(url)).await.unwrap();
    // Long enough to be recognized by its beginning.
    let long = "many words ".repeat(2_000);
    let (line, _) = overtaken(&gateway, "k", &turns(&long, 3)).await;
    let (stranger, note) = ask(&gateway, "stranger", &turns(&long, 5)).await;
    assert_ne!(stranger, line);
    assert_eq!(note, "a new conversation");
    assert_eq!(ask(&gateway, "k", &turns(&long, 5)).await.0, line);
    gateway.stop().await;
}

#[tokio::test]
async fn x8_costs_by_key_tell_the_keys_of_an_organization_apart() {
    let (url, _) = organized(&[("one", "o"), ("two", "o")]).await;
    let gateway = Gateway::start(options(url)).await.unwrap();
    for (key, about) in [("one", "a"), ("two", "b"), ("two", "c")] {
        ask(&gateway, key, &turns(about, 1)).await;
    }
    support::caught_up(gateway.addr(), 3).await;
    let answer = support::get(gateway.addr(), "/longhaul/api/savings?by=key").await;
    let answer: Value = serde_json::from_str(support::body_of(&answer)).unwrap();
    let rows = answer["rows"].as_array().unwrap();
    let mut calls: Vec<u64> = rows
        .iter()
        .map(|row| row["calls"].as_u64().unwrap())
        .collect();
    calls.sort_unstable();
    assert_eq!(calls, [1, 2]);
    gateway.stop().await;
}

#[tokio::test]
async fn x8_calls_of_no_conversation_are_listed_with_their_errors() {
    let refused = concat!(
        "HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\ncontent-length: 87\r\n\r\n",
        r#"{"type":"error","error":{"type":"not_found_error","message":"model: there-is-not-one"}}"#
    );
    let (url, _) = support::answering(refused).await;
    let gateway = Gateway::start(options(url)).await.unwrap();
    let body = support::body(&turns("a", 1));
    exchange(gateway.addr(), &post("/v1/messages", "", &body)).await;
    let listed = |all: &Value| {
        all["unplaced"]
            .as_array()
            .is_some_and(|all| !all.is_empty())
    };
    let all = support::sessions_when(gateway.addr(), listed).await;
    let call = &all["unplaced"][0];
    assert_eq!(
        (&call["status"], &call["line"]),
        (&json!(404), &Value::Null)
    );
    assert!(
        call["error"]
            .as_str()
            .unwrap()
            .starts_with("not_found_error")
    );
    assert!(all["sessions"].as_array().unwrap().is_empty());
    let none = support::get(gateway.addr(), "/longhaul/api/sessions?limit=0").await;
    assert!(none.starts_with("HTTP/1.1 400"), "{none}");
    gateway.stop().await;
}

/// Sends a request of a session that the client names; returns the session of the response.
async fn ask_in_session(gateway: &Gateway, key: &str, messages: &Value) -> String {
    let headers = format!("x-api-key: {key}\r\nx-claude-code-session-id: client-session\r\n");
    let whole = post("/v1/messages", &headers, &support::body(messages));
    let answer = exchange(gateway.addr(), &whole).await;
    header(&answer, "x-longhaul-session").unwrap()
}

#[tokio::test]
async fn x8_the_first_session_of_a_key_stays_one_when_its_organization_becomes_known() {
    let (url, _) = organized(&[("k", "org"), ("other key", "org"), ("stranger", "theirs")]).await;
    let gateway = Gateway::start(options(url)).await.unwrap();
    let first = ask_in_session(&gateway, "k", &turns("ours", 1)).await;
    // A helper's conversation, and a sub-agent's.
    for about in ["a title", "a search"] {
        let session = ask_in_session(&gateway, "k", &turns(about, 1)).await;
        assert_eq!(session, first, "{about}");
    }
    let on = ask_in_session(&gateway, "k", &turns("ours", 3)).await;
    assert_eq!(on, first);
    // The same name in another organization is another session.
    let other = ask_in_session(&gateway, "stranger", &turns("ours", 1)).await;
    assert_ne!(other, first);
    gateway.stop().await;
}

#[tokio::test]
async fn x8_a_session_stays_one_if_another_request_reports_the_organization_first() {
    let (url, slow) = slow_for_long_bodies().await;
    let gateway = Gateway::start(options(url)).await.unwrap();
    let long = turns(&"a long question ".repeat(500), 1);
    let addr = gateway.addr();
    let waiting = {
        let headers = "x-api-key: k\r\nx-claude-code-session-id: client-session\r\n";
        let whole = post("/v1/messages", headers, &support::body(&long));
        tokio::spawn(async move { exchange(addr, &whole).await })
    };
    slow.arrived.notified().await;
    // These answers come first: they report the organization while the first request is still waiting.
    let helper = ask_in_session(&gateway, "k", &turns("a title", 1)).await;
    let second = ask_in_session(&gateway, "k", &turns("a search", 1)).await;
    assert_eq!(second, helper);
    slow.go_on.notify_one();
    waiting.await.unwrap();
    support::caught_up(addr, 3).await;
    let all = support::sessions_when(addr, |_| true).await;
    let third = ask_in_session(&gateway, "k", &turns("one more", 1)).await;
    assert_eq!(third, helper);
    let sessions = all["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 1, "{all}");
    gateway.stop().await;
}

/// Holds an answer until the test lets it go.
#[derive(Default)]
struct SlowAnswer {
    arrived: tokio::sync::Notify,
    go_on: tokio::sync::Notify,
}

/// An upstream that reports an organization and holds the answers to long bodies.
async fn slow_for_long_bodies() -> (Url, Arc<SlowAnswer>) {
    let mut upstream = Upstream::start().await;
    let (url, slow) = (upstream.url(), Arc::new(SlowAnswer::default()));
    let held = Arc::clone(&slow);
    tokio::spawn(async move {
        while let Some(mut stream) = upstream.accepted.recv().await {
            let held = Arc::clone(&held);
            tokio::spawn(async move {
                while let Some(request) = read_message(&mut stream).await {
                    if request.len() > 4_000 {
                        held.arrived.notify_one();
                        held.go_on.notified().await;
                    }
                    let answer = "HTTP/1.1 200 OK\r\nanthropic-organization-id: org\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
                    stream.write_all(answer.as_bytes()).await.unwrap();
                }
            });
        }
    });
    (url, slow)
}
