//! A gateway that is only for clients with its token.

use std::sync::{Arc, Mutex};

use longhaul_gateway::front::Gateway;
use longhaul_provider::Secret;
use serde_json::{Value, json};

use super::support::{self, REPLY, answering, body_of, exchange, get, options, post};

const TOKEN: &str = "open-sesame-0123456789";

async fn closed() -> (Gateway, Arc<Mutex<Vec<Vec<u8>>>>) {
    let (url, got) = answering(REPLY).await;
    let mut options = options(url);
    options.client_token = Some(Secret::new(TOKEN));
    (Gateway::start(options).await.unwrap(), got)
}

fn body() -> String {
    support::body(&json!([{"role": "user", "content": "hi"}]))
}

#[tokio::test]
async fn x8_without_the_token_nothing_is_passed_on() {
    let (gateway, got) = closed().await;
    let wrong = [
        String::new(),
        "x-longhaul-token: \r\n".to_owned(),
        format!("x-longhaul-token: {TOKEN}x\r\n"),
        format!("x-longhaul-token: {}\r\n", &TOKEN[1..]),
        format!("x-longhaul-token: wrong\r\nx-longhaul-token: {TOKEN}\r\n"),
        format!("authorization: Bearer {TOKEN}\r\n"),
    ];
    for headers in &wrong {
        for path in ["/v1/messages", "/v1/files", "/v1/messages/count_tokens"] {
            let answer = exchange(gateway.addr(), &post(path, headers, &body())).await;
            assert!(answer.starts_with("HTTP/1.1 401"), "{headers}: {answer}");
            let error: Value = serde_json::from_str(body_of(&answer)).unwrap();
            assert_eq!(error["type"], "error");
            assert_eq!(error["error"]["type"], "authentication_error");
            let message = error["error"]["message"].as_str().unwrap();
            assert!(message.contains("x-longhaul-token"), "{message}");
            assert!(!answer.contains(TOKEN));
        }
        let chat = post("/v1/chat/completions", headers, &body());
        let error: Value =
            serde_json::from_str(body_of(&exchange(gateway.addr(), &chat).await)).unwrap();
        assert_eq!(error["error"]["code"], "authentication_error");
    }
    assert!(got.lock().unwrap().is_empty());
    let counted = get(gateway.addr(), "/metrics").await;
    let refused = wrong.len() * 4;
    assert!(
        counted.contains(&format!(
            "longhaul_refused_total{{reason=\"forbidden\"}} {refused}\n"
        )),
        "{counted}"
    );
    gateway.stop().await;
}

#[tokio::test]
async fn x8_with_the_token_requests_pass_and_the_token_stays() {
    let (gateway, got) = closed().await;
    let headers = format!("x-api-key: k\r\nX-Longhaul-Token: {TOKEN}\r\n");
    for path in ["/v1/messages", "/v1/chat/completions", "/v1/files"] {
        let answer = exchange(gateway.addr(), &post(path, &headers, &body())).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(!answer.contains(TOKEN));
    }
    let got = got.lock().unwrap().clone();
    assert_eq!(got.len(), 3);
    for request in got.iter() {
        let request = String::from_utf8_lossy(request).to_lowercase();
        assert!(request.contains("x-api-key: k"));
        assert!(!request.contains("x-longhaul") && !request.contains(TOKEN));
    }
    gateway.stop().await;
}

#[tokio::test]
async fn x8_the_tokens_for_clients_and_for_the_page_are_two() {
    let (url, _) = answering(REPLY).await;
    let mut options = options(url);
    options.client_token = Some(Secret::new(TOKEN));
    options.token = Some(Secret::new("for the page"));
    let gateway = Gateway::start(options).await.unwrap();
    let sessions = |token: &str| {
        format!(
            "GET /longhaul/api/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nauthorization: Bearer {token}\r\nx-longhaul-token: {token}\r\n\r\n"
        )
    };
    let answer = exchange(gateway.addr(), sessions(TOKEN).as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    let answer = exchange(gateway.addr(), sessions("for the page").as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let headers = "x-longhaul-token: for the page\r\n";
    let answer = exchange(gateway.addr(), &post("/v1/messages", headers, &body())).await;
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    // Health checks need neither.
    assert!(
        get(gateway.addr(), "/healthz")
            .await
            .starts_with("HTTP/1.1 200")
    );
    gateway.stop().await;
}
