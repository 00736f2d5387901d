//! Cache breaks that the gateway caused itself are reported as its own: never as an edit of the client, and never as
//! the provider's fault.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use longhaul::Clock;
use longhaul_core::models::ModelTable;
use longhaul_gateway::front::{Gateway, UpstreamChoice};
use serde_json::{Value, json};

use super::endless::{Endless, world};
use super::long::{gateway, with_window};
use super::patience::Forward;
use super::support::{body_of, caught_up, get, sessions_when};

/// The findings of all calls of all sessions.
async fn findings(gateway: &Gateway, calls: usize) -> Vec<String> {
    caught_up(gateway.addr(), calls).await;
    let sessions = sessions_when(gateway.addr(), |_| true).await;
    let mut found = Vec::new();
    for row in sessions["sessions"].as_array().unwrap() {
        let id = row["session"].as_str().unwrap();
        let answer = get(gateway.addr(), &format!("/longhaul/api/sessions/{id}")).await;
        let session: Value = serde_json::from_str(body_of(&answer)).unwrap();
        let calls = session["calls"].as_array().unwrap().iter();
        found.extend(calls.filter_map(|call| call["finding"].as_str().map(str::to_owned)));
    }
    found
}

/// Checks that every finding is the gateway's doing, and that this one is among them.
fn are_our_own(found: &[String], done: &str) {
    for finding in found {
        assert!(finding.contains("the gateway"), "{finding}");
        for blamed in ["the provider dropped it", "edited", "removed", "inserted"] {
            assert!(!finding.contains(blamed), "{finding}");
        }
    }
    assert!(
        found.iter().any(|finding| finding.contains(done)),
        "{done}: {found:#?}"
    );
}

async fn turns(client: &mut Endless, gateway: &Gateway, turns: usize) {
    for _ in 0..turns {
        let reply = client.turn().await;
        client.go_on(&reply);
        caught_up(gateway.addr(), client.actions.len()).await;
    }
}

async fn until(client: &mut Endless, gateway: &Gateway, action: &str) {
    while client.actions.last().is_none_or(|last| last != action) {
        turns(client, gateway, 1).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d2_x8_a_summary_that_comes_into_use_is_told_as_the_gateways_doing() {
    let gateway = world(|_| {}).await;
    let mut client = Endless::new(&gateway, "claude-sonnet-4-6").await;
    client.go_on(&json!({"content": []}));
    until(&mut client, &gateway, "summarised").await;
    turns(&mut client, &gateway, 2).await;
    let found = findings(&gateway, client.actions.len()).await;
    are_our_own(&found, "put a summary in place of older messages");
    let metrics = get(gateway.addr(), "/metrics").await;
    let counted = "longhaul_cache_findings_total{cause=\"rewritten\"}";
    assert!(metrics.contains(counted), "{metrics}");
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d2_x8_clearing_is_told_as_the_gateways_doing_on_a_branch_too() {
    let clock = Arc::new(Forward::default());
    let gateway = world(|options| options.clock = Arc::clone(&clock) as Arc<dyn Clock>).await;
    let mut client = Endless::new(&gateway, "claude-sonnet-4-6").await;
    client.go_on(&json!({"content": []}));
    turns(&mut client, &gateway, 12).await;
    let mut branch = client.twin(&gateway).await;
    // After an hour old results are cleared: on the branch, and on one that forked from it before that.
    clock.0.store(61, Ordering::Relaxed);
    turns(&mut client, &gateway, 1).await;
    assert_eq!(client.actions.last().unwrap(), "cleared");
    let newest = branch.messages.last_mut().unwrap();
    let blocks = newest["content"].as_array_mut().unwrap();
    blocks.push(json!({"type": "text", "text": "Do something else."}));
    branch.turn().await;
    let found = findings(&gateway, client.actions.len() + 1).await;
    are_our_own(&found, "cleared old tool results");
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d2_o3_x8_a_recovery_is_told_as_the_gateways_doing() {
    // The real window is smaller than the gateway knows.
    let (small, _) = with_window("claude-sonnet-4-6", 20_000);
    let behind = gateway(small, |options| {
        options.policies.rules = vec!["off".parse().unwrap()];
    })
    .await;
    let url = behind.url();
    let gateway = gateway(ModelTable::builtin(), |options| {
        options.upstream = UpstreamChoice::Url(url.parse().unwrap());
    })
    .await;
    let mut client = Endless::new(&gateway, "claude-sonnet-4-6").await;
    client.go_on(&json!({"content": []}));
    until(&mut client, &gateway, "recovered").await;
    turns(&mut client, &gateway, 1).await;
    let found = findings(&gateway, client.actions.len()).await;
    are_our_own(&found, "in place of older messages");
    gateway.stop().await;
    behind.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d2_x8_a_conversation_that_is_replayed_is_told_as_the_gateways_doing() {
    let gateway = world(|_| {}).await;
    let mut client = Endless::new(&gateway, "claude-sonnet-4-6").await;
    client.go_on(&json!({"content": []}));
    until(&mut client, &gateway, "summarised").await;
    turns(&mut client, &gateway, 1).await;
    let mut calls = client.actions.len();
    // Do the same again, from a point before the summary and from one after it.
    for share in [2, 1] {
        let mut replay = client.twin(&gateway).await;
        let asked = |message: &Value| message["role"] == "user";
        replay.messages.truncate(client.messages.len() / share);
        while !replay.messages.last().is_some_and(asked) {
            replay.messages.pop();
        }
        replay.turn().await;
        calls += 1;
        caught_up(gateway.addr(), calls).await;
    }
    let found = findings(&gateway, calls).await;
    are_our_own(&found, "put a summary in place of older messages");
    gateway.stop().await;
}
