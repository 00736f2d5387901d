//! What is written down, and for how long.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use longhaul_core::message::Usage;
use longhaul_core::money::Usd;
use longhaul_gateway::front::{Gateway, Options, UpstreamChoice};
use longhaul_gateway::line::{Chain, LineId, SessionId, Tenant, Tenants};
use longhaul_gateway::store::{CallRecord, Ended, LineRecord, Record, Sqlite, Store, StoreError};
use serde_json::json;

use super::support::{self, answering, exchange, header, post};

fn line(number: u64, seen: Timestamp) -> LineRecord {
    LineRecord {
        line: LineId(number),
        tenant: Tenant(u64::MAX),
        session: SessionId(number | 1),
        parent: None,
        chain: Chain {
            hash: u128::from(number) << 100,
            messages: 3,
            answered: true,
        },
        model: "m".to_owned(),
        agent: false,
        seen,
    }
}

fn call(at: Timestamp) -> CallRecord {
    CallRecord {
        at,
        model: "m".to_owned(),
        messages: 3,
        status: 200,
        ended: Ended::Whole,
        millis: 12,
        usage: Some(Usage {
            input: 1,
            cache_read: 2,
            cache_write_1h: 3,
            output: 4,
            ..Usage::default()
        }),
        cost: Some(Usd::from_pico(2_500_000_000)),
        finding: Some("cache broke".to_owned()),
    }
}

#[tokio::test]
async fn x8_the_books_say_again_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("books.sqlite");
    let now = Timestamp::from_millisecond(1_800_000_000_000).unwrap();
    {
        let store = Sqlite::open(&path).unwrap();
        let batch = vec![
            Record::Line(line(2, now)),
            Record::Line(line(3, now)),
            Record::Call(Some(LineId(2)), Box::new(call(now))),
            Record::Call(None, Box::new(call(now))),
            Record::Tenant(Tenant(5), Tenant(6)),
        ];
        store.append(batch).await.unwrap();
    }
    let store = Sqlite::open(&path).unwrap();
    let known = store.known(10).await.unwrap();
    assert_eq!(known.lines.len(), 2);
    assert!(
        known
            .lines
            .iter()
            .any(|restored| restored.line == LineId(2) && restored.chain == line(2, now).chain)
    );
    assert_eq!(known.tenants, [(Tenant(5), Tenant(6))]);
    let [session] = &store.sessions(10).await.unwrap()[..] else {
        panic!("two lines, one session");
    };
    assert_eq!(
        (
            session.lines,
            session.calls,
            session.cache_write_tokens,
            session.findings
        ),
        (2, 1, 3, 1)
    );
    assert!((session.cost_usd - 0.0025).abs() < 1e-12);
    assert_eq!(
        store.calls(SessionId(3), 10).await.unwrap(),
        [(LineId(2), call(now))]
    );
}

#[tokio::test]
async fn x8_what_is_too_old_is_deleted() {
    let store = Sqlite::open(&tempfile::tempdir().unwrap().path().join("books.sqlite")).unwrap();
    let now = Timestamp::from_millisecond(1_800_000_000_000).unwrap();
    let old = now - SignedDuration::from_hours(48);
    let batch = vec![
        Record::Line(line(2, old)),
        Record::Line(line(8, now)),
        Record::Call(Some(LineId(2)), Box::new(call(old))),
        Record::Call(Some(LineId(8)), Box::new(call(now))),
    ];
    store.append(batch).await.unwrap();
    let purged = store
        .purge(now - SignedDuration::from_hours(24))
        .await
        .unwrap();
    assert_eq!((purged.lines, purged.calls), (1, 1));
    assert_eq!(store.sessions(10).await.unwrap().len(), 1);
}

#[test]
fn x8_a_store_of_a_later_version_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("books.sqlite");
    drop(Sqlite::open(&path).unwrap());
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    assert!(matches!(
        Sqlite::open(&path),
        Err(StoreError::Newer { found: 99, .. })
    ));
    std::fs::write(
        folder.path().join("text"),
        "not a database, but long enough to be taken for one".repeat(40),
    )
    .unwrap();
    assert!(matches!(
        Sqlite::open(&folder.path().join("text")),
        Err(StoreError::Open { .. })
    ));
}

#[tokio::test]
async fn x8_a_gateway_that_starts_again_knows_the_conversations() {
    const ORGANISED: &str = "HTTP/1.1 200 OK\r\nanthropic-organization-id: org-1\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
    let (url, _) = answering(ORGANISED).await;
    let folder = tempfile::tempdir().unwrap();
    let start = || async {
        let store = Arc::new(Sqlite::open(&folder.path().join("books.sqlite")).unwrap());
        let tenants = Tenants::of_file(&folder.path().join("secret")).unwrap();
        Gateway::start(Options::new(
            UpstreamChoice::Url(url.clone()),
            store,
            tenants,
        ))
        .await
        .unwrap()
    };
    let first = json!([{"role": "user", "content": "a"}]);
    let later = json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]);
    let gateway = start().await;
    let one = exchange(
        gateway.addr(),
        &post("/v1/messages", "x-api-key: k\r\n", &support::body(&first)),
    )
    .await;
    gateway.stop().await;
    let gateway = start().await;
    let two = exchange(
        gateway.addr(),
        &post("/v1/messages", "x-api-key: k\r\n", &support::body(&later)),
    )
    .await;
    assert_eq!(
        header(&two, "x-longhaul-line"),
        header(&one, "x-longhaul-line")
    );
    assert_eq!(
        header(&two, "x-longhaul-note").as_deref(),
        Some("2 messages more")
    );
    // Another key of the same organisation goes on too, once the organisation is known; a stranger's does not.
    exchange(
        gateway.addr(),
        &post(
            "/v1/messages",
            "x-api-key: rotated\r\n",
            &support::body(&json!([{"role": "user", "content": "else"}])),
        ),
    )
    .await;
    let three = exchange(
        gateway.addr(),
        &post(
            "/v1/messages",
            "x-api-key: rotated\r\n",
            &support::body(&later),
        ),
    )
    .await;
    assert_eq!(
        header(&three, "x-longhaul-line"),
        header(&one, "x-longhaul-line")
    );
    gateway.stop().await;
}
