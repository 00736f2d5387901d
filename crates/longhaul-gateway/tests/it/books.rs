//! The usage log across restarts: what is recognized again, and what is left alone.

use std::sync::Arc;

use longhaul_gateway::branch::Tenants;
use longhaul_gateway::front::{Gateway, GatewayOptions, UpstreamChoice};
use longhaul_gateway::store::{SqliteStore, StoreError};
use serde_json::json;

use super::support::{self, answering, exchange, header, post};

#[test]
fn x8_a_store_of_a_later_version_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("books.sqlite");
    drop(SqliteStore::open(&path).unwrap());
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    assert!(matches!(
        SqliteStore::open(&path),
        Err(StoreError::Newer { found: 99, .. })
    ));
    std::fs::write(
        folder.path().join("text"),
        "not a database, but long enough to be taken for one".repeat(40),
    )
    .unwrap();
    assert!(matches!(
        SqliteStore::open(&folder.path().join("text")),
        Err(StoreError::Open { .. })
    ));
}

#[tokio::test]
async fn x8_a_gateway_that_starts_again_knows_the_conversations() {
    const ORGANIZED: &str = "HTTP/1.1 200 OK\r\nanthropic-organization-id: org-1\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
    let (url, _) = answering(ORGANIZED).await;
    let folder = tempfile::tempdir().unwrap();
    let start = || async {
        let store = Arc::new(SqliteStore::open(&folder.path().join("books.sqlite")).unwrap());
        let tenants = Tenants::of_file(&folder.path().join("secret")).unwrap();
        Gateway::start(GatewayOptions::new(
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
    // Another key of the same organization continues it too, once the organization is known; a stranger's key does not.
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
