//! The server on the wire: happy paths, strictness about HTTP, control, and clients that go away.

use std::time::Duration;

use longhaul_sim::faults::wire::EventPace;
use longhaul_sim::server::{BODY_LIMIT, SimServer, SimServerOptions};
use reqwest::Body;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::house::{self, House, SAID, data, hello, hello_streamed, long_text};

#[tokio::test]
async fn n5_a_message_comes_whole_with_its_headers() {
    let house = House::new().await;
    let response = house.messages(&hello()).await;
    assert_eq!(response.status(), 200);
    let headers = response.headers().clone();
    assert!(headers["request-id"].to_str().unwrap().starts_with("req_"));
    assert!(headers.contains_key("anthropic-organization-id"));
    for kind in ["requests", "tokens", "input-tokens", "output-tokens"] {
        for field in ["limit", "remaining", "reset"] {
            assert!(
                headers.contains_key(format!("anthropic-ratelimit-{kind}-{field}")),
                "{kind}-{field}"
            );
        }
    }
    assert_eq!(headers["content-type"], "application/json");
    let message: Value = response.json().await.unwrap();
    assert_eq!(message["content"][0]["text"], SAID);
    assert_eq!(message["stop_reason"], "end_turn");
    assert!(message["usage"]["input_tokens"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn n5_a_streamed_message_is_the_same_in_pieces() {
    let house = House::new().await;
    let response = house.messages(&hello_streamed()).await;
    assert_eq!(
        response.headers()["content-type"],
        "text/event-stream; charset=utf-8"
    );
    let stream = response.text().await.unwrap();
    let events = data(&stream);
    let text: String = events
        .iter()
        .filter_map(|event| event["delta"]["text"].as_str())
        .collect();
    assert_eq!(text, SAID);
    assert_eq!(events.first().unwrap()["type"], "message_start");
    assert_eq!(events.last().unwrap()["type"], "message_stop");
    assert!(stream.starts_with("event: message_start\ndata: {"));
}

#[tokio::test]
async fn a_stream_is_paced_if_asked_to_be() {
    let house = House::with(SimServerOptions {
        pace: EventPace::parse("100ms/10ms").unwrap(),
        ..SimServerOptions::default()
    })
    .await;
    let started = std::time::Instant::now();
    let response = house.messages(&hello_streamed()).await;
    assert!(started.elapsed() >= Duration::from_millis(100));
    let events = data(&response.text().await.unwrap()).len() as u64;
    assert!(started.elapsed() >= Duration::from_millis(100 + 10 * (events - 1)));
}

#[tokio::test]
async fn tokens_are_counted_and_models_listed_in_both_dialects() {
    let house = House::new().await;
    let mut body = hello();
    body.as_object_mut().unwrap().remove("max_tokens");
    let counted = house.post("/v1/messages/count_tokens").json(&body);
    let counted: Value = counted.send().await.unwrap().json().await.unwrap();
    assert!(counted["input_tokens"].as_u64().unwrap() > 5);

    let url = format!("{}/v1/models", house.server.url());
    let anthropic = house.client.get(&url).header("x-api-key", "k");
    let anthropic = anthropic.header("anthropic-version", "2026-10-21");
    let list: Value = anthropic.send().await.unwrap().json().await.unwrap();
    assert_eq!(list["data"][0]["type"], "model");
    let openai = house
        .client
        .get(&url)
        .bearer_auth("k")
        .send()
        .await
        .unwrap();
    let list: Value = openai.json().await.unwrap();
    assert_eq!(list["object"], "list");
    assert_eq!(list["data"][0]["object"], "model");

    let one = house
        .client
        .get(format!("{url}/claude-opus-5-5"))
        .bearer_auth("k");
    assert_eq!(one.send().await.unwrap().status(), 200);
    let none = house.client.get(format!("{url}/gpt-none")).bearer_auth("k");
    assert_eq!(none.send().await.unwrap().status(), 404);
    assert_eq!(house.client.get(&url).send().await.unwrap().status(), 401);
}

#[tokio::test]
async fn somebody_is_home() {
    let house = House::new().await;
    let head = house.client.head(house.server.url()).send().await.unwrap();
    assert_eq!(head.status(), 200);
    let lost = house
        .post("/v1/complete")
        .json(&hello())
        .send()
        .await
        .unwrap();
    assert_eq!(lost.status(), 404);
    let lost: Value = lost.json().await.unwrap();
    assert_eq!(lost["error"]["type"], "not_found_error");
    let wrong = house
        .client
        .get(format!("{}/v1/messages", house.server.url()));
    assert_eq!(wrong.send().await.unwrap().status(), 405);
}

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

#[tokio::test]
async fn b1_the_second_call_reads_what_the_first_wrote_and_time_ends_it() {
    let house = House::still().await;
    let mut body = hello();
    body["system"] =
        json!([{ "type": "text", "text": long_text(), "cache_control": { "type": "ephemeral" } }]);
    let usage = async || {
        let message: Value = house.messages(&body).await.json().await.unwrap();
        let count = |field: &str| message["usage"][field].as_u64().unwrap();
        (
            count("cache_creation_input_tokens"),
            count("cache_read_input_tokens"),
        )
    };
    let (written, read) = usage().await;
    assert!(written > 2_000 && read == 0, "{written} {read}");
    assert_eq!(usage().await, (0, written));

    let (status, clock) = house
        .control("/sim/clock", r#"{"advance_ms":299000}"#)
        .await;
    assert_eq!((status, &clock["now_ms"]), (200, &json!(299_000)));
    assert_eq!(usage().await, (0, written));
    house
        .control("/sim/clock", r#"{"advance_ms":301000}"#)
        .await;
    assert_eq!(usage().await, (written, 0));
    let (_, evicted) = house.control("/sim/evict", "").await;
    assert_eq!(evicted["evicted"], 1);
    assert_eq!(usage().await, (written, 0));
    let (_, evicted) = house.control("/sim/evict", r#"{"key":"another"}"#).await;
    assert_eq!(evicted["evicted"], 0);

    let books = house.get("/sim/books").await;
    assert_eq!(books["total"]["requests"], 5);
    assert_eq!(books["total"]["cache_read_input_tokens"], 2 * written);
    assert_eq!(books["now_ms"], 600_000);
    assert_eq!(books["recent"].as_array().unwrap().len(), 5);
}

#[tokio::test]
async fn sessions_have_books_of_their_own() {
    let house = House::new().await;
    for (session, agent) in [("a", None), ("b", None), ("a", Some("sub"))] {
        let mut request = house.post("/v1/messages").json(&hello());
        request = request.header("x-claude-code-session-id", session);
        if let Some(agent) = agent {
            request = request.header("x-claude-code-agent-id", agent);
        }
        assert_eq!(request.send().await.unwrap().status(), 200);
    }
    let books = house.get("/sim/books").await;
    let sessions: Vec<_> = books["sessions"].as_object().unwrap().keys().collect();
    assert_eq!(sessions, ["a", "a/sub", "b"]);
}

#[tokio::test]
async fn control_says_what_is_wrong_with_its_input() {
    let house = House::new().await;
    let table = [
        ("/sim/clock", "", "advance_ms"),
        (
            "/sim/clock",
            "{",
            "JSON object like {\"advance_ms\": 300000}",
        ),
        ("/sim/clock", r#"{"advance_ms":-1}"#, "JSON object like"),
        ("/sim/clock", r#"{"advance":1}"#, "unknown field `advance`"),
        (
            "/sim/clock",
            r#"{"advance_ms":18446744073709551615}"#,
            "at most 100 years",
        ),
        ("/sim/faults", "{}", "JSON object like"),
        (
            "/sim/faults",
            r#"{"spec":"418"}"#,
            "there is no fault `418`",
        ),
        ("/sim/evict", r#"{"everything":true}"#, "unknown field"),
    ];
    for (path, body, sentence) in table {
        let (status, answer) = house.control(path, body).await;
        assert_eq!(status, 400, "{path} {body}");
        let told = answer["error"].as_str().unwrap();
        assert!(told.contains(sentence), "{path} {body}: {told}");
    }
    let health = house.get("/sim/health").await;
    assert_eq!(health["status"], "ok");
    assert_eq!(health["time"], "real");
}

#[tokio::test]
async fn real_time_passes_by_itself() {
    let house = House::new().await;
    let before = house.get("/sim/clock").await["now_ms"].as_u64().unwrap();
    tokio::time::sleep(Duration::from_millis(30)).await;
    house.control("/sim/clock", r#"{"advance_ms":1000}"#).await;
    let after = house.get("/sim/clock").await["now_ms"].as_u64().unwrap();
    assert!(after >= before + 1030, "{before} {after}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_at_once_are_all_answered() {
    let house = House::new().await;
    let calls = (0..100).map(|index| {
        let (streamed, plain) = (hello_streamed(), hello());
        let house = &house;
        async move {
            let body = if index % 2 == 0 { streamed } else { plain };
            let response = house.messages(&body).await;
            assert_eq!(response.status(), 200);
            response.text().await.unwrap()
        }
    });
    let answers = futures_util::future::join_all(calls).await;
    assert!(
        answers
            .iter()
            .all(|answer| answer.contains("The parser reads"))
    );
    assert_eq!(house.get("/sim/books").await["total"]["requests"], 100);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_hang_up_leave_nothing_behind() {
    // This stream would take minutes.
    let house = House::with(SimServerOptions {
        pace: EventPace::parse("0s/10s").unwrap(),
        ..SimServerOptions::default()
    })
    .await;
    let before = tokio::runtime::Handle::current()
        .metrics()
        .num_alive_tasks();
    let body = hello_streamed().to_string();
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: sim\r\nx-api-key: k\r\nanthropic-version: 2023-06-01\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut open = Vec::new();
    for index in 0..100 {
        let mut raw = TcpStream::connect(house.server.addr()).await.unwrap();
        // Some clients leave during their request, some before the reply, most during it.
        let sent = if index % 10 == 0 {
            head.len() / 2
        } else {
            head.len()
        };
        raw.write_all(&head.as_bytes()[..sent]).await.unwrap();
        if index % 10 > 1 {
            let mut some = [0; 64];
            raw.read_exact(&mut some).await.unwrap();
        }
        open.push(raw);
    }
    assert!(house.server.replies() >= 80, "{}", house.server.replies());
    drop(open);
    assert!(
        house.is_empty().await,
        "{} {}",
        house.server.connections(),
        house.server.replies()
    );
    let after = tokio::runtime::Handle::current()
        .metrics()
        .num_alive_tasks();
    assert!(after <= before, "{before} {after}");
}

#[tokio::test]
async fn stopping_lets_a_reply_finish_and_frees_the_port() {
    let house = House::with(SimServerOptions {
        pace: EventPace::parse("0s/20ms").unwrap(),
        ..SimServerOptions::default()
    })
    .await;
    let (addr, response) = (house.server.addr(), house.messages(&hello_streamed()).await);
    let (stream, ()) = tokio::join!(response.text(), house.server.stop());
    assert!(stream.unwrap().contains("message_stop"));
    let again = SimServer::start(addr, house::world(), SimServerOptions::default()).await;
    assert_eq!(again.unwrap().addr(), addr);
}

#[tokio::test]
async fn a_stalled_reply_does_not_hold_up_the_end() {
    let house = House::faulty("stall").await;
    let _held = house.messages(&hello_streamed()).await;
    let stopped = tokio::time::timeout(Duration::from_secs(5), house.server.stop());
    assert!(stopped.await.is_ok());
}

#[tokio::test]
async fn the_log_has_a_line_for_each_call_and_no_key() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let house = House::with(SimServerOptions {
        log: Some(Box::new(file.reopen().unwrap())),
        ..SimServerOptions::default()
    })
    .await;
    house.messages(&hello()).await;
    house.chat(&json!({ "model": "gpt", "messages": [] })).await;
    house.control("/sim/faults", r#"{"spec":"529"}"#).await;
    house.messages(&hello()).await;
    let log = std::fs::read_to_string(file.path()).unwrap();
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2, "{log}");
    assert_eq!(lines[0]["status"], 200);
    assert_eq!(lines[1]["fault"], "529");
    assert!(!log.contains("test-key") && !log.contains("parser"));
}
