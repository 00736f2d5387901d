//! Clients and upstreams that are malicious, or so broken that they look like it.

use std::time::Duration;

use longhaul_gateway::front::Gateway;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::support::{
    self, REPLY, Upstream, answering, exchange, header, options, post, read_head, read_message,
    sessions_when,
};

fn conversation() -> Vec<u8> {
    let messages = json!([{"role": "user", "content": "hi"}]);
    post("/v1/messages", "", &support::body(&messages))
}

/// Whether a gateway still works.
async fn is_well(gateway: &Gateway) {
    let answer = exchange(gateway.addr(), &conversation()).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

/// Everything that a connection still sends, whether it ends well or not.
async fn rest_of(stream: &mut TcpStream) -> String {
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
    String::from_utf8_lossy(&rest).into_owned()
}

#[tokio::test]
async fn x8_bombs_of_headers_and_chunks_are_refused() {
    let (url, got) = answering(REPLY).await;
    let mut options = options(url);
    options.limits.body = 100_000;
    let gateway = Gateway::start(options).await.unwrap();
    let many: String = (0..5_000)
        .map(|number| format!("x-{number}: y\r\n"))
        .collect();
    let chunked =
        "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n";
    let bombs = [
        format!("POST /v1/messages HTTP/1.1\r\n{many}\r\n"),
        // A line that never ends.
        format!("POST /{}", "a".repeat(1 << 20)),
        // An endless chunk extension.
        format!("{chunked}1;{}", "a=b;".repeat(100_000)),
        // Endless chunks.
        format!("{chunked}{}", "10\r\n0123456789abcdef\r\n".repeat(10_000)),
        format!("{chunked}ffffffffffffffff\r\nx"),
        format!(
            "{chunked}1\r\na\r\n0\r\n{}",
            "x-trailer: y\r\n".repeat(100_000)
        ),
    ];
    for bomb in bombs {
        let mut client = TcpStream::connect(gateway.addr()).await.unwrap();
        // The gateway may close before everything is written.
        let _ = client.write_all(bomb.as_bytes()).await;
        let _ = client.shutdown().await;
        let answer = rest_of(&mut client).await;
        let refused = [
            "",
            "HTTP/1.1 400",
            "HTTP/1.1 413",
            "HTTP/1.1 414",
            "HTTP/1.1 431",
        ];
        let start = answer.get(..12).unwrap_or(&answer);
        assert!(refused.contains(&start), "{}: {answer}", &bomb[..60]);
    }
    assert!(got.lock().unwrap().is_empty(), "nothing of it is passed on");
    is_well(&gateway).await;
    gateway.stop().await;
}

#[tokio::test]
async fn x8_a_client_that_sends_a_byte_now_and_then_is_given_up() {
    let (url, got) = answering(REPLY).await;
    let mut options = options(url);
    options.timeouts.client_head = Duration::from_millis(60);
    options.timeouts.client_idle = Duration::from_millis(60);
    let gateway = Gateway::start(options).await.unwrap();
    let body = |path: &str| {
        format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\n\r\n")
    };
    for (start, answered) in [
        (
            "POST /v1/messages HTTP/1.1\r\nx-slow: ".to_owned(),
            &[""][..],
        ),
        (body("/v1/messages"), &["HTTP/1.1 408"]),
        (body("/v1/files"), &["HTTP/1.1 408"]),
    ] {
        let client = TcpStream::connect(gateway.addr()).await.unwrap();
        let (mut reading, mut writing) = client.into_split();
        writing.write_all(start.as_bytes()).await.unwrap();
        // It is never silent for as long as the timeout.
        let trickle = tokio::spawn(async move {
            while writing.write_all(b"x").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        let mut answer = Vec::new();
        let _ = reading.read_to_end(&mut answer).await;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let begun = answer.get(..12).unwrap_or(&answer);
        assert!(
            answered.contains(&begun) || begun.is_empty(),
            "{start}: {answer}"
        );
        trickle.abort();
    }
    assert!(got.lock().unwrap().is_empty());
    is_well(&gateway).await;
    gateway.stop().await;
}

/// How many connections to open: both ends of each are in this process.
fn room() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let files = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"));
    let soft = files.and_then(|line| line.split_whitespace().next()?.parse().ok());
    (soft.unwrap_or(1_024_usize).saturating_sub(600) / 2).clamp(100, 1_000)
}

#[tokio::test]
async fn x8_idle_connections_keep_nobody_out_and_are_closed() {
    let (url, _) = answering(REPLY).await;
    let mut options = options(url);
    options.timeouts.client_head = Duration::from_millis(1_500);
    let gateway = Gateway::start(options).await.unwrap();
    let mut idle = Vec::new();
    for number in 0..room() {
        let mut client = TcpStream::connect(gateway.addr()).await.unwrap();
        if number % 2 == 0 {
            client.write_all(b"POST /v1/mess").await.unwrap();
        }
        idle.push(client);
    }
    is_well(&gateway).await;
    for mut client in idle {
        assert_eq!(rest_of(&mut client).await.find("200"), None);
    }
    is_well(&gateway).await;
    gateway.stop().await;
}

#[tokio::test]
async fn x8_bodies_that_are_made_to_hurt_are_passed_on_as_they_are() {
    let (url, got) = answering(REPLY).await;
    let gateway = Gateway::start(options(url)).await.unwrap();
    let deep = |open: &str, close: &str| {
        format!(
            "{{\"model\":\"m\",\"messages\":[{{\"role\":\"user\",\"content\":{}1{}}}]}}",
            open.repeat(100_000),
            close.repeat(100_000)
        )
    };
    let bodies: Vec<Vec<u8>> = vec![
        deep("[", "]").into_bytes(),
        deep("{\"a\":", "}").into_bytes(),
        deep("[{\"type\":\"tool_result\",\"content\":", "}]").into_bytes(),
        "[".repeat(1_000_000).into_bytes(),
        format!("{{\"system\":{}1{},\"model\":\"m\",\"messages\":[{{\"role\":\"user\",\"content\":\"x\"}}]}}", "[".repeat(100_000), "]".repeat(100_000)).into_bytes(),
        br#"{"model":"m","messages":[{"role":"user","content":"a"}],"messages":[{"role":"user","content":"b"}]}"#.to_vec(),
        br#"{"model":"m","model":"n","messages":[{"role":"user","role":"assistant","content":"a","content":"b"}]}"#.to_vec(),
        b"{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"\xff\xfe\"}]}".to_vec(),
        b"{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"\\ud800\"}]}".to_vec(),
        b"\0\0\0\0".to_vec(),
        Vec::new(),
    ];
    for body in &bodies {
        let mut request = post("/v1/messages", "x-api-key: k\r\n", "");
        let head = String::from_utf8(request).unwrap();
        request = head
            .replace("Length: 0", &format!("Length: {}", body.len()))
            .into_bytes();
        request.extend(body);
        let answer = exchange(gateway.addr(), &request).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(header(&answer, "x-longhaul-note").is_some());
        assert!(got.lock().unwrap().last().unwrap().ends_with(body));
    }
    assert_eq!(got.lock().unwrap().len(), bodies.len());
    // The usage log is still written.
    is_well(&gateway).await;
    let counted = |all: &serde_json::Value| {
        let sessions = all["sessions"].as_array().unwrap();
        sessions
            .iter()
            .any(|session| session["model"] == "claude-opus-5-5")
    };
    sessions_when(gateway.addr(), counted).await;
    gateway.stop().await;
}

#[tokio::test]
async fn x8_a_body_that_is_compressed_is_passed_on_as_it_is() {
    use std::io::Write;
    let (url, got) = answering(REPLY).await;
    let gateway = Gateway::start(options(url)).await.unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed
        .write_all(support::body(&json!([{"role": "user", "content": "hi"}])).as_bytes())
        .unwrap();
    let packed = packed.finish().unwrap();
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
        packed.len()
    );
    let answer = exchange(gateway.addr(), &[head.as_bytes(), &packed].concat()).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(header(&answer, "x-longhaul-line").is_none());
    let got = got.lock().unwrap().clone();
    assert!(got[0].ends_with(&packed));
    assert!(String::from_utf8_lossy(&got[0]).contains("Content-Encoding: gzip"));
    gateway.stop().await;
}

#[tokio::test]
async fn x8_a_hundred_thousand_messages_are_one_conversation() {
    let (url, _) = answering(REPLY).await;
    let gateway = Gateway::start(options(url)).await.unwrap();
    let said = |count: usize| {
        let turn = |at: usize| match at % 2 {
            0 => json!({"role": "user", "content": format!("q{at}")}),
            _ => json!({"role": "assistant", "content": format!("a{at}")}),
        };
        let messages: serde_json::Value = (0..count).map(turn).collect();
        post("/v1/messages", "", &support::body(&messages))
    };
    let first = exchange(gateway.addr(), &said(99_997)).await;
    assert_eq!(
        header(&first, "x-longhaul-note").as_deref(),
        Some("a new conversation")
    );
    let second = exchange(gateway.addr(), &said(99_999)).await;
    assert_eq!(
        header(&second, "x-longhaul-note").as_deref(),
        Some("2 messages more")
    );
    assert_eq!(
        header(&second, "x-longhaul-line"),
        header(&first, "x-longhaul-line")
    );
    gateway.stop().await;
}

#[tokio::test]
async fn x8_a_length_and_chunks_at_once_smuggle_nothing() {
    let (url, got) = answering(REPLY).await;
    let gateway = Gateway::start(options(url)).await.unwrap();
    let smuggled = "GET /smuggled HTTP/1.1\r\nhost: localhost\r\n\r\n";
    for path in ["/v1/messages", "/v1/files"] {
        for lengths in [
            format!(
                "content-length: {}\r\ntransfer-encoding: chunked\r\n",
                smuggled.len() + 5
            ),
            "transfer-encoding: chunked\r\ncontent-length: 5\r\n".to_owned(),
            "content-length: 5\r\ncontent-length: 6\r\n".to_owned(),
            "transfer-encoding: chunked, identity\r\n".to_owned(),
            "content-length: +5\r\n".to_owned(),
        ] {
            let request = format!(
                "POST {path} HTTP/1.1\r\nhost: localhost\r\n{lengths}connection: close\r\n\r\n0\r\n\r\n{smuggled}"
            );
            let mut client = TcpStream::connect(gateway.addr()).await.unwrap();
            client.write_all(request.as_bytes()).await.unwrap();
            rest_of(&mut client).await;
        }
    }
    is_well(&gateway).await;
    for request in got.lock().unwrap().iter() {
        let head = String::from_utf8_lossy(request).to_lowercase();
        // This upstream reads the end of a chunked body as if it were request headers.
        assert!(head.starts_with("post ") || head == "0\r\n\r\n", "{head}");
        let lengths =
            head.matches("content-length:").count() + head.matches("transfer-encoding:").count();
        assert!(lengths <= 1, "{head}");
    }
    gateway.stop().await;
}

/// What a client sees when the upstream answers with these bytes, and then waits, or closes.
async fn answered_with(answer: &[u8], closes: bool) -> (String, Gateway) {
    let mut upstream = Upstream::start().await;
    let mut options = options(upstream.url());
    options.timeouts.upstream_head = Duration::from_millis(300);
    options.timeouts.upstream_idle = Duration::from_millis(300);
    let gateway = Gateway::start(options).await.unwrap();
    let mut client = TcpStream::connect(gateway.addr()).await.unwrap();
    client.write_all(&conversation()).await.unwrap();
    let mut stream = upstream.next().await;
    read_message(&mut stream).await.unwrap();
    // The gateway may close the connection before everything is written.
    let _ = stream.write_all(answer).await;
    if closes {
        drop(stream);
        return (whole(&mut client).await, gateway);
    }
    let seen = whole(&mut client).await;
    drop(stream);
    (seen, gateway)
}

/// One response, chunked or with a length.
async fn whole(client: &mut TcpStream) -> String {
    let Some(head) = read_head(client).await else {
        return String::new();
    };
    let mut seen = String::from_utf8(head).unwrap();
    let lower = seen.to_lowercase();
    let length = lower.split("content-length: ").nth(1);
    if let Some(length) = length.and_then(|rest| rest.split("\r\n").next()?.parse::<usize>().ok()) {
        let mut body = vec![0; length];
        let _ = client.read_exact(&mut body).await;
        seen.push_str(&String::from_utf8_lossy(&body));
    } else if lower.contains("chunked") {
        while !seen.ends_with("0\r\n\r\n") {
            let mut byte = [0];
            if client.read_exact(&mut byte).await.is_err() {
                break;
            }
            seen.push(byte[0] as char);
        }
    }
    seen
}

#[tokio::test]
async fn x8_what_comes_before_an_answer_is_no_answer() {
    for before in [
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n",
        "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n",
    ] {
        let (seen, gateway) = answered_with(format!("{before}{REPLY}").as_bytes(), false).await;
        assert!(
            seen.starts_with("HTTP/1.1 200") && seen.contains("Yes."),
            "{seen}"
        );
        gateway.stop().await;
    }
}

#[tokio::test]
async fn x8_trailers_do_not_disturb_an_answer() {
    let answer = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n3\r\nabc\r\n0\r\nx-sum: 1\r\n\r\n";
    let (seen, gateway) = answered_with(answer.as_bytes(), false).await;
    assert!(seen.contains("3\r\nabc\r\n0\r\n"), "{seen}");
    gateway.stop().await;
}

#[tokio::test]
async fn x8_an_answer_without_a_body_that_has_one_does_not_reach_into_the_next() {
    let mut upstream = Upstream::start().await;
    let gateway = Gateway::start(options(upstream.url())).await.unwrap();
    tokio::spawn(async move {
        let smuggled = REPLY.replace("Yes.", "Not.");
        let empty = format!(
            "HTTP/1.1 204 No Content\r\ncontent-length: {}\r\n\r\n{smuggled}",
            smuggled.len()
        );
        let mut answers = vec![REPLY.to_owned(), empty];
        while let Some(mut stream) = upstream.accepted.recv().await {
            while read_message(&mut stream).await.is_some() {
                let answer = answers.pop().unwrap_or_else(|| REPLY.to_owned());
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        }
    });
    let mut client = TcpStream::connect(gateway.addr()).await.unwrap();
    client.write_all(&conversation()).await.unwrap();
    let head = String::from_utf8(read_head(&mut client).await.unwrap()).unwrap();
    assert!(head.starts_with("HTTP/1.1 204"), "{head}");
    client.write_all(&conversation()).await.unwrap();
    let next = String::from_utf8(read_message(&mut client).await.unwrap()).unwrap();
    assert!(
        next.starts_with("HTTP/1.1 200") && next.contains("Yes."),
        "{next}"
    );
    drop(client);
    gateway.stop().await;
}

#[tokio::test]
async fn x8_heads_that_are_none_are_told_as_such() {
    let many: String = (0..5_000)
        .map(|number| format!("x-{number}: y\r\n"))
        .collect();
    let endless = format!("HTTP/1.1 200 OK\r\nx-long: {}", "y".repeat(4 << 20));
    for answer in [
        format!("HTTP/1.1 200 OK\r\n{many}"),
        endless,
        "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd".to_owned(),
        "SSH-2.0-OpenSSH_9.6\r\n".to_owned(),
        "HTTP/1.1 999999 what\r\n\r\n".to_owned(),
        "HTTP/1.1 200 OK\r\nbad header\r\n\r\n".to_owned(),
    ] {
        let (seen, gateway) = answered_with(answer.as_bytes(), false).await;
        let told = answer.get(..60).unwrap_or(&answer);
        assert!(seen.starts_with("HTTP/1.1 502"), "{told}: {seen}");
        assert!(seen.contains("127.0.0.1:"), "{seen}");
        gateway.stop().await;
    }
    // Only the beginning of a response arrives, and then silence.
    for answer in ["", "HTTP/1.1 200 OK\r\nx-", "HTTP/1.1 100 Continue\r\n\r\n"] {
        let (seen, gateway) = answered_with(answer.as_bytes(), false).await;
        assert!(seen.starts_with("HTTP/1.1 504"), "{answer}: {seen}");
        gateway.stop().await;
        let (seen, gateway) = answered_with(answer.as_bytes(), true).await;
        assert!(seen.starts_with("HTTP/1.1 502"), "{answer}: {seen}");
        gateway.stop().await;
    }
}

#[tokio::test]
async fn x8_a_change_of_protocol_that_nobody_asked_for_is_not_taken() {
    let switching =
        "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nanything";
    let (seen, gateway) = answered_with(switching.as_bytes(), true).await;
    assert!(!seen.contains("anything"), "{seen}");
    assert!(
        seen.starts_with("HTTP/1.1 502") || seen.is_empty(),
        "{seen}"
    );
    gateway.stop().await;
}
