//! A runtime that ends before the gateway does takes nothing down with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use longhaul_gateway::branch::{BranchId, GatewaySessionId, Tenants};
use longhaul_gateway::front::{Gateway, GatewayOptions, UpstreamChoice};
use longhaul_gateway::store::{
    CallRecord, InMemoryStore, LatencyRow, PurgeCounts, SessionRow, SpendQuery, SpendRow,
    StartupState, StoreError, StoreHealth, UsageLogRecord, UsageLogStore,
};
use serde_json::json;

use super::support::{self, REPLY, answering, exchange, post};

/// A store that never finishes writing, like one on a server that does not respond.
struct Slow {
    kept: InMemoryStore,
    begun: Arc<AtomicUsize>,
}

impl StoreHealth for Slow {
    fn probe(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        self.kept.probe()
    }
}

impl UsageLogStore for Slow {
    fn append(&self, _: Vec<UsageLogRecord>) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            self.begun.fetch_add(1, Ordering::SeqCst);
            loop {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        })
    }

    fn known(&self, most: usize) -> BoxFuture<'_, Result<StartupState, StoreError>> {
        self.kept.known(most)
    }

    fn sessions(&self, most: usize) -> BoxFuture<'_, Result<Vec<SessionRow>, StoreError>> {
        self.kept.sessions(most)
    }

    fn session(
        &self,
        session: GatewaySessionId,
    ) -> BoxFuture<'_, Result<Option<SessionRow>, StoreError>> {
        self.kept.session(session)
    }

    fn calls(
        &self,
        session: GatewaySessionId,
        most: usize,
    ) -> BoxFuture<'_, Result<Vec<(BranchId, CallRecord)>, StoreError>> {
        self.kept.calls(session, most)
    }

    fn unplaced(&self, most: usize) -> BoxFuture<'_, Result<Vec<CallRecord>, StoreError>> {
        self.kept.unplaced(most)
    }

    fn spend(&self, query: SpendQuery) -> BoxFuture<'_, Result<Vec<SpendRow>, StoreError>> {
        self.kept.spend(query)
    }

    fn latency(
        &self,
        since: Timestamp,
        until: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<LatencyRow>, StoreError>> {
        self.kept.latency(since, until)
    }

    fn purge(&self, before: Timestamp) -> BoxFuture<'_, Result<PurgeCounts, StoreError>> {
        self.kept.purge(before)
    }
}

#[test]
fn x8_the_books_do_not_panic_where_the_runtime_ends_first() {
    let panics = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&panics);
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() == Some("longhaul-books") {
            counted.fetch_add(1, Ordering::SeqCst);
        }
        usual(panic);
    }));
    let begun = Arc::new(AtomicUsize::new(0));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let slow = Arc::new(Slow {
        kept: InMemoryStore::new().unwrap(),
        begun: Arc::clone(&begun),
    });
    let books = Arc::downgrade(&slow);
    let gateway = runtime.block_on(async {
        let (url, _) = answering(REPLY).await;
        let kept = Arc::new(InMemoryStore::new().unwrap());
        let mut options = GatewayOptions::new(UpstreamChoice::Url(url), kept, Tenants::passing());
        options.store = slow;
        let gateway = Gateway::start(options).await.unwrap();
        let body = support::body(&json!([{"role": "user", "content": "a"}]));
        let request = post("/v1/messages", "x-api-key: k\r\n", &body);
        exchange(gateway.addr(), &request).await;
        gateway
    });
    while begun.load(Ordering::SeqCst) == 0 {
        std::thread::yield_now();
    }
    runtime.shutdown_background();
    drop(gateway);
    // The thread has ended when no one holds the store any more.
    while books.strong_count() > 0 {
        std::thread::yield_now();
    }
    assert_eq!(panics.load(Ordering::SeqCst), 0);
}
