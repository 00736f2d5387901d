//! No request waits for a summary that is made ahead; and what happens after time has passed.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::{SignedDuration, Timestamp};
use longhaul::Clock;
use longhaul_core::economy::EconomyPolicy;
use longhaul_gateway::branch::Tenants;
use longhaul_gateway::front::{GatewayOptions, UpstreamChoice};
use longhaul_gateway::store::{GatewayStorage, InMemoryStore, PrefixStore, UsageLogStore};
use serde_json::{Value, json};

use super::echo::{Rest, echoing};
use super::endless::{Endless, refused, small_windows, world};
use super::gate::Gate;
use super::support::{caught_up, sessions_when};

async fn goes_on_meanwhile(model: &'static str) {
    let (behind, _) = echoing(small_windows(), Rest::Sometimes, "", "").await;
    let gate = Gate::before(behind.addr()).await;
    let store = Arc::new(InMemoryStore::new().unwrap());
    let kept = Arc::clone(&store) as Arc<dyn GatewayStorage>;
    let gateway = world(|options| {
        *options = GatewayOptions {
            models: small_windows(),
            ..GatewayOptions::new(
                UpstreamChoice::Url(gate.url.parse().unwrap()),
                kept,
                Tenants::passing(),
            )
        };
    })
    .await;
    let mut client = Endless::new(&gateway, model).await;
    client.go_on(&json!({"content": []}));
    while gate.arrived() == 0 {
        let reply = client.turn().await;
        client.go_on(&reply);
        caught_up(gateway.addr(), client.actions.len()).await;
    }
    // The summary does not arrive, whatever is asked; every turn is answered all the same.
    let before = client.actions.len();
    for _ in 0..3 {
        let reply = client.turn().await;
        client.go_on(&reply);
    }
    assert!(client.actions[before..].iter().all(|last| last == "passed"));
    assert_eq!(gate.arrived(), 1);
    gate.open();
    let session = loop {
        let sessions = UsageLogStore::sessions(&*store, 1).await.unwrap();
        let id = sessions.first().map(|row| row.session.parse().unwrap());
        if let Some(id) = id
            && !store.made(id, 10).await.unwrap().is_empty()
        {
            break id;
        }
        tokio::task::yield_now().await;
    };
    // Once it is stored it is known, and from then on used.
    while client.actions.last().unwrap() == "passed" {
        let reply = client.turn().await;
        client.go_on(&reply);
    }
    let made = store.made(session, 10).await.unwrap();
    assert!(
        made.iter().all(|made| made.waited.is_none()),
        "nobody waited"
    );
    gateway.stop().await;
    assert_eq!(behind.with_world(|world| world.usage_log().total.errors), 0);
    behind.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x8_no_request_waits_while_a_summary_is_made_ahead() {
    goes_on_meanwhile("claude-sonnet-4-6").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn n2_x8_nor_where_thinking_is_bound() {
    goes_on_meanwhile("claude-opus-5-5").await;
}

/// The machine's clock, set forward.
#[derive(Default)]
pub(crate) struct Forward(pub(crate) AtomicI64);

impl Clock for Forward {
    fn now(&self) -> Timestamp {
        Timestamp::now() + SignedDuration::from_mins(self.0.load(Ordering::Relaxed))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u3_x8_after_an_hour_of_rest_old_results_are_cleared_and_before_that_none() {
    let clock = Arc::new(Forward::default());
    let gateway = world(|options| {
        options.clock = Arc::clone(&clock) as Arc<dyn Clock>;
        // Where prices decide, they decide about this, too.
        options.config.economy = EconomyPolicy::Off;
    })
    .await;
    let mut client = Endless::new(&gateway, "claude-sonnet-4-6").await;
    client.go_on(&json!({"content": []}));
    for _ in 0..12 {
        let reply = client.turn().await;
        client.go_on(&reply);
    }
    // The time of a response is recorded off the path.
    let written = async |calls: usize| {
        let all = |all: &Value| all["sessions"][0]["calls"].as_u64() == Some(calls as u64);
        sessions_when(gateway.addr(), all).await;
    };
    written(12).await;
    clock.0.store(59, Ordering::Relaxed);
    let reply = client.turn().await;
    client.go_on(&reply);
    assert!(client.actions.iter().all(|action| action == "passed"));
    written(13).await;
    clock.0.store(59 + 61, Ordering::Relaxed);
    let reply = client.turn().await;
    client.go_on(&reply);
    assert_eq!(client.actions.last().unwrap(), "cleared");
    // What was cleared stays cleared.
    client.turn().await;
    assert_eq!(client.actions.last().unwrap(), "cleared");
    assert_eq!(refused(&gateway), 0);
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x9_x8_a_model_that_hangs_over_its_summary_hangs_no_client() {
    let (behind, _) = echoing(small_windows(), Rest::Sometimes, "", "").await;
    let gate = Gate::before(behind.addr()).await;
    let gateway = world(|options| {
        options.upstream = UpstreamChoice::Url(gate.url.parse().unwrap());
        options.timeouts.summary = std::time::Duration::from_millis(300);
    })
    .await;
    let mut client = Endless::new(&gateway, "claude-sonnet-4-6").await;
    client.go_on(&json!({"content": []}));
    // The gate is never opened: no summary ever arrives, and the window fills all the same.
    while !client.actions.iter().any(|action| action == "extracted") {
        let reply = client.turn().await;
        client.go_on(&reply);
    }
    assert!(gate.arrived() > 0);
    gate.open();
    gateway.stop().await;
    behind.stop().await;
}
