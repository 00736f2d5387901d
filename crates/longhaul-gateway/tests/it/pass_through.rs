//! The upstream receives what the client sent, and the other way round.

use longhaul_gateway::front::Gateway;
use longhaul_gateway::policy::{PolicyRules, RequestPolicy};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::support::{self, REPLY, answering, body_of, exchange, gateway, header, options, post};

/// Request headers without those that must change.
fn comparable(raw: &[u8], host: &str) -> String {
    let text = String::from_utf8_lossy(raw).into_owned();
    text.replace(host, "HOST")
}

#[tokio::test]
async fn x8_the_upstream_gets_the_clients_exact_bytes() {
    let (url, got) = answering(REPLY).await;
    let gateway = gateway(url.clone()).await;
    let host = url.authority().to_owned();
    let weird = "{ \"messages\" : [ {\"content\":\"h\\u0069\\/\",\"role\":\"user\"}], \"zeta\":1, \"model\":\"m\" , \"alpha\":[1.0,2e5] }";
    let sent = [
        post(
            "/v1/messages?beta=true&x=%2F+a",
            "X-Api-Key: sk-one\r\nAnthropic-Beta: z-beta,a-beta\r\nX-Unknown: Kept As Is\r\nX-Twice: 1\r\nx-twice: 2\r\nAccept-Encoding: gzip\r\n",
            weird,
        ),
        post(
            "/v1/messages",
            "authorization: Bearer t\r\n",
            "this is not JSON",
        ),
        post("/v1/messages/count_tokens?a", "x-api-key: k\r\n", weird),
        post("/v1/chat/completions", "authorization: Bearer t\r\n", weird),
        post(
            "/anything/else?q=1",
            "Content-Type: application/octet-stream\r\n",
            "\u{1}\u{2}",
        ),
    ];
    for request in &sent {
        let answer = exchange(gateway.addr(), request).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert_eq!(body_of(&answer), body_of(REPLY));
    }
    let got = got.lock().unwrap().clone();
    assert_eq!(got.len(), sent.len());
    for (got, sent) in got.iter().zip(&sent) {
        assert_eq!(comparable(got, &host), comparable(sent, "localhost"));
    }
    gateway.stop().await;
}

#[tokio::test]
async fn x8_the_policy_off_passes_the_same_bytes_and_reads_none() {
    let (url, got) = answering(REPLY).await;
    let mut options = options(url.clone());
    options.policies = PolicyRules {
        otherwise: RequestPolicy::Off,
        ..PolicyRules::default()
    };
    let gateway = Gateway::start(options).await.unwrap();
    let sent = post(
        "/v1/messages",
        "",
        &support::body(&json!([{"role": "user", "content": "hi"}])),
    );
    let answer = exchange(gateway.addr(), &sent).await;
    assert_eq!(header(&answer, "x-longhaul-policy").as_deref(), Some("off"));
    assert_eq!(header(&answer, "x-longhaul-session"), None);
    let got = got.lock().unwrap().clone();
    assert_eq!(
        comparable(&got[0], url.authority()),
        comparable(&sent, "localhost")
    );
    gateway.stop().await;
}

#[tokio::test]
async fn x8_headers_of_one_connection_stay_there() {
    let (url, got) = answering("HTTP/1.1 200 OK\r\nConnection: x-hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=9\r\nX-Kept: Yes\r\nContent-Length: 2\r\n\r\nok").await;
    let gateway = gateway(url).await;
    let headers = "Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\nTE: trailers\r\nX-Longhaul-Policy: observe\r\nX-Kept: Yes\r\n";
    let answer = exchange(gateway.addr(), &post("/v1/files", headers, "x")).await;
    let upstream = String::from_utf8(got.lock().unwrap()[0].clone()).unwrap();
    for gone in ["X-Hop", "Keep-Alive", "TE:", "X-Longhaul"] {
        assert!(!upstream.contains(gone), "{upstream}");
    }
    assert!(upstream.contains("X-Kept: Yes\r\n"));
    assert_eq!(header(&answer, "x-hop"), None);
    assert!(answer.contains("X-Kept: Yes\r\n"), "{answer}");
    gateway.stop().await;
}

#[tokio::test]
async fn x8_a_chunked_body_arrives_whole() {
    let (url, got) = answering(REPLY).await;
    let gateway = gateway(url).await;
    let body = support::body(&json!([{"role": "user", "content": "in pieces"}]));
    let (one, two) = body.split_at(20);
    let request = format!(
        "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{one}\r\n{:x}\r\n{two}\r\n0\r\n\r\n",
        one.len(),
        two.len()
    );
    let answer = exchange(gateway.addr(), request.as_bytes()).await;
    assert!(header(&answer, "x-longhaul-session").is_some());
    let upstream = String::from_utf8(got.lock().unwrap()[0].clone()).unwrap();
    assert_eq!(body_of(&upstream), body);
    gateway.stop().await;
}

#[tokio::test]
async fn x8_the_base_path_of_the_upstream_comes_first() {
    let (mut url, got) = answering(REPLY).await;
    url.set_path("/proxy/anthropic/");
    let gateway = gateway(url).await;
    exchange(gateway.addr(), &post("/v1/messages?beta=true", "", "{}")).await;
    let upstream = String::from_utf8(got.lock().unwrap()[0].clone()).unwrap();
    assert!(upstream.starts_with("POST /proxy/anthropic/v1/messages?beta=true HTTP/1.1\r\n"));
    gateway.stop().await;
}

#[tokio::test]
async fn x8_connections_are_kept_on_both_sides() {
    let mut upstream = support::Upstream::start().await;
    let gateway = gateway(upstream.url()).await;
    let mut client = TcpStream::connect(gateway.addr()).await.unwrap();
    let request = post(
        "/v1/messages",
        "",
        &support::body(&json!([{"role": "user", "content": "hi"}])),
    );
    client.write_all(&request).await.unwrap();
    let mut stream = upstream.next().await;
    for _ in 0..3 {
        support::read_message(&mut stream).await.unwrap();
        stream.write_all(REPLY.as_bytes()).await.unwrap();
        support::read_message(&mut client).await.unwrap();
        client.write_all(&request).await.unwrap();
    }
    assert!(
        upstream.accepted.try_recv().is_err(),
        "one connection is enough"
    );
    gateway.stop().await;
}

#[tokio::test]
async fn x8_head_of_the_root_is_answered_here() {
    let (url, got) = answering(REPLY).await;
    let gateway = gateway(url).await;
    let mut client = TcpStream::connect(gateway.addr()).await.unwrap();
    client
        .write_all(b"HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(got.lock().unwrap().is_empty());
    gateway.stop().await;
}

#[tokio::test]
async fn n8_threads_are_passed_on_and_not_taken_for_whole_histories() {
    let (url, got) = answering(REPLY).await;
    let gateway = gateway(url).await;
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "and?"}], "thread": {"type": "continue", "previous_message_id": "msg_1"}}).to_string();
    let observe = "x-longhaul-policy: observe\r\n";
    let answer = exchange(gateway.addr(), &post("/v1/messages", observe, &body)).await;
    assert_eq!(header(&answer, "x-longhaul-session"), None);
    assert!(
        header(&answer, "x-longhaul-note")
            .unwrap()
            .contains("thread")
    );
    let upstream = String::from_utf8(got.lock().unwrap()[0].clone()).unwrap();
    assert_eq!(body_of(&upstream), body);
    gateway.stop().await;
}

#[tokio::test]
async fn n8_where_conversations_are_managed_a_thread_is_refused_with_the_code_that_makes_clients_send_all()
 {
    let (url, got) = answering(REPLY).await;
    let gateway = gateway(url).await;
    for thread in [
        json!({"type": "create"}),
        json!({"type": "continue", "previous_message_id": "msg_1"}),
    ] {
        let body = json!({"model": "m", "messages": [{"role": "user", "content": "and?"}], "thread": thread}).to_string();
        let answer = exchange(gateway.addr(), &post("/v1/messages", "", &body)).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
        let error: serde_json::Value = serde_json::from_str(body_of(&answer)).unwrap();
        assert_eq!(
            error["error"]["details"]["error_code"],
            "thread_unsupported_request"
        );
    }
    assert!(got.lock().unwrap().is_empty(), "nothing was passed on");
    gateway.stop().await;
}
