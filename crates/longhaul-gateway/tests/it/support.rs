//! Shared by the tests: an upstream that records raw bytes, a client that sends them, a gateway between them.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use longhaul_gateway::branch::{SealKey, Tenants};
use longhaul_gateway::front::{Gateway, GatewayOptions, UpstreamChoice};
use longhaul_gateway::store::{InMemoryStore, Sealable, Sealed};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use url::Url;

/// A body with a conversation of these messages.
pub(crate) fn body(messages: &serde_json::Value) -> String {
    serde_json::json!({"model": "claude-opus-5-5", "max_tokens": 99, "messages": messages})
        .to_string()
}

/// A whole request as bytes.
pub(crate) fn post(path: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// An upstream of raw sockets that hands every connection to the test.
pub(crate) struct Upstream {
    pub(crate) addr: SocketAddr,
    pub(crate) accepted: mpsc::UnboundedReceiver<TcpStream>,
}

impl Upstream {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let (sender, accepted) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                if sender.send(stream).is_err() {
                    return;
                }
            }
        });
        Self { addr, accepted }
    }

    pub(crate) fn url(&self) -> Url {
        Url::parse(&format!("http://{}", self.addr)).unwrap()
    }

    pub(crate) async fn next(&mut self) -> TcpStream {
        self.accepted.recv().await.unwrap()
    }
}

/// An upstream that gives every request the same response and records the requests.
pub(crate) async fn answering(answer: &'static str) -> (Url, Arc<Mutex<Vec<Vec<u8>>>>) {
    let mut upstream = Upstream::start().await;
    let url = upstream.url();
    let got = Arc::new(Mutex::new(Vec::new()));
    let keeps = Arc::clone(&got);
    tokio::spawn(async move {
        while let Some(mut stream) = upstream.accepted.recv().await {
            let keeps = Arc::clone(&keeps);
            tokio::spawn(async move {
                while let Some(request) = read_message(&mut stream).await {
                    keeps.lock().unwrap().push(request);
                    stream.write_all(answer.as_bytes()).await.unwrap();
                }
            });
        }
    });
    (url, got)
}

/// Options for an upstream, with the usage log in memory.
pub(crate) fn options(upstream: Url) -> GatewayOptions {
    let store = Arc::new(InMemoryStore::new().unwrap());
    GatewayOptions::new(UpstreamChoice::Url(upstream), store, Tenants::passing())
}

pub(crate) async fn gateway(upstream: Url) -> Gateway {
    Gateway::start(options(upstream)).await.unwrap()
}

/// Reads one HTTP message with a content length, or without a body; `None` at the end of the connection.
pub(crate) async fn read_message(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut message = read_head(stream).await?;
    let head = String::from_utf8_lossy(&message).to_lowercase();
    let length: usize = head
        .split("content-length: ")
        .nth(1)
        .and_then(|rest| rest.split("\r\n").next()?.parse().ok())
        .unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    message.extend(body);
    Some(message)
}

/// Reads up to the blank line.
pub(crate) async fn read_head(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let byte = stream.read_u8().await.ok()?;
        head.push(byte);
    }
    Some(head)
}

/// Sends raw bytes on a separate connection and reads one response with a content length.
pub(crate) async fn exchange(addr: SocketAddr, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(addr).await.unwrap();
    stream.write_all(request).await.unwrap();
    let answer = read_message(&mut stream).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

/// Sends raw bytes on a separate connection and reads the response to the end of the connection, as a stream needs it.
pub(crate) async fn exchange_whole(addr: SocketAddr, request: &[u8]) -> Vec<u8> {
    let request = String::from_utf8_lossy(request);
    let closing = request.replacen("\r\n\r\n", "\r\nconnection: close\r\n\r\n", 1);
    let mut stream = TcpStream::connect(addr).await.unwrap();
    stream.write_all(closing.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    answer
}

/// A header of a raw response.
pub(crate) fn header(answer: &str, name: &str) -> Option<String> {
    let head = answer.split("\r\n\r\n").next().unwrap();
    head.lines().skip(1).find_map(|line| {
        let (had, value) = line.split_once(": ")?;
        had.eq_ignore_ascii_case(name).then(|| value.to_owned())
    })
}

/// The body of a raw response.
pub(crate) fn body_of(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").unwrap().1
}

/// GET a path of the gateway.
pub(crate) async fn get(addr: SocketAddr, path: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    exchange(addr, request.as_bytes()).await
}

/// Reads sessions until the usage log has what the test waits for: it is written off the path.
pub(crate) async fn sessions_when(
    addr: SocketAddr,
    ready: impl Fn(&serde_json::Value) -> bool,
) -> serde_json::Value {
    loop {
        let answer = get(addr, "/longhaul/api/sessions").await;
        let sessions: serde_json::Value = serde_json::from_str(body_of(&answer)).unwrap();
        if ready(&sessions) {
            return sessions;
        }
        tokio::task::yield_now().await;
    }
}

/// Waits until the usage log has this many calls: the work after a response begins when it is recorded, and a faster
/// client would fill the window in the meantime.
pub(crate) async fn caught_up(addr: SocketAddr, calls: usize) {
    sessions_when(addr, |all| {
        let sessions = all["sessions"].as_array().unwrap();
        let written = sessions
            .iter()
            .map(|session| session["calls"].as_u64().unwrap());
        written.sum::<u64>() >= calls as u64
    })
    .await;
}

/// A short message of the Messages API with usage.
pub(crate) const REPLY: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 188\r\n\r\n{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-opus-5-5\",\"content\":[{\"type\":\"text\",\"text\":\"Yes.\"}],\"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":9,\"output_tokens\":2}}";

/// The key that the tests seal with.
pub(crate) fn seal_key() -> SealKey {
    SealKey::new(&[7; 32])
}

/// A record as it is put into a store.
pub(crate) fn sealed<T: Sealable>(it: T) -> Sealed<T> {
    it.sealed(&seal_key())
}

/// A record as it was read from a store, which must be intact.
pub(crate) fn opened<T: Sealable>(found: Option<Sealed<T>>) -> Option<T> {
    found.map(|found| found.open(&seal_key()).expect("it is as it was"))
}
