//! Clients that connect and stay silent, the names by which they connect, and clients that leave in the middle.

use std::time::Duration;

use longhaul_gateway::front::Gateway;
use longhaul_provider::Secret;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::endless::small_windows;
use super::managed::{body, talk};
use super::support::{
    self, REPLY, Upstream, answering, body_of, exchange, get, header, options, post, read_head,
    read_message, sessions_when,
};

fn conversation() -> Vec<u8> {
    let messages = json!([{"role": "user", "content": "hi"}]);
    post("/v1/messages", "", &support::body(&messages))
}

#[tokio::test]
async fn a_connection_that_says_nothing_is_closed_and_one_that_was_used_is_not() {
    let (url, _) = answering(REPLY).await;
    let mut options = options(url);
    options.timeouts.client_first = Duration::from_millis(100);
    let gateway = Gateway::start(options).await.unwrap();
    let mut used = TcpStream::connect(gateway.addr()).await.unwrap();
    used.write_all(&conversation()).await.unwrap();
    read_message(&mut used).await.unwrap();
    for begun in [&b""[..], b"P", b"POST /v1/messages HTTP/1.1\r\nhost: loc"] {
        let mut silent = TcpStream::connect(gateway.addr()).await.unwrap();
        silent.write_all(begun).await.unwrap();
        let mut rest = Vec::new();
        // It ends because the gateway closes it.
        let _ = silent.read_to_end(&mut rest).await;
    }
    // It has waited for longer than those.
    used.write_all(&conversation()).await.unwrap();
    let answer = read_message(&mut used).await.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200"));
    // Request headers that have begun on it must be finished, too.
    used.write_all(b"POST /v1/mess").await.unwrap();
    let mut rest = Vec::new();
    let _ = used.read_to_end(&mut rest).await;
    gateway.stop().await;
}

#[tokio::test]
async fn silent_connections_make_room_for_those_who_speak() {
    let (url, _) = answering(REPLY).await;
    let mut options = options(url);
    options.limits.connections = 8;
    options.timeouts.client_first = Duration::from_secs(3_600);
    options.timeouts.client_head = Duration::from_secs(3_600);
    let gateway = Gateway::start(options).await.unwrap();
    let mut silent = Vec::new();
    for _ in 0..40 {
        silent.push(TcpStream::connect(gateway.addr()).await.unwrap());
    }
    let answer = exchange(gateway.addr(), &conversation()).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    drop(silent);
    gateway.stop().await;
}

#[tokio::test]
async fn requests_by_a_strangers_name_or_from_a_strangers_page_are_refused() {
    let (url, got) = answering(REPLY).await;
    let mut options = options(url.clone());
    options.allowed_hosts = vec!["llm.internal".to_owned()];
    let gateway = Gateway::start(options).await.unwrap();
    let text = support::body(&json!([{"role": "user", "content": "hi"}]));
    let ask = async |gateway: &Gateway, path: &str, headers: &str| {
        let length = text.len();
        let request =
            format!("POST {path} HTTP/1.1\r\n{headers}Content-Length: {length}\r\n\r\n{text}");
        exchange(gateway.addr(), request.as_bytes()).await
    };
    for headers in [
        "Host: evil.example\r\n",
        "Host: evil.example:8787\r\n",
        "Host: localhost.evil.example\r\n",
        "Host: 10.0.0.1\r\n",
        "Host: localhost\r\nHost: evil.example\r\n",
        "Host: localhost\r\nOrigin: https://evil.example\r\n",
        "Host: localhost\r\nOrigin: null\r\n",
    ] {
        for path in ["/v1/messages", "/v1/chat/completions", "/v1/files"] {
            let answer = ask(&gateway, path, headers).await;
            let refused = answer.starts_with("HTTP/1.1 403") || answer.starts_with("HTTP/1.1 400");
            assert!(refused, "{headers}: {answer}");
            assert!(
                !answer.starts_with("HTTP/1.1 403") || answer.contains("--allow-host"),
                "{answer}"
            );
        }
    }
    assert!(got.lock().unwrap().is_empty());
    for headers in [
        "Host: localhost\r\n",
        "Host: 127.0.0.1:8787\r\n",
        "Host: [::1]:8787\r\n",
        "Host: agent.localhost\r\nOrigin: http://localhost:3000\r\n",
        "Host: LLM.internal\r\nOrigin: https://llm.internal\r\n",
    ] {
        let answer = ask(&gateway, "/v1/messages", headers).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{headers}: {answer}");
    }
    gateway.stop().await;
    // A client with the token does not need an allowed name.
    let mut options = support::options(url);
    options.client_token = Some(Secret::new("t"));
    let gateway = Gateway::start(options).await.unwrap();
    let shown = "Host: evil.example\r\nx-longhaul-token: t\r\n";
    let answer = ask(&gateway, "/v1/messages", shown).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_of_the_gateway_itself_bear_no_idempotency_key() {
    let error = json!({"type": "error", "error": {
        "type": "invalid_request_error", "message": "prompt is too long: 90000 tokens > 40000 maximum",
    }})
    .to_string();
    let length = error.len();
    let too_long = format!(
        "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{error}"
    );
    let (url, got) = answering(too_long.leak()).await;
    let mut options = options(url);
    options.models = small_windows();
    let gateway = Gateway::start(options).await.unwrap();
    let headers = "x-api-key: k\r\nidempotency-key: once\r\n";
    let request = post("/v1/messages", headers, &body(&talk(120)).to_string());
    exchange(gateway.addr(), &request).await;
    let got = got.lock().unwrap().clone();
    let keyed = |request: &Vec<u8>| header(&String::from_utf8_lossy(request), "idempotency-key");
    assert_eq!(keyed(&got[0]).as_deref(), Some("once"));
    assert!(got.len() >= 2, "it was made smaller and sent again");
    for own in &got[1..] {
        assert_eq!(keyed(own), None);
    }
    gateway.stop().await;
}

#[tokio::test]
async fn a_client_that_leaves_in_the_middle_is_booked_with_what_was_billed_so_far() {
    let start = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{\"input_tokens\":100,\"cache_read_input_tokens\":50,\"output_tokens\":1}}}\n\n";
    let text = "many words ".repeat(40);
    let delta = format!(
        "event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{text}\"}}}}\n\n"
    );
    let mut upstream = Upstream::start().await;
    let gateway = Gateway::start(options(upstream.url())).await.unwrap();
    let mut client = TcpStream::connect(gateway.addr()).await.unwrap();
    client.write_all(&conversation()).await.unwrap();
    let mut stream = upstream.next().await;
    read_message(&mut stream).await.unwrap();
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 100000\r\n\r\n";
    let sent = format!("{head}{start}{delta}");
    stream.write_all(sent.as_bytes()).await.unwrap();
    read_head(&mut client).await.unwrap();
    let mut seen = vec![0; start.len() + delta.len()];
    client.read_exact(&mut seen).await.unwrap();
    drop(client);
    let all = sessions_when(gateway.addr(), |all| all["sessions"][0]["calls"] == 1).await;
    let session = &all["sessions"][0];
    let id = session["session"].as_str().unwrap();
    let answer = get(gateway.addr(), &format!("/longhaul/api/sessions/{id}")).await;
    let session: Value = serde_json::from_str(body_of(&answer)).unwrap();
    let call = &session["calls"][0];
    assert_eq!(call["ended"], "client_gone", "{call}");
    assert_eq!(call["usage_partial"], true, "{call}");
    assert_eq!(call["usage"]["input_tokens"], 100, "{call}");
    assert_eq!(call["usage"]["cache_read_tokens"], 50, "{call}");
    let written = text.len().div_ceil(4) as u64;
    assert_eq!(call["usage"]["output_tokens"], written, "{call}");
    assert!(call["cost_usd"].as_f64().unwrap() > 0.0, "{call}");
    gateway.stop().await;
}
