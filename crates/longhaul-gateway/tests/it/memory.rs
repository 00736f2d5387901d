//! How much a client can make the gateway hold: a limit on each thing, and one on all of them.

use longhaul_gateway::front::Gateway;
use longhaul_gateway::memory::{Evictable, MemoryBudget};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::support::{
    self, REPLY, answering, body_of, exchange, get, header, options, post, sessions_when,
};

const UNAUTHORIZED: &str = "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\ncontent-length: 80\r\n\r\n{\"type\":\"error\",\"error\":{\"type\":\"authentication_error\",\"message\":\"invalid key\"}}";

fn error_of(answer: &str) -> Value {
    serde_json::from_str(body_of(answer)).unwrap()
}

fn conversation(said: &str) -> Vec<u8> {
    let messages = json!([{"role": "user", "content": said}]);
    post("/v1/messages", "", &support::body(&messages))
}

/// This many messages; only the first has content.
fn many(first: &str, count: usize) -> String {
    let rest = ",{\"role\":\"user\",\"content\":\"\"}".repeat(count - 1);
    format!(
        "{{\"model\":\"claude-opus-5-5\",\"messages\":[{{\"role\":\"user\",\"content\":\"{first}\"}}{rest}]}}"
    )
}

#[tokio::test]
async fn a_request_with_too_many_messages_is_refused_with_the_limit() {
    let (url, got) = answering(REPLY).await;
    let gateway = Gateway::start(options(url)).await.unwrap();
    for (path, kind) in [
        ("/v1/messages", "/error/type"),
        ("/v1/chat/completions", "/error/code"),
    ] {
        let answer = exchange(gateway.addr(), &post(path, "", &many("a", 100_001))).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
        let error = error_of(&answer);
        assert_eq!(error.pointer(kind).unwrap(), "invalid_request_error");
        assert!(error.to_string().contains("100,000"), "{error}");
    }
    assert!(got.lock().unwrap().is_empty());
    let answer = exchange(
        gateway.addr(),
        &post("/v1/messages", "", &many("a", 100_000)),
    )
    .await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    gateway.stop().await;
}

#[tokio::test]
async fn a_model_name_that_is_too_long_is_refused_and_kept_nowhere() {
    let (url, got) = answering(REPLY).await;
    let gateway = Gateway::start(options(url)).await.unwrap();
    let named = |length: usize| {
        let name = "m".repeat(length);
        format!("{{\"model\":\"{name}\",\"messages\":[{{\"role\":\"user\",\"content\":\"hi\"}}]}}")
    };
    for path in ["/v1/messages", "/v1/chat/completions"] {
        let answer = exchange(gateway.addr(), &post(path, "", &named(257))).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
        assert!(body_of(&answer).contains("256 bytes"), "{answer}");
    }
    assert!(got.lock().unwrap().is_empty());
    let answer = exchange(gateway.addr(), &post("/v1/messages", "", &named(256))).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let all = sessions_when(gateway.addr(), |all| all["sessions"][0]["calls"] == 1).await;
    assert_eq!(all["sessions"].as_array().unwrap().len(), 1);
    gateway.stop().await;
}

#[tokio::test]
async fn nothing_of_a_request_that_the_upstream_refused_is_remembered() {
    let (url, _) = answering(UNAUTHORIZED).await;
    let gateway = Gateway::start(options(url)).await.unwrap();
    for _ in 0..3 {
        let answer = exchange(gateway.addr(), &conversation("hi")).await;
        assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
        assert_eq!(header(&answer, "x-longhaul-line"), None);
        assert_eq!(
            header(&answer, "x-longhaul-note").as_deref(),
            Some("a new conversation")
        );
    }
    let metrics = get(gateway.addr(), "/metrics").await;
    assert!(
        metrics.contains("longhaul_lines_begun_total 0"),
        "{metrics}"
    );
    let sessions = get(gateway.addr(), "/longhaul/api/sessions").await;
    assert!(body_of(&sessions).contains("\"sessions\":[]"), "{sessions}");
    gateway.stop().await;
}

/// The response to a request that may not be read to its end. Empty if the connection broke before the response was
/// read.
async fn answer_to(gateway: &Gateway, request: &[u8]) -> String {
    let client = TcpStream::connect(gateway.addr()).await.unwrap();
    let (reading, mut writing) = client.into_split();
    let mut answer = Vec::new();
    let mut reading = reading.take(4_096);
    let sent = async {
        // The gateway may close the connection before everything is written.
        let _ = writing.write_all(request).await;
        std::future::pending::<()>().await
    };
    let answered = async {
        while !answer.windows(4).any(|end| end == b"\r\n\r\n") {
            match reading.read_buf(&mut answer).await {
                Ok(1..) => {}
                _ => break,
            }
        }
        let head = String::from_utf8_lossy(&answer).to_lowercase();
        let length = head.split("content-length: ").nth(1);
        let length = length.and_then(|rest| rest.split("\r\n").next()?.parse::<usize>().ok());
        let whole = head.find("\r\n\r\n").unwrap_or(0) + 4 + length.unwrap_or(0);
        while answer.len() < whole {
            match reading.read_buf(&mut answer).await {
                Ok(1..) => {}
                _ => break,
            }
        }
    };
    tokio::select! {
        () = sent => {}
        () = answered => {}
    }
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn bodies_beyond_the_memory_are_told_to_come_again() {
    let (url, _) = answering(REPLY).await;
    let mut options = options(url);
    options.limits.memory = 16 << 20;
    let gateway = Gateway::start(options).await.unwrap();
    // One body that begins and does not end.
    let mut first = TcpStream::connect(gateway.addr()).await.unwrap();
    let head = "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 12000000\r\n\r\n";
    first.write_all(head.as_bytes()).await.unwrap();
    first.write_all(&vec![b' '; 11_000_000]).await.unwrap();
    let large = conversation(&"many words ".repeat(700_000));
    // As soon as enough of the first has arrived, there is no room for another.
    let refused = loop {
        let answer = answer_to(&gateway, &large).await;
        if answer.starts_with("HTTP/1.1 503") {
            break answer;
        }
    };
    assert_eq!(header(&refused, "retry-after").as_deref(), Some("1"));
    assert_eq!(error_of(&refused)["error"]["type"], "overloaded_error");
    assert!(refused.contains("--max-memory"), "{refused}");
    // Small ones still pass, and large ones do once the first is gone.
    let small = exchange(gateway.addr(), &conversation("hi")).await;
    assert!(small.starts_with("HTTP/1.1 200"), "{small}");
    drop(first);
    while !answer_to(&gateway, &large)
        .await
        .starts_with("HTTP/1.1 200")
    {}
    gateway.stop().await;
}

#[tokio::test]
async fn what_is_kept_makes_room_for_what_comes() {
    let (url, _) = answering(REPLY).await;
    let mut options = options(url);
    options.limits.memory = 48 << 20;
    let gateway = Gateway::start(options).await.unwrap();
    for number in 0..12 {
        let body = many(&format!("conversation {number}"), 30_000);
        let answer = exchange(gateway.addr(), &post("/v1/messages", "", &body)).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{number}: {answer}");
    }
    // Nearly all of the memory: what is remembered of the others must be evicted.
    let large = conversation(&"words ".repeat(4_200_000));
    let answer = exchange(gateway.addr(), &large).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    gateway.stop().await;
}

struct Keeps(longhaul_gateway::memory::MemoryShare);

impl Evictable for Keeps {
    fn evict(&self, bytes: usize) {
        self.0.set(self.0.bytes().saturating_sub(bytes));
    }
}

#[test]
fn a_charge_is_given_back_with_the_last_slice_of_what_it_is_for() {
    let budget = MemoryBudget::new(100);
    let bytes = budget.hold(vec![0; 60].into()).unwrap();
    let slice = bytes.slice(10..20);
    drop(bytes);
    assert_eq!(budget.used(), 60);
    assert!(budget.take(41).is_err());
    drop(slice);
    assert_eq!(budget.used(), 0);
    let mut charge = budget.take(90).unwrap();
    assert!(charge.grow(11).is_err());
    charge.shrink_to(40);
    assert_eq!(budget.used(), 40);
}

#[test]
fn what_is_kept_goes_before_a_request_is_refused() {
    let budget = MemoryBudget::new(100);
    let keeps = std::sync::Arc::new(Keeps(budget.new_share()));
    keeps.0.set(80);
    let asked: std::sync::Arc<dyn Evictable> = keeps.clone();
    budget.join(std::sync::Arc::downgrade(&asked));
    let charge = budget.take(70).unwrap();
    assert_eq!((keeps.0.bytes(), budget.used()), (30, 100));
    assert!(budget.take(31).is_err());
    drop(charge);
    assert_eq!(budget.used(), 0);
}
