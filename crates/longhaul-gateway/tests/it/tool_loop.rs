//! A model that keeps calling tools: the user sends one message at the beginning, and nothing more.

use longhaul_gateway::front::UpstreamChoice;
use serde_json::json;

use super::echo::{Rest, echoing};
use super::endless::{Endless, small_windows, world};

async fn in_one_loop(model: &'static str, turns: usize) {
    let (behind, seen) = echoing(small_windows(), Rest::Never, "", "").await;
    let url = behind.url();
    let gateway = world(|options| {
        options.upstream = UpstreamChoice::Url(url.parse().unwrap());
    })
    .await;
    let mut client = Endless::new(&gateway, model).await;
    client.go_on(&json!({"content": []}));
    for turn in 0..turns {
        let reply = client.turn().await;
        assert_eq!(reply["stop_reason"], "tool_use", "turn {turn}: {reply}");
        client.go_on(&reply);
    }
    assert_eq!(client.said.len(), 1, "the user said one thing");
    let total = behind.with_world(|world| world.usage_log().total);
    assert_eq!(total.errors, 0, "each result stood behind its call");
    assert!(client.largest < 40_000);
    let summaries = seen.lock().unwrap().summaries;
    println!(
        "{model}: {turns} turns in one loop, {summaries} summaries, largest prompt {} tokens",
        client.largest
    );
    assert!(summaries > 1, "the loop was summed up while it ran");
    gateway.stop().await;
    behind.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x8_a_loop_of_tool_calls_is_summed_up_while_it_runs() {
    in_one_loop("claude-sonnet-4-6", 200).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn n2_x8_so_is_one_of_a_model_that_binds_thinking() {
    in_one_loop("claude-opus-5-5", 200).await;
}
