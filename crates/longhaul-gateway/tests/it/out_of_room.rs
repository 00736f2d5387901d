//! Answers that end because the window is full (O3), with the offline world behind the gateway.

use longhaul_gateway::front::Gateway;
use serde_json::{Value, json};

use super::endless::{refused, world};
use super::managed::{body, talk};
use super::support::{body_of, exchange, header, post};

const HEADERS: &str =
    "x-api-key: k\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n";
/// The window of the models here.
const WINDOW: u64 = 40_000;

async fn ask(gateway: &Gateway, path: &str, body: &Value) -> String {
    exchange(gateway.addr(), &post(path, HEADERS, &body.to_string())).await
}

/// A history that leaves a few tokens for the reply.
async fn nearly_full(gateway: &Gateway) -> Vec<Value> {
    let mut messages = talk(50);
    let mut counted = body(&messages);
    counted.as_object_mut().unwrap().remove("max_tokens");
    let told = ask(gateway, "/v1/messages/count_tokens", &counted).await;
    let told: Value = serde_json::from_str(body_of(&told)).unwrap();
    let room = WINDOW - 6 - told["input_tokens"].as_u64().unwrap();
    let words = usize::try_from(room).unwrap();
    let more = format!("Answer 0. {}", "word ".repeat(words));
    messages[1]["content"][0]["text"] = json!(format!(
        "{}{more}",
        messages[1]["content"][0]["text"].as_str().unwrap()
    ));
    messages
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o3_x8_a_whole_answer_that_ran_out_of_room_is_withheld_and_asked_for_again() {
    let gateway = world(|_| {}).await;
    let messages = nearly_full(&gateway).await;
    let answer = ask(&gateway, "/v1/messages", &body(&messages)).await;
    let said: Value = serde_json::from_str(body_of(&answer)).unwrap();
    assert_eq!(said["type"], "message", "{answer}");
    assert_ne!(
        said["stop_reason"], "model_context_window_exceeded",
        "{said}"
    );
    assert_eq!(
        header(&answer, "x-longhaul-action").as_deref(),
        Some("recovered")
    );
    assert_eq!(refused(&gateway), 0, "it did fit, but for the reply");
    let outcomes = gateway.simulated().unwrap().with_world(|world| {
        let calls = world.books().recent.iter();
        calls.map(|call| call.outcome.clone()).collect::<Vec<_>>()
    });
    assert!(
        outcomes.contains(&"model_context_window_exceeded".to_owned()),
        "{outcomes:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o3_x8_a_streamed_answer_that_ran_out_of_room_stands_and_the_next_request_is_smaller() {
    let gateway = world(|_| {}).await;
    let mut messages = nearly_full(&gateway).await;
    let mut streamed = body(&messages);
    streamed["stream"] = json!(true);
    let answer = ask(&gateway, "/v1/messages", &streamed).await;
    assert!(answer.contains("model_context_window_exceeded"), "{answer}");
    messages.push(json!({"role": "assistant", "content": [{"type": "text", "text": "I"}]}));
    messages.push(json!({"role": "user", "content": "Go on."}));
    let mut streamed = body(&messages);
    streamed["stream"] = json!(true);
    let answer = ask(&gateway, "/v1/messages", &streamed).await;
    assert!(
        !answer.contains("model_context_window_exceeded"),
        "{answer}"
    );
    assert_ne!(
        header(&answer, "x-longhaul-action").as_deref(),
        Some("passed")
    );
    assert_eq!(refused(&gateway), 0);
}
