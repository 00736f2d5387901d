//! The server on the wire: what it answers, and how it is controlled.

use std::time::Duration;

use longhaul_sim::faults::wire::EventPace;
use longhaul_sim::server::SimServerOptions;
use serde_json::{Value, json};

use crate::house::{House, SAID, data, hello, hello_streamed, long_text};

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
