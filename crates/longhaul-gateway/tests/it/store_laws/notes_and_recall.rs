//! Notes of sessions, and what recall needs.

use super::*;

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
