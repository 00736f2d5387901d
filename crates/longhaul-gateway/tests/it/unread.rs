//! New results that nearly fill the window, of every size: the model must get to read them, and nothing may be refused,
//! also where thinking is bound to the messages before it.

use serde_json::json;

use super::endless::{Endless, refused, world};
use super::support::caught_up;

/// A model whose thinking is bound to the messages before it.
const BINDS: &str = "claude-opus-5-5";

/// Text that has many tokens for its length, and repeats nothing.
pub(crate) fn dense(length: usize, seed: u64) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut letter = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(LETTERS[(state % 64) as usize])
    };
    (0..length).map(|_| letter()).collect()
}

/// A session whose results are small, but for every fifth, which is as large as given.
async fn reads(model: &'static str, large: usize) {
    reads_of(model, &[4_000, 4_000, 4_000, 4_000, large]).await;
}

/// A session whose results have these sizes, over and over.
async fn reads_of(model: &'static str, sizes: &[usize]) {
    const TURNS: usize = 14;
    let gateway = world(|_| {}).await;
    let mut client = Endless::new(&gateway, model).await;
    client.go_on(&json!({"content": []}));
    for turn in 0..TURNS {
        let reply = client.turn().await;
        // What is made ahead is there before the next request comes.
        caught_up(gateway.addr(), turn + 1).await;
        let sent = client.messages.len() - 1;
        let is_answer = client.messages[sent - 1]["content"][0]["type"] == "tool_result";
        // The model's last message before this reply, and the results that answer it.
        let unread = sent - if is_answer { 2 } else { 1 };
        // Where thinking is bound, what is replaced ends with the model's last message, but holds its text.
        let extended = usize::from(is_answer && model == BINDS);
        assert!(
            client.replaced <= unread + extended,
            "{model}, {sizes:?} letters, turn {turn}: {} of {sent} messages were replaced, and nobody had read the newest",
            client.replaced
        );
        let calls = reply["content"].as_array().unwrap().iter();
        let has_calls = calls.clone().any(|block| block["type"] == "tool_use");
        match has_calls {
            true => {
                let length = sizes[turn % sizes.len()];
                client.answer_calls(&reply, &dense(length, turn as u64 + 1));
            }
            false => client.go_on(&reply),
        }
    }
    assert_eq!(refused(&gateway), 0, "{model}, {sizes:?} letters");
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v4_x8_new_results_that_nearly_fill_the_window_are_read_by_the_model() {
    for large in (6_000..60_000).step_by(4_500) {
        reads("claude-sonnet-4-6", large).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn n2_v4_x8_so_they_are_by_a_model_that_binds_thinking_and_nothing_is_refused() {
    for large in (6_000..60_000).step_by(4_500) {
        reads(BINDS, large).await;
    }
}

/// A summary was made ahead, and restored files; what comes next is larger than the room that it left.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v4_x8_new_results_are_read_where_a_summary_stands_for_everything_before_them() {
    for model in ["claude-sonnet-4-6", BINDS] {
        for small in [3_000, 5_000, 7_000, 9_000] {
            for large in (14_000..44_000).step_by(5_000) {
                reads_of(model, &[small, small, small, large]).await;
            }
        }
    }
}
