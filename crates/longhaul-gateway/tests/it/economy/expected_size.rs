//! The size that a request is expected to have is counted with what the provider's replies have taught (X4).

use longhaul_core::models::ModelTable;
use longhaul_gateway::front::Gateway;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::support::{Upstream, body_of, caught_up, exchange, header, options, post, read_message};

const MODEL: &str = "claude-sonnet-4-6";
const WINDOW: u64 = 60_000;

/// An upstream that counts this many tokens for a thousand bytes of a body, and answers whatever is sent.
async fn counting(tokens: u64) -> url::Url {
    let mut upstream = Upstream::start().await;
    let url = upstream.url();
    tokio::spawn(async move {
        while let Some(mut stream) = upstream.accepted.recv().await {
            tokio::spawn(async move {
                while let Some(request) = read_message(&mut stream).await {
                    let input = request.len() as u64 * tokens / 1_000;
                    let reply = json!({
                        "id": "msg_1", "type": "message", "role": "assistant", "model": MODEL,
                        "content": [{"type": "text", "text": "Yes."}], "stop_reason": "end_turn",
                        "usage": {"input_tokens": input, "output_tokens": 3},
                    })
                    .to_string();
                    let head = format!(
                        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                        reply.len()
                    );
                    stream.write_all((head + &reply).as_bytes()).await.unwrap();
                }
            });
        }
    });
    url
}

fn prose(words: usize) -> String {
    "the quick brown fox jumps over a lazy dog and goes home ".repeat(words / 12)
}

async fn send(gateway: &Gateway, messages: &[Value]) -> String {
    let body = json!({"model": MODEL, "max_tokens": 1_000, "messages": messages});
    let headers =
        "x-api-key: k\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n";
    let answer = exchange(
        gateway.addr(),
        &post("/v1/messages", headers, &body.to_string()),
    )
    .await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    answer
}

/// What is done with a large message at the end of a conversation, by a provider that counts this many tokens for a
/// thousand bytes.
async fn action_on_large_message(tokens: u64) -> String {
    let mut options = options(counting(tokens).await);
    let table = format!("[models.{MODEL}]\nwindow = {WINDOW}\n");
    options.models = ModelTable::builtin().extended_with(&table).unwrap();
    let gateway = Gateway::start(options).await.unwrap();
    let mut messages = Vec::new();
    let mut answer = String::new();
    for turn in 0..6 {
        let words = if turn == 5 { 18_000 } else { 1_500 };
        messages.push(json!({"role": "user", "content": format!("{turn}: {}", prose(words))}));
        answer = send(&gateway, &messages).await;
        let reply: Value = serde_json::from_str(body_of(&answer)).unwrap();
        messages.push(json!({"role": "assistant", "content": reply["content"]}));
        // What a reply teaches is known when it is recorded.
        caught_up(gateway.addr(), turn + 1).await;
    }
    gateway.stop().await;
    header(&answer, "x-longhaul-action").unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x4_the_expected_size_of_a_request_is_scaled_by_what_replies_have_measured() {
    // Prose has about 220 tokens in a thousand bytes: the last message has some 22,000 tokens, and all fit.
    assert_eq!(action_on_large_message(220).await, "passed");
    // By a provider that counts twice as many it has 44,000, and the request would not fit.
    assert_ne!(action_on_large_message(440).await, "passed");
}
