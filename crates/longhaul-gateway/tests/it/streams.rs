//! Responses that arrive piece by piece, and connections that end too early.

use longhaul_gateway::front::Gateway;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::support::{
    self, REPLY, Upstream, body_of, gateway, get, post, read_head, read_message, sessions_when,
};

const EVENTS: [&str; 3] = [
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"usage\":{\"input_tokens\":10,\"cache_read_input_tokens\":4000,\"cache_creation_input_tokens\":50,\"output_tokens\":1}}}\n\n",
    "event: ping\ndata: {\"type\": \"ping\"}\n\n",
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{\"output_tokens\":77}}\n\n",
];
const HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

fn request() -> Vec<u8> {
    post(
        "/v1/messages",
        "x-api-key: k\r\n",
        &support::body(&json!([{"role": "user", "content": "stream, please"}])),
    )
}

async fn read_until(client: &mut TcpStream, seen: &mut String, end: &str) {
    while !seen.contains(end) {
        let mut buffer = [0; 4_096];
        let count = client.read(&mut buffer).await.unwrap();
        assert_ne!(count, 0, "ended before {end:?}: {seen}");
        seen.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
    }
}

async fn one_session(gateway: &Gateway) -> Value {
    let with_a_call = |all: &Value| all["sessions"][0]["calls"] == 1;
    let sessions = sessions_when(gateway.addr(), with_a_call).await;
    let id = sessions["sessions"][0]["session"].as_str().unwrap();
    let answer = get(gateway.addr(), &format!("/longhaul/api/sessions/{id}")).await;
    let session: Value = serde_json::from_str(support::body_of(&answer)).unwrap();
    session["calls"][0].clone()
}

#[tokio::test]
async fn x8_events_are_passed_on_as_they_come_and_measured_on_the_way() {
    let mut upstream = Upstream::start().await;
    let gateway = gateway(upstream.url()).await;
    let mut client = TcpStream::connect(gateway.addr()).await.unwrap();
    client.write_all(&request()).await.unwrap();
    let mut stream = upstream.next().await;
    read_message(&mut stream).await.unwrap();
    stream.write_all(HEAD.as_bytes()).await.unwrap();
    let mut seen = String::new();
    for event in EVENTS {
        // The next is not sent before this one has arrived.
        stream.write_all(chunk(event).as_bytes()).await.unwrap();
        read_until(&mut client, &mut seen, event).await;
    }
    stream.write_all(b"0\r\n\r\n").await.unwrap();
    read_until(&mut client, &mut seen, "0\r\n\r\n").await;
    let call = one_session(&gateway).await;
    assert_eq!(
        call["usage"],
        json!({"input_tokens": 10, "cache_read_tokens": 4000, "cache_write_tokens": 50, "output_tokens": 77, "context_tokens": 4137})
    );
    assert_eq!(call["ended"], "whole");
    assert!(call["cost_usd"].as_f64().unwrap() > 0.0);
    gateway.stop().await;
}

#[tokio::test]
async fn x8_a_client_that_goes_away_in_a_stream_ends_the_upstreams_work() {
    let mut upstream = Upstream::start().await;
    let gateway = gateway(upstream.url()).await;
    let mut client = TcpStream::connect(gateway.addr()).await.unwrap();
    client.write_all(&request()).await.unwrap();
    let mut stream = upstream.next().await;
    read_message(&mut stream).await.unwrap();
    stream
        .write_all(format!("{HEAD}{}", chunk(EVENTS[0])).as_bytes())
        .await
        .unwrap();
    read_until(&mut client, &mut String::new(), "message_start").await;
    drop(client);
    // The gateway closes its side: reading ends.
    let mut rest = Vec::new();
    let ended = stream.read_to_end(&mut rest).await;
    assert!(ended.is_err() || rest.is_empty());
    assert_eq!(one_session(&gateway).await["ended"], "client_gone");
    gateway.stop().await;
}

#[tokio::test]
async fn x8_a_client_that_goes_away_before_the_answer_ends_the_upstreams_work() {
    let mut upstream = Upstream::start().await;
    let gateway = gateway(upstream.url()).await;
    let mut client = TcpStream::connect(gateway.addr()).await.unwrap();
    client.write_all(&request()).await.unwrap();
    let mut stream = upstream.next().await;
    read_message(&mut stream).await.unwrap();
    stream.write_all(REPLY.as_bytes()).await.unwrap();
    read_message(&mut client).await.unwrap();
    // This is for a known conversation: no session is recorded for one that was never answered.
    client.write_all(&request()).await.unwrap();
    read_message(&mut stream).await.unwrap();
    drop(client);
    let mut rest = Vec::new();
    let ended = stream.read_to_end(&mut rest).await;
    assert!(ended.is_err() || rest.is_empty());
    let all = sessions_when(gateway.addr(), |all| all["sessions"][0]["calls"] == 2).await;
    let id = all["sessions"][0]["session"].as_str().unwrap();
    let answer = get(gateway.addr(), &format!("/longhaul/api/sessions/{id}")).await;
    let session: Value = serde_json::from_str(body_of(&answer)).unwrap();
    let call = &session["calls"][1];
    assert_eq!(
        (&call["ended"], &call["status"]),
        (&json!("client_gone"), &json!(499))
    );
    gateway.stop().await;
}

#[tokio::test]
async fn x8_an_upstream_that_dies_in_a_stream_is_seen_by_the_client_as_it_is() {
    let mut upstream = Upstream::start().await;
    let gateway = gateway(upstream.url()).await;
    let mut client = TcpStream::connect(gateway.addr()).await.unwrap();
    client.write_all(&request()).await.unwrap();
    let mut stream = upstream.next().await;
    read_message(&mut stream).await.unwrap();
    stream
        .write_all(format!("{HEAD}{}", chunk(EVENTS[0])).as_bytes())
        .await
        .unwrap();
    let mut seen = String::new();
    read_until(&mut client, &mut seen, "message_start").await;
    drop(stream);
    let mut rest = Vec::new();
    let _ = client.read_to_end(&mut rest).await;
    assert!(
        !String::from_utf8_lossy(&rest).contains("0\r\n\r\n"),
        "no end that looks whole"
    );
    let call = one_session(&gateway).await;
    assert_eq!(call["ended"], "upstream_failed");
    gateway.stop().await;
}

#[tokio::test]
async fn x8_a_client_that_reads_slowly_holds_the_upstream_back_and_no_memory() {
    let mut upstream = Upstream::start().await;
    let gateway = gateway(upstream.url()).await;
    let mut client = TcpStream::connect(gateway.addr()).await.unwrap();
    client.write_all(&request()).await.unwrap();
    let mut stream = upstream.next().await;
    read_message(&mut stream).await.unwrap();
    // Far more than all sockets on the path can hold.
    const MEGABYTES: usize = 64;
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/octet-stream\r\ncontent-length: {}\r\n\r\n",
        MEGABYTES << 20
    );
    let writing = tokio::spawn(async move {
        stream.write_all(head.as_bytes()).await.unwrap();
        let block = vec![7; 1 << 20];
        for _ in 0..MEGABYTES {
            stream.write_all(&block).await.unwrap();
        }
    });
    read_head(&mut client).await.unwrap();
    assert!(!writing.is_finished(), "it waits for the client");
    let mut got = 0;
    let mut buffer = vec![0; 1 << 16];
    while got < MEGABYTES << 20 {
        let count = client.read(&mut buffer).await.unwrap();
        assert_ne!(count, 0);
        assert!(buffer[..count].iter().all(|byte| *byte == 7));
        got += count;
    }
    writing.await.unwrap();
    gateway.stop().await;
}

#[tokio::test]
async fn x8_compressed_answers_are_passed_as_they_are_and_measured() {
    use std::io::Write;
    let text = "{\"type\":\"message\",\"usage\":{\"input_tokens\":5,\"output_tokens\":6}}";
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    let mut upstream = Upstream::start().await;
    let gateway = gateway(upstream.url()).await;
    let mut client = TcpStream::connect(gateway.addr()).await.unwrap();
    client.write_all(&request()).await.unwrap();
    let mut stream = upstream.next().await;
    read_message(&mut stream).await.unwrap();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
        packed.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&packed).await.unwrap();
    let answer = read_message(&mut client).await.unwrap();
    assert!(answer.ends_with(&packed));
    assert_eq!(one_session(&gateway).await["usage"]["output_tokens"], 6);
    gateway.stop().await;
}

/// Whether a summary is asked for after an answer with which the window is full, if the client reads the answer to its
/// end, or goes away in the middle of it.
async fn summary_follows(is_read_to_the_end: bool) -> bool {
    let mut upstream = Upstream::start().await;
    let mut options = support::options(upstream.url());
    options.models = super::endless::small_windows();
    let gateway = Gateway::start(options).await.unwrap();
    let mut client = TcpStream::connect(gateway.addr()).await.unwrap();
    let body = super::managed::body(&super::managed::talk(40)).to_string();
    let request = post("/v1/messages", "x-api-key: k\r\n", &body);
    client.write_all(&request).await.unwrap();
    let mut stream = upstream.next().await;
    read_message(&mut stream).await.unwrap();
    let full = EVENTS[0].replace(":4000,", ":35000,");
    stream.write_all(HEAD.as_bytes()).await.unwrap();
    stream.write_all(chunk(&full).as_bytes()).await.unwrap();
    let mut seen = String::new();
    read_until(&mut client, &mut seen, "message_start").await;
    let waits = std::time::Duration::from_secs(2);
    let follows = if is_read_to_the_end {
        let end = format!("{}0\r\n\r\n", chunk(EVENTS[2]));
        stream.write_all(end.as_bytes()).await.unwrap();
        read_until(&mut client, &mut seen, "0\r\n\r\n").await;
        // The connection is used again.
        let asked = tokio::time::timeout(waits * 10, read_message(&mut stream)).await;
        asked.is_ok_and(|asked| asked.is_some())
    } else {
        drop(client);
        tokio::time::timeout(waits, upstream.next()).await.is_ok()
    };
    gateway.stop().await;
    follows
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x5_what_follows_an_answer_follows_one_that_was_read_to_its_end() {
    assert!(summary_follows(true).await);
    assert!(!summary_follows(false).await, "it was given up");
}
