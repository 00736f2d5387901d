//! Requests that are too large or too slow, upstreams that are missing, and a shutdown that loses nothing.

use std::time::Duration;

use longhaul_gateway::front::Gateway;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use super::support::{
    self, REPLY, Upstream, answering, body_of, exchange, header, options, post, read_message,
};

fn conversation() -> Vec<u8> {
    post(
        "/v1/messages",
        "",
        &support::body(&json!([{"role": "user", "content": "hi"}])),
    )
}

fn error_of(answer: &str) -> Value {
    serde_json::from_str(body_of(answer)).unwrap()
}

#[tokio::test]
async fn x8_a_body_that_is_too_large_is_refused_in_the_apis_words() {
    let (url, got) = answering(REPLY).await;
    let mut options = options(url);
    options.limits.body = 1_000;
    let gateway = Gateway::start(options).await.unwrap();
    let big = "x".repeat(1_001);
    for (path, announced) in [
        ("/v1/messages", true),
        ("/v1/files", true),
        ("/v1/messages", false),
        ("/v1/files", false),
    ] {
        let request = if announced {
            post(path, "", &big)
        } else {
            format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n{big}\r\n0\r\n\r\n").into_bytes()
        };
        let answer = exchange(gateway.addr(), &request).await;
        assert!(
            answer.starts_with("HTTP/1.1 413"),
            "{path} {announced}: {answer}"
        );
        assert_eq!(error_of(&answer)["error"]["type"], "request_too_large");
    }
    let answer = exchange(gateway.addr(), &post("/v1/chat/completions", "", &big)).await;
    assert_eq!(error_of(&answer)["error"]["code"], "request_too_large");
    assert!(got.lock().unwrap().is_empty());
    // Exactly the limit is fine.
    let answer = exchange(gateway.addr(), &post("/v1/messages", "", &big[..1_000])).await;
    assert!(answer.starts_with("HTTP/1.1 200"));
    gateway.stop().await;
}

#[tokio::test]
async fn x8_a_huge_body_goes_through() {
    let (url, got) = answering(REPLY).await;
    let gateway = Gateway::start(options(url)).await.unwrap();
    let text = "many words ".repeat(2 << 20);
    let body = support::body(&json!([{"role": "user", "content": text}]));
    let answer = exchange(gateway.addr(), &post("/v1/messages", "", &body)).await;
    assert!(header(&answer, "x-longhaul-session").is_some());
    assert!(got.lock().unwrap()[0].ends_with(body.as_bytes()));
    gateway.stop().await;
}

#[tokio::test]
async fn x8_a_head_that_is_too_large_is_refused() {
    let (url, got) = answering(REPLY).await;
    let mut options = options(url);
    options.limits.head = 16 << 10;
    let gateway = Gateway::start(options).await.unwrap();
    let mut client = TcpStream::connect(gateway.addr()).await.unwrap();
    let head = format!(
        "GET /v1/models HTTP/1.1\r\nX-Long: {}\r\n\r\n",
        "y".repeat(64 << 10)
    );
    // The gateway may close before everything is written.
    let _ = client.write_all(head.as_bytes()).await;
    let mut answer = Vec::new();
    let _ = client.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer);
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 431"),
        "{answer}"
    );
    assert!(got.lock().unwrap().is_empty());
    gateway.stop().await;
}

#[tokio::test]
async fn x8_too_many_requests_at_once_are_told_to_come_again() {
    let mut upstream = Upstream::start().await;
    let mut options = options(upstream.url());
    options.limits.requests = 1;
    let gateway = Gateway::start(options).await.unwrap();
    let mut first = TcpStream::connect(gateway.addr()).await.unwrap();
    first.write_all(&conversation()).await.unwrap();
    let mut stream = upstream.next().await;
    read_message(&mut stream).await.unwrap();
    let second = exchange(gateway.addr(), &conversation()).await;
    assert!(second.starts_with("HTTP/1.1 503"), "{second}");
    assert_eq!(header(&second, "retry-after").as_deref(), Some("1"));
    assert_eq!(error_of(&second)["error"]["type"], "overloaded_error");
    stream.write_all(REPLY.as_bytes()).await.unwrap();
    read_message(&mut first).await.unwrap();
    // There is room again as soon as the first request is done.
    first.write_all(&conversation()).await.unwrap();
    read_message(&mut stream).await.unwrap();
    stream.write_all(REPLY.as_bytes()).await.unwrap();
    assert!(
        read_message(&mut first)
            .await
            .unwrap()
            .starts_with(b"HTTP/1.1 200")
    );
    gateway.stop().await;
}

#[tokio::test]
async fn x8_an_upstream_that_is_not_there_is_told_with_what_to_do() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = Url::parse(&format!("http://{}", closed.local_addr().unwrap())).unwrap();
    drop(closed);
    let gateway = Gateway::start(options(url)).await.unwrap();
    let answer = exchange(gateway.addr(), &conversation()).await;
    assert!(answer.starts_with("HTTP/1.1 502"), "{answer}");
    let error = error_of(&answer);
    assert_eq!(
        (&error["type"], &error["error"]["type"]),
        (&json!("error"), &json!("api_error"))
    );
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.contains("--upstream"), "{message}");
    gateway.stop().await;
}

#[tokio::test]
async fn x8_an_upstream_that_closes_without_an_answer_is_told() {
    let mut upstream = Upstream::start().await;
    let gateway = Gateway::start(options(upstream.url())).await.unwrap();
    let mut client = TcpStream::connect(gateway.addr()).await.unwrap();
    client.write_all(&conversation()).await.unwrap();
    let mut stream = upstream.next().await;
    read_message(&mut stream).await.unwrap();
    drop(stream);
    let answer = read_message(&mut client).await.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 502"));
    gateway.stop().await;
}

#[tokio::test]
async fn x8_slow_clients_and_silent_upstreams_are_given_up() {
    let mut upstream = Upstream::start().await;
    let mut options = options(upstream.url());
    options.timeouts.client_idle = Duration::from_millis(30);
    options.timeouts.client_head = Duration::from_millis(30);
    options.timeouts.upstream_head = Duration::from_millis(30);
    options.timeouts.upstream_idle = Duration::from_millis(30);
    let gateway = Gateway::start(options).await.unwrap();
    // Headers that never end.
    let mut client = TcpStream::connect(gateway.addr()).await.unwrap();
    client.write_all(b"POST /v1/messages HTT").await.unwrap();
    let mut rest = Vec::new();
    let _ = client.read_to_end(&mut rest).await;
    // A body that never ends.
    let mut client = TcpStream::connect(gateway.addr()).await.unwrap();
    client
        .write_all(b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{")
        .await
        .unwrap();
    assert!(
        read_message(&mut client)
            .await
            .unwrap()
            .starts_with(b"HTTP/1.1 408")
    );
    // An upstream that sends nothing.
    let answer = exchange(gateway.addr(), &conversation()).await;
    assert!(answer.starts_with("HTTP/1.1 504"), "{answer}");
    let mut stream = upstream.next().await;
    read_message(&mut stream).await.unwrap();
    // An upstream that stops in the middle.
    let mut client = TcpStream::connect(gateway.addr()).await.unwrap();
    client.write_all(&conversation()).await.unwrap();
    let mut stream = upstream.next().await;
    read_message(&mut stream).await.unwrap();
    stream
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf")
        .await
        .unwrap();
    let mut got = Vec::new();
    let _ = client.read_to_end(&mut got).await;
    assert!(got.ends_with(b"half"));
    gateway.stop().await;
}

#[tokio::test]
async fn x8_a_client_that_takes_nothing_is_given_up() {
    let mut upstream = Upstream::start().await;
    let mut options = options(upstream.url());
    options.timeouts.client_idle = Duration::from_millis(50);
    let gateway = Gateway::start(options).await.unwrap();
    let mut client = TcpStream::connect(gateway.addr()).await.unwrap();
    client.write_all(&conversation()).await.unwrap();
    let mut stream = upstream.next().await;
    read_message(&mut stream).await.unwrap();
    stream
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n")
        .await
        .unwrap();
    let block = vec![0; 1 << 20];
    // It ends because the gateway closes, not because everything was accepted.
    let mut written = 0_usize;
    while stream.write_all(&block).await.is_ok() {
        written += block.len();
        assert!(written < 1_000_000_000);
    }
    drop(client);
    gateway.stop().await;
}

#[tokio::test]
async fn x8_a_stop_lets_what_is_under_way_finish() {
    let mut upstream = Upstream::start().await;
    let gateway = Gateway::start(options(upstream.url())).await.unwrap();
    let addr = gateway.addr();
    let mut client = TcpStream::connect(addr).await.unwrap();
    client.write_all(&conversation()).await.unwrap();
    let mut stream = upstream.next().await;
    read_message(&mut stream).await.unwrap();
    stream
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nha")
        .await
        .unwrap();
    support::read_head(&mut client).await.unwrap();
    let stopping = tokio::spawn(gateway.stop());
    while TcpStream::connect(addr).await.is_ok() {
        tokio::task::yield_now().await;
    }
    stream.write_all(b"lf").await.unwrap();
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).await.unwrap();
    assert!(rest.ends_with(b"half"));
    stopping.await.unwrap();
}

#[tokio::test]
async fn x8_a_stop_does_not_wait_for_ever() {
    let mut upstream = Upstream::start().await;
    let mut options = options(upstream.url());
    options.timeouts.drain = Duration::from_millis(20);
    let gateway = Gateway::start(options).await.unwrap();
    let mut client = TcpStream::connect(gateway.addr()).await.unwrap();
    client.write_all(&conversation()).await.unwrap();
    let mut stream = upstream.next().await;
    read_message(&mut stream).await.unwrap();
    gateway.stop().await;
    let mut rest = Vec::new();
    let _ = client.read_to_end(&mut rest).await;
    assert!(rest.is_empty());
}
