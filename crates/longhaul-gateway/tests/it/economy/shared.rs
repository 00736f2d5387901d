//! Nothing is stored for decisions by price: gateways on one store, a gateway that was started again and one that lost
//! its store decide by the messages of a request (V9).

use std::sync::Arc;

use longhaul_core::models::ModelTable;
use longhaul_gateway::branch::Tenants;
use longhaul_gateway::front::{Gateway, GatewayOptions, UpstreamChoice};
use longhaul_gateway::store::{GatewayStorage, SqliteStore};
use serde_json::json;

use super::script::{NEEDLE, Script, ScriptUpstream, messages};
use crate::echo::{Rest, echoing};
use crate::endless::Endless;
use crate::support::{header, options};
use crate::together::Shared;

const TURNS: usize = 45;
const SCRIPTS: [Script; 3] = [Script::SONNET, Script::OPUS, Script::CHAT];

/// What one gateway sends for the conversation.
async fn sent_by_one(script: Script, upstream: &ScriptUpstream) -> Vec<String> {
    let gateway = upstream.gateway(options(upstream.url.clone())).await;
    let decisions = script.decisions(&gateway, TURNS).await;
    assert!(decisions.len() >= 2, "{script:?}: {decisions:?}");
    gateway.stop().await;
    upstream.take()
}

fn assert_same(script: Script, expected: &[String], sent: &[String]) {
    assert_eq!(expected.len(), sent.len(), "{script:?}");
    for (turn, (expected, sent)) in expected.iter().zip(sent).enumerate() {
        assert!(expected == sent, "{script:?}, turn {turn}: other bytes");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v9_two_gateways_that_alternate_on_one_store_send_identical_bytes() {
    for script in SCRIPTS {
        let Some(shared) = Shared::with(ModelTable::builtin()).await else {
            return;
        };
        let upstream = script.upstream().await;
        let expected = sent_by_one(script, &upstream).await;
        let mut gateways = Vec::new();
        for _ in 0..2 {
            gateways.push(upstream.gateway(shared.options().await).await);
        }
        let mut decided = [0, 0];
        for turn in 0..TURNS {
            // Runs of different lengths, so that decisions of each are used by the other.
            let which = usize::from(turn % 5 > 2);
            let answer = script.send(&gateways[which], turn).await;
            decided[which] += usize::from(header(&answer, "x-longhaul-economy").is_some());
        }
        println!("{}: decisions {decided:?}", script.model);
        assert_same(script, &expected, &upstream.take());
        for gateway in gateways {
            gateway.stop().await;
        }
    }
}

async fn with_file(upstream: &ScriptUpstream, file: &std::path::Path) -> Gateway {
    let store: Arc<dyn GatewayStorage> = Arc::new(SqliteStore::open(file).unwrap());
    let tenants = Tenants::of_file(&file.with_extension("secret")).unwrap();
    let options = GatewayOptions::new(UpstreamChoice::Simulated, store, tenants);
    upstream.gateway(options).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v9_a_gateway_that_is_started_again_sends_identical_bytes() {
    for script in SCRIPTS {
        let upstream = script.upstream().await;
        let expected = sent_by_one(script, &upstream).await;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("books.sqlite");
        let mut gateway = with_file(&upstream, &file).await;
        for turn in 0..TURNS {
            if turn % 4 == 3 {
                gateway.stop().await;
                gateway = with_file(&upstream, &file).await;
            }
            script.send(&gateway, turn).await;
        }
        gateway.stop().await;
        assert_same(script, &expected, &upstream.take());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v9_a_clearing_is_stored_as_ids_and_hashes_and_not_as_a_copy_of_the_history() {
    for script in SCRIPTS {
        let upstream = script.upstream().await;
        let folder = tempfile::tempdir().unwrap();
        let gateway = with_file(&upstream, &folder.path().join("books.sqlite")).await;
        let decisions = script.decisions(&gateway, TURNS).await;
        assert!(!decisions.is_empty());
        gateway.stop().await;
        let newest = upstream.take().pop().unwrap();
        let kept = newest.matches(NEEDLE).count();
        let whole = script.body(TURNS - 1).to_string().matches(NEEDLE).count();
        assert!(kept > 0 && kept < whole, "{kept} of {whole} are sent");
        for file in std::fs::read_dir(folder.path()).unwrap() {
            let file = file.unwrap().path();
            let bytes = std::fs::read(&file).unwrap();
            let found = memchr::memmem::find(&bytes, NEEDLE.as_bytes());
            assert_eq!(found, None, "{}", file.display());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v9_after_its_store_is_lost_a_gateway_decides_by_the_messages_again() {
    for script in SCRIPTS {
        let upstream = script.upstream().await;
        let folder = tempfile::tempdir().unwrap();
        let mut gateway = with_file(&upstream, &folder.path().join("one.sqlite")).await;
        let mut decided = Vec::new();
        for turn in 0..TURNS {
            if turn == 30 {
                gateway.stop().await;
                gateway = with_file(&upstream, &folder.path().join("two.sqlite")).await;
            }
            let answer = script.send(&gateway, turn).await;
            decided.push(header(&answer, "x-longhaul-economy").is_some());
        }
        gateway.stop().await;
        assert!(decided[30], "what was cleared before is found to pay again");
        let sent: Vec<_> = (upstream.take().iter())
            .map(|body| messages(body))
            .collect();
        for turn in (1..TURNS).filter(|turn| !decided[*turn]) {
            let (before, now) = (&sent[turn - 1], &sent[turn]);
            assert!(
                now.starts_with(before),
                "{script:?}: without a decision, turn {turn} continues what was sent"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn n2_v9_bound_thinking_survives_a_lost_store() {
    let (world, _) = echoing(ModelTable::builtin(), Rest::Sometimes, "", "").await;
    let url: url::Url = world.url().parse().unwrap();
    let fresh = async || Gateway::start(options(url.clone())).await.unwrap();
    let one = fresh().await;
    let mut client = Endless::new(&one, "claude-opus-5-5").await;
    client.go_on(&json!({"content": []}));
    for turn in 0..130 {
        if turn == 112 {
            let two = fresh().await;
            client.reconnect(&two).await;
            // It stays until the test ends.
            std::mem::forget(two);
        }
        let reply = client.turn().await;
        client.go_on(&reply);
    }
    let cleared = |actions: &[String]| actions.iter().any(|action| action == "cleared");
    let (before, after) = client.actions.split_at(112);
    assert!(cleared(before) && cleared(after), "{:?}", client.actions);
    one.stop().await;
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn v9_a_clearing_that_cannot_be_stored_is_not_used() {
    let Some(database) = longhaul_testkit::postgres::private_database() else {
        return;
    };
    let script = Script::SONNET;
    let upstream = script.upstream().await;
    let options = Shared::options_on(database.url(), upstream.url.as_str()).await;
    let gateway = Gateway::start(options).await.unwrap();
    assert_eq!(script.decisions(&gateway, 3).await, Vec::<String>::new());
    database.server().stop();
    for turn in [30, 31] {
        let answer = script.send(&gateway, turn).await;
        assert_eq!(header(&answer, "x-longhaul-economy"), None);
        let sent = upstream.take().pop().unwrap();
        assert_eq!(sent, script.body(turn).to_string());
    }
    drop(gateway);
}
