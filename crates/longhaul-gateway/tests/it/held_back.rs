//! A summary that was made ahead is held back until the threshold is reached. Until then a new result may be sent with
//! either beginning, so it refers only to results that are in view with both (V8).

use std::sync::Arc;

use longhaul_core::economy::EconomyPolicy;
use longhaul_gateway::branch::Tenants;
use longhaul_gateway::front::{Gateway, GatewayOptions, UpstreamChoice};
use longhaul_gateway::store::{GatewayStorage, InMemoryStore, PrefixStore, UsageLogStore};
use serde_json::json;

use super::echo::{Rest, echoing};
use super::endless::{Endless, small_windows, world};
use super::support::caught_up;

/// A result that differs from all others.
fn new_result(number: usize) -> String {
    format!("line of result {number} with words in it\n").repeat(60)
}

/// Whether a summary was made.
async fn is_prepared(store: &InMemoryStore) -> bool {
    let sessions = UsageLogStore::sessions(store, 1).await.unwrap();
    let Some(row) = sessions.first() else {
        return false;
    };
    let made = store.made(row.session.parse().unwrap(), 10).await.unwrap();
    !made.is_empty()
}

/// Works with new results until a summary is prepared. Returns the reply that is to be answered next.
async fn work_until_prepared(
    client: &mut Endless,
    gateway: &Gateway,
    store: &InMemoryStore,
) -> serde_json::Value {
    for number in 0.. {
        let reply = client.turn().await;
        caught_up(gateway.addr(), client.actions.len()).await;
        assert_eq!(client.actions.last().unwrap(), "passed");
        if is_prepared(store).await {
            return reply;
        }
        client.answer_calls(&reply, &new_result(number));
    }
    unreachable!("the loop has no end")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v8_x8_a_result_refers_to_nothing_that_a_summary_held_back_leaves_out() {
    let (behind, _) = echoing(small_windows(), Rest::Never, "", "").await;
    let store = Arc::new(InMemoryStore::new().unwrap());
    let kept = Arc::clone(&store) as Arc<dyn GatewayStorage>;
    let gateway = world(|options| {
        let upstream = UpstreamChoice::Url(behind.url().parse().unwrap());
        *options = GatewayOptions {
            models: small_windows(),
            ..GatewayOptions::new(upstream, kept, Tenants::passing())
        };
        options.config.economy = EconomyPolicy::Off;
    })
    .await;
    let mut client = Endless::new(&gateway, "claude-sonnet-4-6").await;
    client.go_on(&json!({"content": []}));
    let same = "one line of the output of a command\n".repeat(60);
    for reduced in [0, 0, 1] {
        let reply = client.turn().await;
        assert_eq!(
            client.reduced, reduced,
            "it is in view, so a pointer is enough"
        );
        client.answer_calls(&reply, &same);
    }
    let reply = work_until_prepared(&mut client, &gateway, &store).await;
    let before = client.reduced;
    client.answer_calls(&reply, &same);
    let reply = client.turn().await;
    assert_eq!(
        client.actions.last().unwrap(),
        "passed",
        "the summary is held back"
    );
    assert_eq!(client.reduced, before, "the result was sent as it came");
    // It came after the summary, so it is in view with both beginnings.
    client.answer_calls(&reply, &same);
    client.turn().await;
    assert_eq!(client.reduced, before + 1);
    gateway.stop().await;
    behind.stop().await;
}
