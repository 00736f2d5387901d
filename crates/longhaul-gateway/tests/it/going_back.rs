//! A client sends an earlier request again and then goes on where it was: what is sent for both must be right at first,
//! also where thinking is bound to the messages before it (N2).

use serde_json::{Value, json};

use super::endless::{Endless, refused, world};
use super::support::caught_up;

/// How many requests are sent again, each further back.
const BACK: usize = 12;

/// Takes turns until something has been made smaller, and some more. Returns the messages of each request.
async fn worked(client: &mut Endless, after: usize, calls: impl AsyncFn(usize)) -> Vec<Vec<Value>> {
    let mut sent = Vec::new();
    client.go_on(&json!({"content": []}));
    let mut left = after;
    while left > 0 {
        sent.push(client.messages.clone());
        let reply = client.turn().await;
        client.go_on(&reply);
        calls(client.actions.len()).await;
        let is_passed = client.actions.last().is_some_and(|last| last == "passed");
        left -= usize::from(!is_passed);
    }
    sent
}

async fn goes_back(model: &'static str, after: usize) {
    let gateway = world(|_| {}).await;
    let mut client = Endless::new(&gateway, model).await;
    let sent = worked(&mut client, after, async |calls| {
        caught_up(gateway.addr(), calls).await;
    })
    .await;
    let mut calls = sent.len();
    for earlier in sent.iter().rev().take(BACK) {
        let mut again = client.twin(&gateway).await;
        again.messages = earlier.clone();
        again.turn().await;
        calls += 1;
        caught_up(gateway.addr(), calls).await;
        let reply = client.turn().await;
        client.go_on(&reply);
        calls += 1;
        caught_up(gateway.addr(), calls).await;
        assert_eq!(
            refused(&gateway),
            0,
            "after going back to {} messages",
            earlier.len()
        );
    }
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn n2_x8_a_client_that_goes_back_and_then_on_is_never_refused() {
    for after in [2, 5] {
        goes_back("claude-opus-5-5", after).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x8_nor_where_thinking_is_not_bound() {
    goes_back("claude-sonnet-4-6", 3).await;
}
