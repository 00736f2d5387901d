//! The server is strict about HTTP: headers, bodies, sizes.
use std::time::Duration;

use longhaul_sim::server::BODY_LIMIT;
use reqwest::Body;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::house::{House, hello};

/// The headers of a request; the status, kind and wording of the refusal.
type Refused<'a> = (&'a [(&'a str, &'a str)], u16, &'a str, &'a str);

#[tokio::test]
async fn missing_and_wrong_headers_are_named() {
    let house = House::new().await;
    let url = format!("{}/v1/messages", house.server.url());
    let body = hello().to_string();
    let table: [Refused<'_>; 6] = [
        (
            &[("content-type", "application/json")],
            401,
            "authentication_error",
            "x-api-key header is required",
        ),
        (
            &[("x-api-key", ""), ("anthropic-version", "2023-06-01")],
            401,
            "authentication_error",
            "x-api-key",
        ),
        (
            &[("x-api-key", "k")],
            400,
            "invalid_request_error",
            "anthropic-version: header is required",
        ),
        (
            &[("x-api-key", "k"), ("anthropic-version", "2022-01-01")],
            400,
            "invalid_request_error",
            "anthropic-version: \"2022-01-01\" is not a valid version",
        ),
        (
            &[
                ("x-api-key", "k"),
                ("anthropic-version", "2023-06-01"),
                ("content-type", "text/plain"),
            ],
            400,
            "invalid_request_error",
            "content-type: must be application/json, not \"text/plain\"",
        ),
        (
            &[
                ("authorization", "Bearer k"),
                ("anthropic-version", "2026-10-21"),
            ],
            400,
            "invalid_request_error",
            "content-type: header is required",
        ),
    ];
    for (headers, status, kind, message) in table {
        let mut request = house.client.post(&url).body(body.clone());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), status, "{headers:?}");
        assert!(response.headers().contains_key("request-id"));
        let error: Value = response.json().await.unwrap();
        assert_eq!(error["type"], "error");
        assert_eq!(error["error"]["type"], kind, "{headers:?}");
        let told = error["error"]["message"].as_str().unwrap();
        assert!(told.contains(message), "{told}");
        assert!(error["request_id"].as_str().unwrap().starts_with("req_"));
    }
    let charset = house.post("/v1/messages").body(body);
    let charset = charset.header("content-type", "application/json; charset=utf-8");
    assert_eq!(charset.send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn what_is_not_json_is_refused_and_the_server_lives_on() {
    let house = House::new().await;
    for body in ["", "{", "[]", "null", "{\"model\": 1}", "\u{0}", "{}"] {
        for path in [
            "/v1/messages",
            "/v1/messages/count_tokens",
            "/v1/chat/completions",
        ] {
            let request = house.post(path).body(body);
            let request = request.header("content-type", "application/json");
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), 400, "{path} {body:?}");
            let error: Value = response.json().await.unwrap();
            assert!(error["error"]["message"].is_string(), "{path} {body:?}");
        }
    }
    assert_eq!(house.messages(&hello()).await.status(), 200);
}

#[tokio::test]
async fn fifty_megabytes_are_too_much() {
    let house = House::new().await;
    let body = "x".repeat(50 << 20);
    for path in [
        "/v1/messages",
        "/v1/messages/count_tokens",
        "/v1/chat/completions",
    ] {
        // The body is sent once with a length, and once in chunks without one.
        for streamed in [false, true] {
            let body = body.clone();
            let body = if streamed {
                Body::wrap_stream(pieces(body))
            } else {
                Body::from(body)
            };
            let request = house.post(path).body(body);
            let request = request.header("content-type", "application/json");
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), 413, "{path} {streamed}");
            let error: Value = response.json().await.unwrap();
            let told = error["error"]["message"].as_str().unwrap();
            assert_eq!(told, "Request exceeds the maximum size");
        }
    }
    assert_eq!(BODY_LIMIT, 32 * 1024 * 1024);
}

/// A text as a stream of pieces, so that its length is not known.
fn pieces(text: String) -> impl futures_util::Stream<Item = std::io::Result<Vec<u8>>> + Send {
    let pieces: Vec<_> = text
        .as_bytes()
        .chunks(1 << 20)
        .map(|piece| Ok(piece.to_vec()))
        .collect();
    futures_util::stream::iter(pieces)
}

#[tokio::test]
async fn a_client_that_asks_before_sending_too_much_is_told_at_once() {
    let house = House::new().await;
    let mut raw = TcpStream::connect(house.server.addr()).await.unwrap();
    let head = "POST /v1/messages HTTP/1.1\r\nhost: sim\r\nx-api-key: k\r\nanthropic-version: 2023-06-01\r\n\
                content-type: application/json\r\ncontent-length: 52428800\r\nexpect: 100-continue\r\n\r\n";
    raw.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    let read = raw.read_exact(&mut answer);
    tokio::time::timeout(Duration::from_secs(2), read)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
}
