//! What was spent, and how long calls took.

use super::*;

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
