//! A store that is damaged, deleted, or cannot be written to.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use longhaul_gateway::branch::{GatewaySessionId, Tenant, Tenants};
use longhaul_gateway::front::{Gateway, GatewayOptions, UpstreamChoice};
use longhaul_gateway::store::{
    Claim, CompactedPrefix, GatewayStorage, InMemoryStore, PrefixListing, PrefixMakingId,
    PrefixProvenance, PrefixStore, Sealed, SqliteStore, StoreError, StoreHealth,
};
use serde_json::{Value, json};

use super::endless::{small_windows, world};
use super::managed::{body, talk};
use super::support::{body_of, exchange, header, post, sessions_when};

const HEADERS: &str =
    "x-api-key: k\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n";

async fn on_file(path: &Path, upstream: &str) -> Gateway {
    let store: Arc<dyn GatewayStorage> = Arc::new(SqliteStore::open(path).unwrap());
    let upstream = UpstreamChoice::Url(upstream.parse().unwrap());
    let tenants = Tenants::of_file(&path.with_extension("secret")).unwrap();
    let mut options = GatewayOptions::new(upstream, store, tenants);
    options.models = small_windows();
    Gateway::start(options).await.unwrap()
}

async fn ask(gateway: &Gateway, path: &str, body: &Value) -> (String, Value) {
    let answer = exchange(gateway.addr(), &post(path, HEADERS, &body.to_string())).await;
    let said = serde_json::from_str(body_of(&answer)).unwrap();
    (answer, said)
}

/// How many tokens would be sent for a conversation that does not fit.
async fn counted(gateway: &Gateway) -> u64 {
    let mut asked = body(&talk(120));
    asked.as_object_mut().unwrap().remove("max_tokens");
    let (_, count) = ask(gateway, "/v1/messages/count_tokens", &asked).await;
    count["input_tokens"].as_u64().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_summary_is_dropped_and_the_clients_own_messages_are_sent() {
    let behind = world(|options| options.policies.rules = vec!["off".parse().unwrap()]).await;
    for damage in [
        // Changed at the same length, and cut short; a wrong length; one history's prefix for another's.
        "UPDATE rewrite SET text = CAST(replace(CAST(text AS TEXT), 'user', 'uzer') AS BLOB)",
        "UPDATE rewrite SET text = substr(text, 1, length(text) - 9)",
        "UPDATE rewrite SET summary = summary - 1",
        "UPDATE rewrite SET messages = messages + 1",
        "UPDATE rewrite SET seal = x'00'",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("books.sqlite");
        let gateway = on_file(&path, &behind.url()).await;
        let (answer, _) = ask(&gateway, "/v1/messages", &body(&talk(120))).await;
        let action = header(&answer, "x-longhaul-action");
        assert_eq!(action.as_deref(), Some("extracted"));
        gateway.stop().await;
        let connection = rusqlite::Connection::open(&path).unwrap();
        assert!(connection.execute(damage, []).unwrap() > 0);
        drop(connection);
        let gateway = on_file(&path, &behind.url()).await;
        assert!(counted(&gateway).await > 40_000, "{damage}");
        // A new one is made, and it is intact.
        let (answer, said) = ask(&gateway, "/v1/messages", &body(&talk(120))).await;
        assert_eq!(said["type"], "message", "{answer}");
        assert!(counted(&gateway).await < 30_000, "{damage}");
        gateway.stop().await;
    }
    behind.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn summaries_of_earlier_versions_are_dropped_and_counted() {
    let behind = world(|options| options.policies.rules = vec!["off".parse().unwrap()]).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("books.sqlite");
    let gateway = on_file(&path, &behind.url()).await;
    ask(&gateway, "/v1/messages", &body(&talk(120))).await;
    gateway.stop().await;
    let connection = rusqlite::Connection::open(&path).unwrap();
    let unsealed = connection.execute("UPDATE rewrite SET seal = NULL", []);
    drop(connection);
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(store.dropped(), unsealed.unwrap() as u64);
    assert!(store.index().await.unwrap().unwrap().is_empty());
    drop(store);
    assert_eq!(SqliteStore::open(&path).unwrap().dropped(), 0);
    behind.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_is_deleted_while_in_use_is_opened_anew() {
    let behind = world(|options| options.policies.rules = vec!["off".parse().unwrap()]).await;
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("gateway");
    let path = inner.join("books.sqlite");
    let gateway = on_file(&path, &behind.url()).await;
    ask(&gateway, "/v1/messages", &body(&talk(1))).await;
    sessions_when(gateway.addr(), |all| all["sessions"][0]["calls"] == 1).await;
    for whole in [false, true] {
        if whole {
            std::fs::remove_dir_all(&inner).unwrap()
        } else {
            std::fs::remove_file(&path).unwrap()
        }
        // The usage log continues, and so do summaries.
        let (answer, _) = ask(&gateway, "/v1/messages", &body(&talk(120))).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        sessions_when(gateway.addr(), |all| all["sessions"][0]["calls"] == 1).await;
        assert!(path.exists());
    }
    let (answer, _) = ask(&gateway, "/v1/messages", &body(&talk(121))).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    gateway.stop().await;
    let written = rusqlite::Connection::open(&path).unwrap();
    let rows: i64 = written
        .query_row("SELECT count(*) FROM call", [], |row| row.get(0))
        .unwrap();
    assert!(rows >= 1);
    behind.stop().await;
}

/// A prefix store that accepts nothing while it is full.
struct Full {
    kept: InMemoryStore,
    is_full: AtomicBool,
    puts: AtomicUsize,
}

impl Full {
    fn refused<T>(&self) -> Result<T, StoreError> {
        Err(StoreError::Failed("no space left on device".to_owned()))
    }
}

impl StoreHealth for Full {
    fn probe(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        if self.is_full.load(Ordering::SeqCst) {
            Box::pin(std::future::ready(self.refused()))
        } else {
            self.kept.probe()
        }
    }
}

impl PrefixStore for Full {
    fn put(&self, rewrite: Sealed<CompactedPrefix>) -> BoxFuture<'_, Result<(), StoreError>> {
        self.puts.fetch_add(1, Ordering::SeqCst);
        if self.is_full.load(Ordering::SeqCst) {
            Box::pin(std::future::ready(self.refused()))
        } else {
            self.kept.put(rewrite)
        }
    }

    fn find(
        &self,
        tenant: Tenant,
        at: Vec<u128>,
        least: u32,
    ) -> BoxFuture<'_, Result<Option<Sealed<CompactedPrefix>>, StoreError>> {
        self.kept.find(tenant, at, least)
    }

    fn discard(&self, tenant: Tenant, at: u128) -> BoxFuture<'_, Result<(), StoreError>> {
        self.kept.discard(tenant, at)
    }

    fn index(&self) -> BoxFuture<'_, Result<Option<Vec<PrefixListing>>, StoreError>> {
        self.kept.index()
    }

    fn claim(&self, key: u64) -> BoxFuture<'_, Result<Option<Box<dyn Claim>>, StoreError>> {
        self.kept.claim(key)
    }

    fn made(
        &self,
        session: GatewaySessionId,
        most: usize,
    ) -> BoxFuture<'_, Result<Vec<PrefixProvenance>, StoreError>> {
        self.kept.made(session, most)
    }

    fn made_as(
        &self,
        made: PrefixMakingId,
    ) -> BoxFuture<'_, Result<Option<Sealed<CompactedPrefix>>, StoreError>> {
        self.kept.made_as(made)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o2_after_three_summaries_that_could_not_be_kept_none_is_bought_until_one_can_be() {
    let behind = world(|options| options.policies.rules = vec!["off".parse().unwrap()]).await;
    let full = Arc::new(Full {
        kept: InMemoryStore::new().unwrap(),
        is_full: AtomicBool::new(true),
        puts: AtomicUsize::new(0),
    });
    let upstream = UpstreamChoice::Url(behind.url().parse().unwrap());
    let store: Arc<dyn GatewayStorage> = Arc::new(InMemoryStore::new().unwrap());
    let mut options = GatewayOptions::new(upstream, store, Tenants::passing());
    options.models = small_windows();
    options.prefix_store = Arc::clone(&full) as Arc<dyn PrefixStore>;
    let gateway = Gateway::start(options).await.unwrap();
    // Each is a separate conversation that fits, and after which a summary is due.
    let mut asked = 0;
    let mut long = async || {
        let mut messages = talk(50);
        messages[0] = json!({"role": "user", "content": format!("number {asked}")});
        asked += 1;
        let (answer, _) = ask(&gateway, "/v1/messages", &body(&messages)).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    };
    let puts = || full.puts.load(Ordering::SeqCst);
    for number in 1..=3 {
        long().await;
        while puts() < number {
            tokio::task::yield_now().await;
        }
    }
    for _ in 0..5 {
        long().await;
    }
    full.is_full.store(false, Ordering::SeqCst);
    // The gateway probes from time to time whether one can be stored.
    while puts() == 3 {
        long().await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let asked = asked as u64;
    gateway.stop().await;
    // Every summary that was paid for was then stored, or the attempt was made.
    let sim = behind.simulated().unwrap();
    let requests = sim.with_world(|world| world.usage_log().total.requests);
    assert_eq!(requests, asked + puts() as u64);
    behind.stop().await;
}
