//! A conversation is summarized once, however many clients ask at the same time, and by another gateway if the one that
//! does it dies.

use std::sync::Arc;

use longhaul_gateway::branch::Tenants;
use longhaul_gateway::front::{Gateway, GatewayOptions, UpstreamChoice};
use longhaul_gateway::store::{CompactedPrefixKind, GatewayStorage, InMemoryStore, UsageLogStore};
use longhaul_sim::server::SimServer;
use serde_json::{Value, json};

use super::echo::{Rest, echoing};
use super::endless::{Endless, small_windows};
use super::gate::Gate;
use super::managed::{body, talk};
use super::support::{caught_up, exchange, header, post};
use super::together::Shared;

/// More turns than fit in a window.
const MANY: usize = 400;

fn managed(mut options: GatewayOptions, upstream: &str) -> GatewayOptions {
    options.upstream = UpstreamChoice::Url(upstream.parse().unwrap());
    options.models = small_windows();
    options
}

/// A gateway that assumes larger windows than there are.
fn unaware(options: GatewayOptions, upstream: &str) -> GatewayOptions {
    GatewayOptions {
        models: longhaul_core::models::ModelTable::builtin(),
        ..managed(options, upstream)
    }
}

/// A gateway with its usage log in memory, which the test reads too.
async fn alone(upstream: &str) -> (Gateway, Arc<dyn GatewayStorage>) {
    let store: Arc<dyn GatewayStorage> = Arc::new(InMemoryStore::new().unwrap());
    let options = GatewayOptions::new(
        UpstreamChoice::Simulated,
        Arc::clone(&store),
        Tenants::passing(),
    );
    let gateway = Gateway::start(managed(options, upstream)).await.unwrap();
    (gateway, store)
}

/// How often conversations were summarized in total.
async fn summed_up(store: &dyn GatewayStorage) -> usize {
    let mut count = 0;
    for session in UsageLogStore::sessions(store, 100).await.unwrap() {
        let made = store.made(session.session.parse().unwrap(), 100).await;
        let made = made.unwrap().into_iter();
        count += made
            .filter(|made| {
                matches!(
                    made.kind,
                    CompactedPrefixKind::Summarized | CompactedPrefixKind::Extracted
                )
            })
            .count();
    }
    count
}

/// Two clients that send the same at the same time, until a summary is requested.
async fn until_one_is_asked_for(
    gate: &Gate,
    gateway: &Gateway,
    first: &mut Endless,
    second: &mut Endless,
) {
    first.go_on(&json!({"content": []}));
    for _ in 0..MANY {
        second.messages.clone_from(&first.messages);
        let (reply, _) = tokio::join!(first.turn(), second.turn());
        first.go_on(&reply);
        caught_up(gateway.addr(), 2 * first.actions.len()).await;
        if gate.arrived() > 0 {
            return;
        }
    }
    panic!("no summary was ever asked for");
}

fn nothing_was_refused(world: &SimServer) {
    assert_eq!(world.with_world(|world| world.usage_log().total.errors), 0);
}

async fn twins_at_one_gateway(model: &'static str) {
    let (behind, _) = echoing(small_windows(), Rest::Sometimes, "", "").await;
    let gate = Gate::before(behind.addr()).await;
    let (gateway, store) = alone(&gate.url).await;
    let mut first = Endless::new(&gateway, model).await;
    let mut second = first.twin(&gateway).await;
    until_one_is_asked_for(&gate, &gateway, &mut first, &mut second).await;
    // The summary has not arrived yet, and the window is still nearly full: both notice that again.
    second.messages.clone_from(&first.messages);
    tokio::join!(first.turn(), second.turn());
    gate.open();
    gateway.stop().await;
    assert_eq!((gate.arrived(), summed_up(&*store).await), (1, 1));
    nothing_was_refused(&behind);
    behind.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x8_two_requests_at_once_are_summed_up_once() {
    twins_at_one_gateway("claude-sonnet-4-6").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn n2_x8_so_are_two_on_a_model_that_binds_thinking() {
    twins_at_one_gateway("claude-opus-5-5").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x8_two_requests_at_two_gateways_are_summed_up_once() {
    for model in ["claude-sonnet-4-6", "claude-opus-5-5"] {
        let Some(shared) = Shared::with(small_windows()).await else {
            return;
        };
        let gate = Gate::before(shared.world().addr()).await;
        let options = [shared.options().await, shared.options().await];
        let [one, two] = options.map(|options| managed(options, &gate.url));
        let one = Gateway::start(one).await.unwrap();
        let two = Gateway::start(two).await.unwrap();
        let mut first = Endless::new(&one, model).await;
        let mut second = first.twin(&two).await;
        until_one_is_asked_for(&gate, &one, &mut first, &mut second).await;
        second.messages.clone_from(&first.messages);
        tokio::join!(first.turn(), second.turn());
        gate.open();
        one.stop().await;
        two.stop().await;
        let store = longhaul_gateway::store::PostgresStore::open(shared.database_url()).await;
        assert_eq!((gate.arrived(), summed_up(&store.unwrap()).await), (1, 1));
        nothing_was_refused(shared.world());
    }
}

/// A history that is too long from the start, sent to both at once; the summary arrives after both were rejected.
async fn both_recover(
    world: &SimServer,
    gate: &Gate,
    gateways: [&Gateway; 2],
    body: &Value,
) -> [String; 2] {
    let headers =
        "x-api-key: k\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n";
    let request = post("/v1/messages", headers, &body.to_string());
    let [one, two] = gateways.map(|gateway| exchange(gateway.addr(), &request));
    let opening = async {
        while world.with_world(|world| world.usage_log().total.errors) < 2 {
            tokio::task::yield_now().await;
        }
        gate.open();
        std::future::pending::<()>().await;
    };
    tokio::select! {
        answers = async { tokio::join!(one, two) } => answers.into(),
        () = opening => unreachable!(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o3_x8_two_that_are_too_long_at_once_are_summed_up_once() {
    let (behind, _) = echoing(small_windows(), Rest::Sometimes, "", "").await;
    let gate = Gate::before(behind.addr()).await;
    let store: Arc<dyn GatewayStorage> = Arc::new(InMemoryStore::new().unwrap());
    let options = GatewayOptions::new(
        UpstreamChoice::Simulated,
        Arc::clone(&store),
        Tenants::passing(),
    );
    let gateway = Gateway::start(unaware(options, &gate.url)).await.unwrap();
    let answers = both_recover(&behind, &gate, [&gateway, &gateway], &body(&talk(120))).await;
    for answer in answers {
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        let action = header(&answer, "x-longhaul-action");
        assert_eq!(action.as_deref(), Some("recovered"), "{answer}");
    }
    gateway.stop().await;
    assert_eq!(summed_up(&*store).await, 1);
    behind.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o3_x8_at_two_gateways_too() {
    let Some(shared) = Shared::with(small_windows()).await else {
        return;
    };
    let gate = Gate::before(shared.world().addr()).await;
    let options = [shared.options().await, shared.options().await];
    let [one, two] = options.map(|options| unaware(options, &gate.url));
    let one = Gateway::start(one).await.unwrap();
    let two = Gateway::start(two).await.unwrap();
    let answers = both_recover(shared.world(), &gate, [&one, &two], &body(&talk(120))).await;
    for answer in answers {
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    one.stop().await;
    two.stop().await;
    let store = longhaul_gateway::store::PostgresStore::open(shared.database_url()).await;
    assert_eq!(summed_up(&store.unwrap()).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x8_when_a_gateway_dies_summing_up_another_does_it() {
    let Some(shared) = Shared::with(small_windows()).await else {
        return;
    };
    let gate = Gate::before(shared.world().addr()).await;
    // Everything on this separate runtime ends immediately with it, as with a process.
    let dying = tokio::runtime::Runtime::new().unwrap();
    let (database, upstream) = (shared.database_url().to_owned(), gate.url.clone());
    let starting = async move {
        let options = Shared::options_on(&database, &upstream).await;
        Gateway::start(managed(options, &upstream)).await
    };
    let one = dying.spawn(starting).await.unwrap().unwrap();
    let two = managed(shared.options().await, &gate.url);
    let two = Gateway::start(two).await.unwrap();
    let mut client = Endless::new(&one, "claude-opus-5-5").await;
    client.go_on(&json!({"content": []}));
    for _ in 0..MANY {
        let reply = client.turn().await;
        client.go_on(&reply);
        caught_up(two.addr(), client.actions.len()).await;
        if gate.arrived() > 0 {
            break;
        }
    }
    assert_eq!(gate.arrived(), 1, "one holds the claim, and asks");
    dying.shutdown_background();
    std::mem::forget(one);
    client.reconnect(&two).await;
    gate.open();
    for _ in 0..MANY {
        let reply = client.turn().await;
        client.go_on(&reply);
        if client.actions.last().is_some_and(|last| last != "passed") {
            break;
        }
    }
    two.stop().await;
    let store = longhaul_gateway::store::PostgresStore::open(shared.database_url()).await;
    assert_eq!(summed_up(&store.unwrap()).await, 1, "{:?}", client.actions);
    assert_eq!(gate.arrived(), 2);
    nothing_was_refused(shared.world());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn y2_x8_what_one_gateway_made_the_other_sends_to_the_byte() {
    for model in ["claude-sonnet-4-6", "claude-opus-5-5"] {
        let Some(shared) = Shared::with(small_windows()).await else {
            return;
        };
        let url = shared.world().url();
        let options = [shared.options().await, shared.options().await];
        let [one, two] = options.map(|options| managed(options, &url));
        let one = Gateway::start(one).await.unwrap();
        let two = Gateway::start(two).await.unwrap();
        let mut client = Endless::new(&one, model).await;
        client.go_on(&json!({"content": []}));
        // Until a summary is in use, and the next one is far off.
        for _ in 0..MANY {
            let reply = client.turn().await;
            client.go_on(&reply);
            let (read, prompt) = prompt_of(&reply);
            let replaced = client.actions.last().is_some_and(|last| last != "passed");
            if replaced && read > 4_000 && prompt < 16_000 {
                break;
            }
        }
        let mut before = 0;
        for turn in 0..6 {
            client.reconnect([&two, &one][turn % 2]).await;
            let reply = client.turn().await;
            client.go_on(&reply);
            let (read, prompt) = prompt_of(&reply);
            // The next summary may come into use, and break the cache as planned; but not in the first turn here.
            let is_new = turn > 0 && prompt < std::mem::replace(&mut before, prompt);
            assert!(
                is_new || read > 4_000 && read * 2 > prompt,
                "{model}, turn {turn}: {}",
                reply["usage"]
            );
        }
        nothing_was_refused(shared.world());
        one.stop().await;
        two.stop().await;
    }
}

/// The tokens of a prompt that were read from the cache, and all of them.
fn prompt_of(reply: &Value) -> (u64, u64) {
    let count = |name: &str| reply["usage"][name].as_u64().unwrap();
    let read = count("cache_read_input_tokens");
    let others = count("cache_creation_input_tokens") + count("input_tokens");
    (read, read + others)
}
