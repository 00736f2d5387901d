//! The shared store by itself: who creates it, who holds a claim, what a restart of the server does.

use std::sync::Arc;

use http::HeaderMap;
use jiff::Timestamp;
use longhaul_gateway::branch::{BranchId, GatewaySessionId, HistoryChain, Tenant};
use longhaul_gateway::front::{Gateway, GatewayOptions, UpstreamChoice};
use longhaul_gateway::store::{
    BranchRecord, CallEnding, CallRecord, GatewayStorage, NotesStore, PeerStore, PostgresStore,
    PrefixStore, StoreError, StoreHealth, UsageLogRecord, UsageLogStore,
};
use longhaul_testkit::postgres::{database, private_database};

use super::support::{REPLY, answering, body, exchange, post};

const MINE: Tenant = Tenant(7);

fn line(messages: u32, millis: i64) -> UsageLogRecord {
    UsageLogRecord::Line(BranchRecord {
        line: BranchId(1),
        tenant: MINE,
        session: GatewaySessionId(2),
        parent: None,
        chain: HistoryChain {
            hash: u128::from(messages),
            messages,
            answered: messages > 1,
        },
        model: "with a \0 in it".to_owned(),
        agent: false,
        seen: Timestamp::from_millisecond(millis).unwrap(),
        title: Some("with a \0 in it".to_owned()),
    })
}

fn call() -> UsageLogRecord {
    UsageLogRecord::Call(
        Some(BranchId(1)),
        Box::new(CallRecord {
            at: Timestamp::from_millisecond(1_800_000_000_000).unwrap(),
            model: "with a \0 in it".to_owned(),
            messages: 1,
            status: 200,
            ended: CallEnding::Whole,
            millis: 1,
            usage: None,
            cost: None,
            finding: None,
            saved: 0,
            rewritten: false,
            partial: false,
            caller: longhaul_gateway::calling_agent::CallingAgent::default(),
            began: None,
            error: Some("with a \0 in it".to_owned()),
            breakpoints: None,
            origin: longhaul_gateway::store::CallOrigin::default(),
        }),
    )
}

#[tokio::test]
async fn x8_gateways_that_start_at_once_make_one_store_and_one_secret() {
    let Some(database) = database() else { return };
    let opening = (0..6).map(|_| PostgresStore::open(database.url()));
    let stores = futures_util::future::join_all(opening).await;
    let tenants: Vec<Tenant> = stores
        .into_iter()
        .map(|store| store.unwrap().tenants().of_key(&HeaderMap::new()))
        .collect();
    assert!(tenants.iter().all(|tenant| *tenant == tenants[0]));
    let later = PostgresStore::open(database.url()).await.unwrap().tenants();
    assert_eq!(later.of_key(&HeaderMap::new()), tenants[0]);
}

#[tokio::test]
async fn x8_a_database_of_a_later_version_is_left_alone() {
    let Some(database) = database() else { return };
    drop(PostgresStore::open(database.url()).await.unwrap());
    database.execute("INSERT INTO longhaul.version (version) VALUES (99)");
    let refused = PostgresStore::open(database.url()).await;
    assert!(matches!(refused, Err(StoreError::Newer { found: 99, .. })));
}

#[tokio::test]
async fn n8_what_cannot_be_reached_is_said_without_the_password() {
    let urls = [
        "postgres://me:hunter2@127.0.0.1:1/books",
        "postgres://me:hunter2@127.0.0.1:1/books?sslmode=no-such",
        "postgres://me:hunter2@127.0.0.1:port/books",
        "postgres://me:hunter2@[::1/books",
    ];
    for url in urls {
        let error = PostgresStore::open(url).await.unwrap_err();
        let told = format!("{error} {error:?}");
        assert!(matches!(error, StoreError::Open { .. }), "{told}");
        assert!(!told.contains("hunter2"), "{told}");
    }
    let Some(database) = database() else { return };
    let store = PostgresStore::open(database.url()).await.unwrap();
    assert!(!format!("{store:?}").contains("secret: ["), "{store:?}");
}

#[tokio::test]
async fn x8_of_two_gateways_one_works_and_a_dead_one_holds_nothing() {
    let Some(database) = database() else { return };
    let url = database.url().to_owned();
    let two = PostgresStore::open(&url).await.unwrap();
    // To the server, the first looks like a separate process: a runtime that ends closes its sockets.
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let first = runtime.spawn(async move {
        let one = PostgresStore::open(&url).await.unwrap();
        let claim = one.claim(5).await.unwrap().unwrap();
        (one, claim)
    });
    let (one, claim) = first.await.unwrap();
    assert!(two.claim(5).await.unwrap().is_none());
    let other = two.claim(6).await.unwrap();
    assert!(other.is_some());
    runtime.shutdown_background();
    drop((one, claim));
    let got = when_free(&two, 5).await;
    // Now the second loses its connection: its claims are free, and it can claim again.
    let three = PostgresStore::open(database.url()).await.unwrap();
    assert!(three.claim(5).await.unwrap().is_none());
    database.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE application_name = 'longhaul claims' AND datname = current_database()",
    );
    let taken = when_free(&three, 5).await;
    assert!(when_free(&two, 8).await.is_some());
    drop((got, other, taken));
}

type Claimed = Option<Box<dyn longhaul_gateway::store::Claim>>;

async fn when_free(store: &PostgresStore, key: u64) -> Claimed {
    loop {
        let claim = store.claim(key).await.unwrap();
        if claim.is_some() {
            return claim;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn x8_a_line_is_known_by_every_head_it_had() {
    let Some(database) = database() else { return };
    let store = PostgresStore::open(database.url()).await.unwrap();
    store
        .append(vec![line(1, 1_000), line(3, 2_000)])
        .await
        .unwrap();
    let other = PostgresStore::open(database.url()).await.unwrap();
    other.append(vec![line(5, 3_000)]).await.unwrap();
    // This record comes late: the branch keeps its tip.
    store.append(vec![line(3, 2_000)]).await.unwrap();
    let heads = |at: &[u128]| other.branch_tips_at(MINE, at.to_vec());
    let messages = |heads: Vec<longhaul_gateway::branch::RestoredBranch>| -> Vec<u32> {
        heads.iter().map(|head| head.chain.messages).collect()
    };
    assert_eq!(messages(heads(&[1, 3, 5, 7]).await.unwrap()), [5]);
    assert_eq!(messages(heads(&[1, 3, 99]).await.unwrap()), [3, 5]);
    assert!(heads(&[99]).await.unwrap().is_empty());
    let strangers = other
        .branch_tips_at(Tenant(8), vec![1, 3, 5])
        .await
        .unwrap();
    assert!(strangers.is_empty());
    store
        .append(vec![UsageLogRecord::Tenant(MINE, Tenant(9))])
        .await
        .unwrap();
    for tenant in [MINE, Tenant(9)] {
        let found = other.branch_tips_at(tenant, vec![3]).await.unwrap();
        assert_eq!(messages(found), [3, 5]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x8_a_server_that_starts_again_is_used_again_and_nothing_is_written_twice() {
    const BATCHES: usize = 60;
    let Some(database) = private_database() else {
        return;
    };
    let store = Arc::new(PostgresStore::open(database.url()).await.unwrap());
    let claim = store.claim(1).await.unwrap();
    assert!(claim.is_some());
    store.append(vec![line(1, 1_000)]).await.unwrap();
    let writing: Vec<_> = (0..3)
        .map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                for _ in 0..BATCHES {
                    store.append(vec![call(), line(1, 1_000)]).await.unwrap();
                }
            })
        })
        .collect();
    let database = tokio::task::spawn_blocking(move || {
        database.server().restart();
        database.server().restart();
        database
    })
    .await
    .unwrap();
    for written in writing {
        written.await.unwrap();
    }
    let calls = store.calls(GatewaySessionId(2), 1_000).await.unwrap();
    assert_eq!(calls.len(), 3 * BATCHES);
    let heads = store.branch_tips_at(MINE, vec![1]).await.unwrap();
    assert_eq!(heads.len(), 1);
    assert!(store.claim(2).await.unwrap().is_some());
    drop((claim, database));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x8_a_server_that_is_gone_is_waited_for_once_and_then_left_alone() {
    let Some(database) = private_database() else {
        return;
    };
    let store = PostgresStore::open(database.url()).await.unwrap();
    let claim = store.claim(1).await.unwrap();
    assert!(
        store
            .branch_tips_at(MINE, vec![1])
            .await
            .unwrap()
            .is_empty()
    );
    let database = tokio::task::spawn_blocking(move || {
        database.server().stop();
        database
    })
    .await
    .unwrap();
    // The first caller notices.
    let first = store.branch_tips_at(MINE, vec![1]).await;
    assert!(matches!(first, Err(StoreError::NoAnswer(_))), "{first:?}");
    // No one else waits, whatever is requested.
    assert!(store.is_backing_off());
    let resting = |error: StoreError| matches!(error, StoreError::Resting);
    assert!(resting(
        store.branch_tips_at(MINE, vec![1]).await.unwrap_err()
    ));
    assert!(resting(store.find(MINE, vec![1], 0).await.unwrap_err()));
    assert!(resting(store.find_notes(MINE, vec![1]).await.unwrap_err()));
    assert!(resting(store.claim(2).await.err().unwrap()));
    assert!(resting(store.probe().await.unwrap_err()));
    assert!(resting(store.sessions(1).await.unwrap_err()));
    let database = tokio::task::spawn_blocking(move || {
        database.server().restart();
        database
    })
    .await
    .unwrap();
    // It is probed again automatically.
    while store.branch_tips_at(MINE, vec![1]).await.is_err() {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert!(!store.is_backing_off());
    assert!(store.find(MINE, vec![1], 0).await.unwrap().is_none());
    drop((claim, database));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x8_requests_are_answered_while_the_shared_store_is_gone() {
    let Some(database) = private_database() else {
        return;
    };
    let (url, _) = answering(REPLY).await;
    let store = Arc::new(PostgresStore::open(database.url()).await.unwrap());
    let tenants = store.tenants();
    let kept: Arc<dyn GatewayStorage> = Arc::clone(&store) as Arc<dyn GatewayStorage>;
    let mut options = GatewayOptions::new(UpstreamChoice::Url(url), kept, tenants);
    options.peers = Some(Arc::clone(&store) as Arc<dyn PeerStore>);
    let gateway = Gateway::start(options).await.unwrap();
    let said = |number: usize| {
        let messages = serde_json::json!([{"role": "user", "content": format!("{number}")}]);
        post("/v1/messages", "x-api-key: k\r\n", &body(&messages))
    };
    let answer = exchange(gateway.addr(), &said(0)).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let database = tokio::task::spawn_blocking(move || {
        database.server().stop();
        database
    })
    .await
    .unwrap();
    for number in 1..12 {
        let answer = exchange(gateway.addr(), &said(number)).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(
            number > 1 || store.is_backing_off(),
            "found out by the first"
        );
    }
    let database = tokio::task::spawn_blocking(move || {
        database.server().restart();
        database
    })
    .await
    .unwrap();
    gateway.stop().await;
    drop(database);
}
