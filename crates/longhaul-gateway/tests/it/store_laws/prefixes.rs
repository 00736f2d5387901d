//! Compacted prefixes are found by the history that they stand for, and by how they were made.

use super::*;

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
