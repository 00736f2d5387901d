//! The store in a file: what an earlier version wrote, what is durable, who may read it.

use bytes::Bytes;
use jiff::Timestamp;
use longhaul_gateway::branch::{BranchId, GatewaySessionId, Tenant};
use longhaul_gateway::store::{
    CompactedPrefix, CompactedPrefixKind, PrefixProvenance, PrefixReport, PrefixStore, SqliteStore,
    UsageLogStore,
};

use super::support::{opened, sealed};

/// The tables as the first version created them.
const FIRST: &str = include_str!("store_file_1.sql");

fn rewrite() -> CompactedPrefix {
    CompactedPrefix {
        tenant: Tenant(1),
        at: 2,
        messages: 3,
        text: Bytes::from_static(b"{}"),
        root: None,
        summary: 0,
        lines: Bytes::new(),
        cleared: Vec::new(),
        derived: None,
        settled: true,
        made: PrefixProvenance {
            session: GatewaySessionId(3),
            line: BranchId(2),
            at: Timestamp::from_millisecond(1_800_000_000_000).unwrap(),
            kind: CompactedPrefixKind::Cleared,
            before: 2,
            after: 1,
            millis: 0,
            waited: None,
            cost: None,
            report: PrefixReport::default(),
        },
    }
}

#[tokio::test]
async fn x8_books_of_the_first_version_are_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("books.sqlite");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch(FIRST).unwrap();
    drop(connection);
    let store = SqliteStore::open(&path).unwrap();
    let [session] = &store.sessions(10).await.unwrap()[..] else {
        panic!("one session");
    };
    assert_eq!(
        (session.calls, session.saved_tokens, session.compactions),
        (1, 0, 0)
    );
    let calls = store.calls(GatewaySessionId(7), 10).await.unwrap();
    assert!(!calls[0].1.rewritten);
    store.put(sealed(rewrite())).await.unwrap();
    drop(store);
    let again = SqliteStore::open(&path).unwrap();
    assert_eq!(
        opened(again.find(Tenant(1), vec![2], 0).await.unwrap()),
        Some(rewrite())
    );
}

#[tokio::test]
async fn x8_a_rewrite_that_is_used_counts_as_new() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("books.sqlite");
    let store = SqliteStore::open(&path).unwrap();
    store.put(sealed(rewrite())).await.unwrap();
    let age = || {
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection
            .execute("UPDATE rewrite SET used = 5", [])
            .unwrap();
    };
    age();
    store.find(Tenant(1), vec![2], 0).await.unwrap().unwrap();
    let before = Timestamp::from_millisecond(10).unwrap();
    assert_eq!(store.purge(before).await.unwrap().rewrites, 0);
    age();
    assert_eq!(store.purge(before).await.unwrap().rewrites, 1);
}

#[cfg(unix)]
#[tokio::test]
async fn x8_what_conversations_said_is_readable_by_its_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&folder.path().join("books.sqlite")).unwrap();
    store.put(sealed(rewrite())).await.unwrap();
    let files: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert!(files.len() >= 2, "the file and its log");
    for file in files {
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}", file.path().display());
    }
}
