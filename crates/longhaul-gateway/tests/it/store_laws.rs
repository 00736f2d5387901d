//! The requirements on every store: the same tests run on each kind.

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
async fn x8_a_rewrite_is_found_by_the_longest_history_it_stands_for() {
    for Under {
        name,
        shelf,
        shared,
        ..
    } in &each().await
    {
        for (hash, messages) in [(10, 2), (11, 6), (u128::MAX, 4)] {
            shelf
                .put(sealed(rewrite(MINE, hash, messages)))
                .await
                .unwrap();
        }
        shelf.put(sealed(rewrite(OTHER, 12, 40))).await.unwrap();
        let find = |tenant, hashes: &[u128], least| {
            let found = shelf.find(tenant, hashes.to_vec(), least);
            async move { found.await.map(opened) }
        };
        let all = [u128::MAX, 9, 10, 11, 12];
        assert_eq!(
            find(MINE, &all, 0).await.unwrap(),
            Some(rewrite(MINE, 11, 6)),
            "{name}"
        );
        assert_eq!(find(MINE, &all, 5).await.unwrap().unwrap().messages, 6);
        assert_eq!(
            find(MINE, &all, 6).await.unwrap(),
            None,
            "{name}: not more than known"
        );
        assert_eq!(
            find(MINE, &[9, 10, u128::MAX], 0).await.unwrap(),
            Some(rewrite(MINE, u128::MAX, 4))
        );
        assert_eq!(find(MINE, &[], 0).await.unwrap(), None);
        assert_eq!(
            find(MINE, &[12], 0).await.unwrap(),
            None,
            "{name}: another's"
        );
        assert_eq!(find(OTHER, &[10, 11], 0).await.unwrap(), None);
        let again = CompactedPrefix {
            text: Bytes::from_static(b"smaller"),
            ..rewrite(MINE, 11, 6)
        };
        shelf.put(sealed(again.clone())).await.unwrap();
        assert_eq!(find(MINE, &all, 0).await.unwrap(), Some(again), "{name}");
        let index = shelf.index().await.unwrap();
        let index = index.map(|mut index| {
            index.sort();
            index
        });
        let expected = vec![
            (OTHER, 12, 40),
            (MINE, 10, 2),
            (MINE, 11, 6),
            (MINE, u128::MAX, 4),
        ];
        assert_eq!(index, (!shared).then_some(expected), "{name}");
    }
}

#[tokio::test]
async fn x8_what_was_made_is_told_by_session() {
    for Under {
        name, store, shelf, ..
    } in &each().await
    {
        let made = |messages, kind| {
            let mut rewrite = rewrite(MINE, u128::from(messages), messages);
            rewrite.made.kind = kind;
            rewrite
        };
        let all = [
            made(2, CompactedPrefixKind::Cleared),
            made(4, CompactedPrefixKind::Summarized),
            made(6, CompactedPrefixKind::Settled),
            // For the history of the second to last: that prefix is replaced, but the record that it was made stays.
            CompactedPrefix {
                at: 4,
                messages: 4,
                ..made(8, CompactedPrefixKind::Extracted)
            },
        ];
        for rewrite in &all {
            shelf.put(sealed(rewrite.clone())).await.unwrap();
        }
        // It is not known whether the first attempt succeeded: store it again.
        shelf.put(sealed(all[1].clone())).await.unwrap();
        let mut elsewhere = made(2, CompactedPrefixKind::Noted);
        elsewhere.made.session = GatewaySessionId(99);
        shelf.put(sealed(elsewhere)).await.unwrap();
        let told = shelf.made(GatewaySessionId(3), 10).await.unwrap();
        let expected: Vec<PrefixProvenance> =
            all.iter().map(|rewrite| rewrite.made.clone()).collect();
        assert_eq!(told, expected, "{name}");
        assert_eq!(
            shelf.made(GatewaySessionId(3), 2).await.unwrap(),
            expected[2..],
            "{name}: the newest"
        );
        store
            .append(vec![UsageLogRecord::Line(line(2, MINE, at(0)))])
            .await
            .unwrap();
        let [session] = &store.sessions(10).await.unwrap()[..] else {
            panic!("{name}: one session");
        };
        assert_eq!(session.compactions, 3, "{name}: settling is none");
        assert!((session.summaries_cost_usd - 4.0).abs() < 1e-9, "{name}");
    }
}

#[tokio::test]
async fn x8_a_clearing_that_was_replaced_before_it_was_sent_is_not_counted() {
    for Under {
        name, store, shelf, ..
    } in &each().await
    {
        let session = GatewaySessionId(3);
        let made = |messages, kind, waited| {
            let mut rewrite = rewrite(MINE, u128::from(messages), messages);
            (rewrite.made.kind, rewrite.made.waited) = (kind, waited);
            rewrite
        };
        let called = |hours| UsageLogRecord::Call(Some(BranchId(2)), Box::new(call(at(hours))));
        let counted = || async {
            let listed = store.session(session).await.unwrap().unwrap().compactions;
            let spent = store.spend(SpendQuery::default()).await.unwrap();
            let spent: u64 = spent.iter().map(|row| row.compactions).sum();
            assert_eq!(listed, spent, "{name}");
            listed
        };
        for rewrite in [
            made(2, CompactedPrefixKind::Cleared, None),
            made(4, CompactedPrefixKind::Summarized, Some(2_000)),
            made(6, CompactedPrefixKind::Cleared, None),
        ] {
            shelf.put(sealed(rewrite)).await.unwrap();
        }
        let mut own = call(at(3));
        own.origin.own = true;
        let batch = vec![
            UsageLogRecord::Line(line(2, MINE, at(0))),
            called(5),
            UsageLogRecord::Call(Some(BranchId(2)), Box::new(own)),
        ];
        store.append(batch).await.unwrap();
        assert_eq!(counted().await, 3, "{name}: earlier calls are not known");
        store.append(vec![called(1)]).await.unwrap();
        assert_eq!(counted().await, 2, "{name}: only the summary was asked for");
        store.append(vec![called(3)]).await.unwrap();
        assert_eq!(counted().await, 3, "{name}: the clearing was sent");
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

#[tokio::test]
async fn s5_x8_notes_are_found_by_the_longest_history_they_cover() {
    for Under {
        name,
        store,
        notes: shelf,
        ..
    } in &each().await
    {
        for (hash, messages) in [(10, 2), (11, 6), (u128::MAX, 5)] {
            shelf
                .put_notes(sealed(notes(MINE, hash, messages)))
                .await
                .unwrap();
        }
        shelf.put_notes(sealed(notes(OTHER, 12, 40))).await.unwrap();
        let find = |tenant, hashes: &[u128]| {
            let found = shelf.find_notes(tenant, hashes.to_vec());
            async move { found.await.map(opened) }
        };
        let all = [u128::MAX, 9, 11, 10, 12];
        let longest = find(MINE, &all).await.unwrap();
        assert_eq!(longest, Some(notes(MINE, 11, 6)), "{name}");
        let shorter = find(MINE, &[10, u128::MAX]).await.unwrap();
        assert_eq!(shorter, Some(notes(MINE, u128::MAX, 5)), "{name}");
        assert_eq!(find(MINE, &[]).await.unwrap(), None);
        assert_eq!(find(MINE, &[12]).await.unwrap(), None, "{name}: another's");
        let again = NotesRecord {
            text: "shorter".to_owned(),
            ..notes(MINE, 11, 6)
        };
        shelf.put_notes(sealed(again.clone())).await.unwrap();
        assert_eq!(find(MINE, &all).await.unwrap(), Some(again), "{name}");
        store
            .append(vec![UsageLogRecord::Line(line(2, MINE, at(0)))])
            .await
            .unwrap();
        let [session] = &store.sessions(10).await.unwrap()[..] else {
            panic!("{name}: one session");
        };
        assert!((session.summaries_cost_usd - 1.5).abs() < 1e-9, "{name}");
        // A key turns out to belong to an organization.
        store
            .append(vec![UsageLogRecord::Tenant(OTHER, MINE)])
            .await
            .unwrap();
        for tenant in [MINE, OTHER] {
            let found = find(tenant, &[12]).await.unwrap().unwrap();
            assert_eq!(found.messages, 40, "{name}");
        }
        store.purge(at(6)).await.unwrap();
        assert_eq!(find(MINE, &[10, u128::MAX]).await.unwrap(), None, "{name}");
        assert!(find(MINE, &all).await.unwrap().is_some(), "{name}");
    }
}

fn recalled(tenant: Tenant, at: u128, variant: u64, text: &'static str) -> RecallRecord {
    RecallRecord {
        tenant,
        at,
        variant,
        text: Bytes::from_static(text.as_bytes()),
        made: Timestamp::now() - SignedDuration::from_hours(48 - i64::try_from(variant).unwrap()),
    }
}

#[tokio::test]
async fn x8_what_recall_needs_is_found_by_hash_by_its_tenant_and_stays_while_it_is_used() {
    for Under {
        name,
        store,
        recall,
        ..
    } in &each().await
    {
        for record in [
            recalled(MINE, 7, 1, "older"),
            recalled(MINE, 7, 2, "newer"),
            recalled(MINE, u128::MAX, 1, "unused"),
            recalled(OTHER, 7, 3, "theirs"),
        ] {
            recall.put_recall(sealed(record)).await.unwrap();
        }
        let replaced = recalled(MINE, 7, 1, "replaced");
        recall.put_recall(sealed(replaced)).await.unwrap();
        let find = |tenant, hashes: &[u128]| {
            let found = recall.find_recall(tenant, hashes.to_vec());
            async move {
                let found = found.await.unwrap().into_iter();
                let texts = found.filter_map(|one| opened(Some(one)));
                texts.map(|one| one.text).collect::<Vec<Bytes>>()
            }
        };
        assert_eq!(find(MINE, &[9, 7]).await, ["newer", "replaced"], "{name}");
        assert_eq!(find(OTHER, &[7, u128::MAX]).await, ["theirs"], "{name}");
        assert!(find(MINE, &[]).await.is_empty(), "{name}");
        // What was looked up is used; what was not is old by now.
        let before = Timestamp::now() - SignedDuration::from_hours(24);
        store.purge(before).await.unwrap();
        assert_eq!(find(MINE, &[7, u128::MAX]).await.len(), 2, "{name}");
        // A key turns out to belong to an organization.
        let belongs = UsageLogRecord::Tenant(OTHER, MINE);
        store.append(vec![belongs]).await.unwrap();
        for tenant in [MINE, OTHER] {
            assert_eq!(find(tenant, &[7]).await.len(), 3, "{name}");
        }
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

#[tokio::test]
async fn x8_what_was_spent_is_added_up_by_day_session_model_and_agent() {
    let of = |at, agent: &str, run, saved| CallRecord {
        saved,
        caller: CallingAgent::new(agent, AgentRunId(run)),
        ..call(at)
    };
    for Under {
        name,
        store,
        shelf,
        notes: kept,
        ..
    } in &each().await
    {
        let session = line(2, MINE, at(0)).session;
        let failed = CallRecord {
            status: 529,
            usage: None,
            cost: None,
            saved: 0,
            ..of(at(30), "a", 1, 0)
        };
        let unpriced = CallRecord {
            cost: None,
            ..of(at(30), "b", u64::MAX, 0)
        };
        let unmeasured = CallRecord {
            usage: None,
            cost: None,
            ..of(at(30), "b", u64::MAX, 0)
        };
        // The gateway's own request is none of the client's calls, and its tokens and its cost count.
        let own = CallRecord {
            origin: CallOrigin {
                own: true,
                ..call(at(0)).origin
            },
            ..of(at(0), "a", 1, 0)
        };
        let batch = vec![
            UsageLogRecord::Line(line(2, MINE, at(0))),
            UsageLogRecord::Call(Some(BranchId(2)), Box::new(own)),
            UsageLogRecord::Call(Some(BranchId(2)), Box::new(of(at(0), "a", 1, 0))),
            UsageLogRecord::Call(Some(BranchId(2)), Box::new(of(at(30), "a", 1, 700))),
            UsageLogRecord::Call(Some(BranchId(2)), Box::new(failed)),
            UsageLogRecord::Call(None, Box::new(unpriced)),
            UsageLogRecord::Call(None, Box::new(unmeasured)),
        ];
        store.append(batch).await.unwrap();
        let mut made = rewrite(MINE, 7, 1);
        made.made.session = session;
        shelf.put(sealed(made)).await.unwrap();
        let mut taken = notes(MINE, 8, 1);
        (taken.session, taken.line, taken.made) = (session, BranchId(2), at(1));
        taken.cost = Some(Usd::from_pico(500_000_000_000));
        kept.put_notes(sealed(taken)).await.unwrap();

        let all = store.spend(SpendQuery::default()).await.unwrap();
        let calls: u64 = all.iter().map(|row| row.calls).sum();
        let summaries: f64 = all.iter().map(|row| row.compactions_cost_usd).sum();
        assert_eq!((calls, summaries), (5, 1.5), "{name}");
        let own: Vec<_> = all.iter().filter(|row| row.own_calls > 0).collect();
        let [own] = &own[..] else {
            panic!("{name}: one row: {own:?}");
        };
        assert_eq!((own.own_calls, own.calls, own.output), (1, 1, 8), "{name}");
        assert_eq!((own.cost_usd, own.own_cost_usd), (0.005, 0.0025), "{name}");
        assert_eq!(own.key, Some(Tenant(u64::MAX - 5)), "{name}");
        assert!(all.iter().all(|row| row.simulated), "{name}");
        let row = store.session(session).await.unwrap().unwrap();
        assert_eq!((row.calls, row.own_calls), (3, 1), "{name}");
        assert!((row.cost_usd - 0.0075).abs() < 1e-9, "{name}");
        assert_eq!((row.own_cost_usd, row.simulated), (0.0025, true), "{name}");
        let listed = store.calls(session, 10).await.unwrap();
        assert_eq!(listed.len(), 3, "{name}: the client's calls");
        let later = all.iter().find(|row| row.saved_tokens == 700).unwrap();
        assert_eq!(later.agent.as_deref(), Some("a"), "{name}");
        assert_eq!(later.session, Some(session), "{name}");
        assert_eq!((later.calls, later.failed), (2, 1), "{name}");
        assert_eq!(
            (
                later.input,
                later.cache_read,
                later.cache_write,
                later.output
            ),
            (1, 2, 3, 4),
            "{name}"
        );
        assert_eq!(later.cost_usd, 0.0025, "{name}");
        let other = all
            .iter()
            .find(|row| row.agent.as_deref() == Some("b"))
            .unwrap();
        assert_eq!(other.session, None, "{name}");
        assert_eq!((other.unpriced, other.unmeasured), (1, 1), "{name}");
        let compaction = all.iter().find(|row| row.compactions == 1).unwrap();
        assert_eq!(compaction.agent.as_deref(), Some("a"), "{name}");

        // What is saved later is charged with what was paid for it before, on the first day that is looked at.
        let since = SpendQuery {
            since: Some(at(24)),
            ..SpendQuery::default()
        };
        let recent = store.spend(since).await.unwrap();
        let summaries: f64 = recent.iter().map(|row| row.compactions_cost_usd).sum();
        assert_eq!(summaries, 1.5, "{name}");
        assert!(
            recent
                .iter()
                .all(|row| row.day >= at(24).to_zoned(jiff::tz::TimeZone::UTC).date())
        );
        let calls: u64 = recent.iter().map(|row| row.calls).sum();
        assert_eq!(calls, 4, "{name}");

        // Rows tell apart what is asked for, and no more.
        let detailed = |detail| SpendQuery {
            detail,
            ..SpendQuery::default()
        };
        let days = store.spend(detailed(SpendDetail::Days)).await.unwrap();
        assert!(days.iter().all(|row| row.session.is_none()), "{name}");
        assert!(days.iter().any(|row| row.tenant == Some(MINE)), "{name}");
        let sessions = store.spend(detailed(SpendDetail::Sessions)).await.unwrap();
        let of_session = sessions.iter().filter(|row| row.session == Some(session));
        let of_session = of_session.filter(|row| row.calls > 0);
        assert_eq!(of_session.count(), 1, "{name}: two days are one row");
        for rows in [&days, &sessions] {
            let cost: f64 = rows.iter().map(|row| row.compactions_cost_usd).sum();
            let calls: u64 = rows.iter().map(|row| row.calls).sum();
            assert_eq!((calls, cost), (5, 1.5), "{name}");
        }
        let newest = SpendQuery {
            most: Some(1),
            ..detailed(SpendDetail::Days)
        };
        let [row] = &store.spend(newest).await.unwrap()[..] else {
            panic!("{name}: one row");
        };
        assert_eq!(row.day, at(30).to_zoned(jiff::tz::TimeZone::UTC).date());
        let until = SpendQuery {
            until: Some(at(30)),
            ..SpendQuery::default()
        };
        let early: u64 = (store.spend(until).await.unwrap().iter())
            .map(|row| row.calls)
            .sum();
        assert_eq!(early, 1, "{name}: the end is not included");

        // A run has its own calls, and the compactions since it began.
        let run = |run, since| SpendQuery {
            since: Some(since),
            run: Some(AgentRunId(run)),
            ..SpendQuery::default()
        };
        for (asked, wanted) in [
            (run(1, at(0)), (3, 1.5)),
            (run(1, at(24)), (2, 0.0)),
            (run(u64::MAX, at(0)), (2, 0.0)),
            (run(3, at(0)), (0, 0.0)),
        ] {
            let rows = store.spend(asked).await.unwrap();
            let calls: u64 = rows.iter().map(|row| row.calls).sum();
            let summaries: f64 = rows.iter().map(|row| row.compactions_cost_usd).sum();
            assert_eq!((calls, summaries), wanted, "{name}: {asked:?}");
        }
    }
}

#[tokio::test]
async fn x8_how_long_calls_took_is_counted_by_model_in_classes_of_three_digits() {
    for Under { name, store, .. } in &each().await {
        let took = |millis, began| CallRecord {
            millis,
            began,
            ..call(at(0))
        };
        let calls = [
            took(999, Some(12)),
            took(12_345, None),
            took(12_399, Some(12)),
            CallRecord {
                status: 529,
                ..took(1, Some(1))
            },
            CallRecord {
                at: at(5),
                ..took(7, Some(7))
            },
        ];
        let batch = calls.map(|call| UsageLogRecord::Call(None, Box::new(call)));
        store.append(batch.into()).await.unwrap();
        let mut rows = store.latency(at(0), at(5)).await.unwrap();
        rows.sort_by_key(|row| (row.span, row.millis));
        let rows: Vec<_> = rows
            .iter()
            .map(|row| (row.model.as_str(), row.span, row.millis, row.calls))
            .collect();
        let wanted = [
            ("m", CallSpan::Beginning, 12, 2),
            ("m", CallSpan::Whole, 999, 1),
            ("m", CallSpan::Whole, 12_300, 2),
        ];
        assert_eq!(rows, wanted, "{name}");
    }
}

#[tokio::test]
async fn x8_a_prefix_is_found_by_how_it_was_made_until_another_one_replaces_it() {
    for Under { name, shelf, .. } in &each().await {
        let first = rewrite(MINE, 10, 2);
        let id = first.made.making();
        shelf.put(sealed(first.clone())).await.unwrap();
        assert_eq!(
            opened(shelf.made_as(id).await.unwrap()),
            Some(first.clone()),
            "{name}"
        );
        let read = PrefixMakingId::read(id.session, &id.to_string());
        assert_eq!(read, Some(id));
        let elsewhere = PrefixMakingId {
            session: GatewaySessionId(99),
            ..id
        };
        assert_eq!(shelf.made_as(elsewhere).await.unwrap(), None, "{name}");
        shelf.put(sealed(rewrite(MINE, 10, 3))).await.unwrap();
        assert_eq!(shelf.made_as(id).await.unwrap(), None, "{name}");
    }
}
