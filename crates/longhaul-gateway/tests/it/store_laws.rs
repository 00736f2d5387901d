//! The requirements on every store: the same tests run on each kind.

mod notes_and_recall;
mod prefixes;
mod spend;

use std::sync::Arc;

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use longhaul_core::message::Usage;
use longhaul_core::money::Usd;
use longhaul_gateway::branch::{BranchId, GatewaySessionId, HistoryChain, Tenant};
use longhaul_gateway::calling_agent::{AgentRunId, CallingAgent};
use longhaul_gateway::store::{
    BranchRecord, CallEnding, CallOrigin, CallRecord, CallSpan, CompactedPrefix,
    CompactedPrefixKind, DerivedRest, GatewayStorage, HistoryHash, InMemoryStore, NotesRecord,
    NotesStore, PostgresStore, PrefixMakingId, PrefixProvenance, PrefixReport, PrefixStore,
    RecallRecord, RecallStore, SpendDetail, SpendQuery, SqliteStore, StrippedSpan, UsageLogRecord,
    UsageLogStore,
};
use longhaul_testkit::postgres::{TestDatabase, database};

use super::support::{opened, sealed};

/// A store under test, with everything that must live as long as it.
struct Under {
    name: &'static str,
    store: Arc<dyn UsageLogStore>,
    shelf: Arc<dyn PrefixStore>,
    notes: Arc<dyn NotesStore>,
    recall: Arc<dyn RecallStore>,
    /// Whether other processes may use it too.
    shared: bool,
    _kept: Option<Kept>,
}

enum Kept {
    File(#[expect(dead_code, reason = "deleted when dropped")] tempfile::TempDir),
    Database(#[expect(dead_code, reason = "deleted when dropped")] TestDatabase),
}

impl Under {
    fn new<S: GatewayStorage>(name: &'static str, store: S, kept: Option<Kept>) -> Self {
        let store = Arc::new(store);
        Self {
            name,
            shelf: Arc::clone(&store) as Arc<dyn PrefixStore>,
            notes: Arc::clone(&store) as Arc<dyn NotesStore>,
            recall: Arc::clone(&store) as Arc<dyn RecallStore>,
            store,
            shared: false,
            _kept: kept,
        }
    }
}

/// Every kind of store, empty.
async fn each() -> Vec<Under> {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(&folder.path().join("books.sqlite")).unwrap();
    let mut each = vec![
        Under::new("memory", InMemoryStore::new().unwrap(), None),
        Under::new("sqlite", sqlite, Some(Kept::File(folder))),
    ];
    if let Some(database) = database() {
        let postgres = PostgresStore::open(database.url()).await.unwrap();
        let under = Under::new("postgres", postgres, Some(Kept::Database(database)));
        each.push(Under {
            shared: true,
            ..under
        });
    }
    each
}

fn at(hours: i64) -> Timestamp {
    Timestamp::from_millisecond(1_800_000_000_000).unwrap() + SignedDuration::from_hours(hours)
}

fn line(number: u64, tenant: Tenant, seen: Timestamp) -> BranchRecord {
    BranchRecord {
        line: BranchId(number),
        tenant,
        session: GatewaySessionId(number | 1),
        parent: None,
        chain: HistoryChain {
            hash: u128::from(number) << 100 | 7,
            messages: 3,
            answered: true,
        },
        model: "m".to_owned(),
        agent: false,
        seen,
        title: Some(format!("title of {number}")),
    }
}

fn call(at: Timestamp) -> CallRecord {
    CallRecord {
        at,
        model: "m".to_owned(),
        messages: 3,
        status: 200,
        ended: CallEnding::Whole,
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
        saved: 1_000,
        rewritten: true,
        partial: true,
        caller: CallingAgent::default(),
        began: Some(5),
        error: Some("overloaded_error: Overloaded".to_owned()),
        breakpoints: Some(false),
        origin: CallOrigin {
            key: Some(Tenant(u64::MAX - 5)),
            own: false,
            simulated: true,
        },
    }
}

fn rewrite(tenant: Tenant, hash: u128, messages: u32) -> CompactedPrefix {
    CompactedPrefix {
        tenant,
        at: hash,
        messages,
        text: Bytes::from(format!(
            "{{\"role\":\"user\",\"content\":\"\\u0000 as bytes \u{1F600} {messages}\"}}"
        )),
        root: messages.is_multiple_of(2).then_some(u128::MAX - hash),
        summary: 9,
        lines: Bytes::from_static(b"{\"type\":\"user\"}\n"),
        cleared: vec!["toolu_1".to_owned(), "with \"quotes\"".to_owned()],
        derived: (messages > 3).then(|| DerivedRest {
            changed_from: Some(HistoryHash(hash)),
            stripped: vec![StrippedSpan {
                from: HistoryHash(1),
                to: HistoryHash(u128::MAX),
            }],
        }),
        settled: messages > 4,
        made: PrefixProvenance {
            session: GatewaySessionId(3),
            line: BranchId(2),
            at: at(i64::from(messages)),
            kind: CompactedPrefixKind::Summarized,
            before: 180_000,
            after: 30_000,
            millis: 4_200,
            // A request that found room at once waited, too.
            waited: (messages > 3).then_some(0),
            cost: Some(Usd::from_pico(1_000_000_000_000)),
            report: PrefixReport::read("{\"notes\":[\"one\"],\"settled\":\"cleared\"}"),
        },
    }
}

fn notes(tenant: Tenant, hash: u128, messages: u32) -> NotesRecord {
    NotesRecord {
        tenant,
        at: hash,
        messages,
        tokens: 12_345,
        text: format!("# Session title\n_Words_\n\u{1F600} {messages}\n"),
        session: GatewaySessionId(3),
        line: BranchId(2),
        made: at(i64::from(messages)),
        cost: messages
            .is_multiple_of(2)
            .then_some(Usd::from_pico(500_000_000_000)),
    }
}

const MINE: Tenant = Tenant(u64::MAX - 1);
const OTHER: Tenant = Tenant(4);

#[tokio::test]
async fn x8_every_store_says_again_what_was_written() {
    for Under { name, store, .. } in &each().await {
        let batch = vec![
            UsageLogRecord::Line(line(2, MINE, at(0))),
            UsageLogRecord::Line(line(3, MINE, at(1))),
            UsageLogRecord::Call(Some(BranchId(2)), Box::new(call(at(0)))),
            UsageLogRecord::Call(None, Box::new(call(at(0)))),
            UsageLogRecord::Tenant(Tenant(5), Tenant(6)),
        ];
        store.append(batch).await.unwrap();
        let further = BranchRecord {
            chain: HistoryChain {
                hash: 1 << 127,
                messages: 5,
                answered: true,
            },
            ..line(3, OTHER, at(2))
        };
        store
            .append(vec![UsageLogRecord::Line(further.clone())])
            .await
            .unwrap();
        let known = store.known(10).await.unwrap();
        let lines: Vec<_> = known
            .lines
            .iter()
            .map(|line| (line.line, line.chain, line.tenant))
            .collect();
        assert_eq!(
            lines,
            [
                (BranchId(2), line(2, MINE, at(0)).chain, MINE),
                (BranchId(3), further.chain, MINE)
            ],
            "{name}: a line stays whose it was"
        );
        assert_eq!(store.known(1).await.unwrap().lines.len(), 1);
        assert_eq!(known.tenants, [(Tenant(5), Tenant(6))]);
        let [session] = &store.sessions(10).await.unwrap()[..] else {
            panic!("{name}: two lines, one session");
        };
        assert_eq!(
            (
                session.lines,
                session.calls,
                session.cache_write_tokens,
                session.findings,
                session.failed
            ),
            (2, 1, 3, 1, 0)
        );
        assert_eq!((session.saved_tokens, session.compactions), (1_000, 0));
        assert!((session.cost_usd - 0.0025).abs() < 1e-12);
        assert_eq!(session.tenant, MINE.to_string());
        assert_eq!(
            (session.first_seen, session.last_seen),
            (Some(at(0)), Some(at(2)))
        );
        // The title is that of the longest conversation, and stays what it was first.
        assert_eq!(session.title.as_deref(), Some("title of 3"), "{name}");
        let renamed = BranchRecord {
            title: Some("another".to_owned()),
            ..further
        };
        store
            .append(vec![UsageLogRecord::Line(renamed)])
            .await
            .unwrap();
        let one = store.session(GatewaySessionId(3)).await.unwrap().unwrap();
        assert_eq!(&one, session, "{name}");
        assert_eq!(store.session(GatewaySessionId(5)).await.unwrap(), None);
        let calls = store.calls(GatewaySessionId(3), 10).await.unwrap();
        assert_eq!(calls, [(BranchId(2), call(at(0)))], "{name}");
    }
}

#[tokio::test]
async fn x8_a_claim_is_one_at_a_time() {
    for Under { name, shelf, .. } in &each().await {
        let one = shelf.claim(u64::MAX).await.unwrap();
        assert!(one.is_some(), "{name}");
        assert!(shelf.claim(u64::MAX).await.unwrap().is_none(), "{name}");
        assert!(
            shelf.claim(0).await.unwrap().is_some(),
            "{name}: another key"
        );
        drop(one);
        let again = claimed(shelf.as_ref(), u64::MAX).await;
        drop(again);
    }
}

/// A claim that has just been released.
async fn claimed(shelf: &dyn PrefixStore, key: u64) -> Box<dyn longhaul_gateway::store::Claim> {
    loop {
        if let Some(claim) = shelf.claim(key).await.unwrap() {
            return claim;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn n7_what_was_a_keys_is_its_organizations() {
    let (key, organization) = (Tenant(5), Tenant(6));
    for Under {
        name, store, shelf, ..
    } in &each().await
    {
        store
            .append(vec![UsageLogRecord::Line(line(2, key, at(0)))])
            .await
            .unwrap();
        shelf.put(sealed(rewrite(key, 10, 2))).await.unwrap();
        shelf.put(sealed(rewrite(key, 11, 4))).await.unwrap();
        shelf
            .put(sealed(rewrite(organization, 11, 4)))
            .await
            .unwrap();
        shelf.put(sealed(rewrite(OTHER, 10, 2))).await.unwrap();
        store
            .append(vec![UsageLogRecord::Tenant(key, organization)])
            .await
            .unwrap();
        // Work that began before that ends after it.
        shelf.put(sealed(rewrite(key, 12, 6))).await.unwrap();
        store
            .append(vec![UsageLogRecord::Line(line(8, key, at(1)))])
            .await
            .unwrap();
        for hash in [10, 11, 12] {
            for tenant in [key, organization] {
                let found = opened(shelf.find(tenant, vec![hash], 0).await.unwrap());
                assert_eq!(
                    found.map(|found| (found.tenant, found.at)),
                    Some((tenant, hash)),
                    "{name}"
                );
            }
        }
        let known = store.known(9).await.unwrap();
        assert!(
            known.lines.iter().all(|line| line.tenant == organization),
            "{name}"
        );
        if let Some(index) = shelf.index().await.unwrap() {
            assert!(index.iter().all(|(tenant, _, _)| *tenant != key), "{name}");
            assert_eq!(index.len(), 4, "{name}");
        }
    }
}

#[tokio::test]
async fn x8_what_is_too_old_is_deleted_everywhere() {
    for Under {
        name, store, shelf, ..
    } in &each().await
    {
        let now = Timestamp::now();
        let old = now - SignedDuration::from_hours(48);
        let batch = vec![
            UsageLogRecord::Line(line(2, MINE, old)),
            UsageLogRecord::Line(line(8, MINE, now)),
            UsageLogRecord::Call(Some(BranchId(2)), Box::new(call(old))),
            UsageLogRecord::Call(Some(BranchId(8)), Box::new(call(now))),
        ];
        store.append(batch).await.unwrap();
        let mut of_kept_line = [rewrite(MINE, 20, 2), rewrite(MINE, 21, 6)];
        for rewrite in &mut of_kept_line {
            rewrite.made.line = BranchId(8);
            shelf.put(sealed(rewrite.clone())).await.unwrap();
        }
        shelf.put(sealed(rewrite(MINE, 10, 2))).await.unwrap();
        let purged = store
            .purge(now - SignedDuration::from_hours(24))
            .await
            .unwrap();
        assert_eq!(
            (purged.lines, purged.calls, purged.rewrites),
            (1, 1, 0),
            "{name}: just put"
        );
        assert_eq!(store.sessions(10).await.unwrap().len(), 1);
        // From here on, every use is before the given time; one branch continues.
        let seen = now + SignedDuration::from_hours(48);
        store
            .append(vec![UsageLogRecord::Line(line(8, MINE, seen))])
            .await
            .unwrap();
        let purged = store
            .purge(now + SignedDuration::from_hours(24))
            .await
            .unwrap();
        assert_eq!(
            (purged.lines, purged.calls, purged.rewrites),
            (0, 1, 2),
            "{name}"
        );
        let left = shelf
            .find(MINE, vec![10, 20, 21], 0)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(
            left.stored.at, 21,
            "{name}: what the line needs to go on stays"
        );
        let purged = store
            .purge(now + SignedDuration::from_hours(96))
            .await
            .unwrap();
        assert_eq!((purged.lines, purged.rewrites), (1, 1), "{name}");
        assert_eq!(shelf.find(MINE, vec![10, 20, 21], 0).await.unwrap(), None);
    }
}
