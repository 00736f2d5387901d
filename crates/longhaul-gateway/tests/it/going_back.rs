//! A client sends an earlier request again and then goes on where it was: what is sent for both must be right at first,
//! also where thinking is bound to the messages before it (N2).

use serde_json::{Value, json};

use super::endless::{Endless, refused, world};
use super::support::caught_up;
use super::unread::dense;

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

/// The tokens of a reply's prompt.
fn prompt(reply: &Value) -> u64 {
    let names = [
        "input_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
    ];
    let counts = names.map(|name| reply["usage"][name].as_u64().unwrap_or(0));
    counts.iter().sum()
}

/// A result of another kind than the one before it, so that nothing tells exactly how many tokens it has.
fn varied(turn: usize, length: usize) -> String {
    let chinese = |at: usize| char::from_u32(0x4E00 + (at * 7_919 + turn) as u32 % 20_000).unwrap();
    match turn % 4 {
        0 => "The parser keeps what it cannot read. ".repeat(length / 38),
        1 => dense(length / 2, turn as u64 + 1),
        2 => (0..length / 4).map(chinese).collect(),
        _ => (0..length / 30)
            .map(|at| format!("    let value_{at} = read({turn})?;\n"))
            .collect(),
    }
}

/// Sends each request twice, in a session that reaches the threshold at another place for each size of its results.
async fn sends_twice(model: &'static str, length: usize) {
    let gateway = world(|_| {}).await;
    let mut client = Endless::new(&gateway, model).await;
    client.go_on(&json!({"content": []}));
    for turn in 0..24 {
        let mut again = client.twin(&gateway).await;
        let reply = client.turn().await;
        caught_up(gateway.addr(), 2 * turn + 1).await;
        let repeated = again.turn().await;
        caught_up(gateway.addr(), 2 * turn + 2).await;
        assert_eq!(
            (prompt(&repeated), again.actions.last()),
            (prompt(&reply), client.actions.last()),
            "{model}, {length} letters, turn {turn}"
        );
        let has_calls =
            (reply["content"].as_array().unwrap().iter()).any(|block| block["type"] == "tool_use");
        match has_calls {
            true => client.answer_calls(&reply, &varied(turn, length)),
            false => client.go_on(&reply),
        }
    }
    assert_eq!(refused(&gateway), 0, "{model}, {length} letters");
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x8_a_request_that_is_sent_again_is_sent_as_the_first_time() {
    for length in (5_000..9_000).step_by(500) {
        for model in ["claude-sonnet-4-6", "claude-opus-5-5"] {
            sends_twice(model, length).await;
        }
    }
}
