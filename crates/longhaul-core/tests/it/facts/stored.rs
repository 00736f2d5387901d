//! Tests that facts go on from what a boundary stores.

use std::sync::Arc;

use longhaul_core::facts::{Facts, Vocabulary, session_rows};
use longhaul_core::message::Entry;
use longhaul_testkit::session::{CompactionSchedule, KeptRounds, SessionSpec};
use serde_json::{Value, json};

use super::{entries, facts, texts};
use crate::lines::{Lines, live_lines};

/// Returns a boundary entry that carries facts.
fn boundary(facts: &Facts, uuid: &str) -> Entry {
    let ledger: Value = serde_json::from_str(facts.to_ledger().unwrap().get()).unwrap();
    let line = json!({"type": "system", "subtype": "compact_boundary", "uuid": uuid, "parentUuid": null,
        "compactMetadata": {"trigger": "auto", "ledger": ledger}});
    Entry::read(line.to_string().into_bytes().into()).unwrap()
}

#[test]
fn x1_facts_go_on_from_a_boundary_without_any_earlier_bytes() {
    for seed in 0..12 {
        let kept = [
            KeptRounds::Nothing,
            KeptRounds::AfterSummary,
            KeptRounds::Listed,
        ][seed as usize % 3];
        let session = SessionSpec::new(seed, 40)
            .compaction(CompactionSchedule::EveryRounds(9))
            .kept(kept)
            .generate();
        let entries = entries(&session.bytes);
        let (table, conversation) = live_lines(&session.bytes);
        let rows = session_rows(&table, &conversation);
        let views: Vec<_> = rows
            .iter()
            .map(|row| entries[*row as usize].view())
            .collect();
        let whole = Facts::scan(Arc::default(), views.iter().copied());
        assert!(!whole.messages().is_empty());
        for cut in [1, views.len() / 3, views.len() / 2, views.len() - 1] {
            // A call and its result lie on one side, as compactions make sure.
            let first = Facts::scan(Arc::default(), views[..cut].iter().copied());
            let carried = boundary(&first, "b");
            let mut second = Facts::from_boundary(Arc::default(), carried.view()).unwrap();
            // Entries that the boundary preserved come again, and count once.
            let kept = cut.saturating_sub(5);
            views[kept..].iter().for_each(|view| second.push(*view));
            assert_eq!(
                second.messages(),
                whole.messages(),
                "seed {seed}, cut {cut}"
            );
            assert_eq!(second.rules(), whole.rules(), "seed {seed}, cut {cut}");
            assert_eq!(second.todos(), whole.todos(), "seed {seed}, cut {cut}");
            let paths = |facts: &Facts| {
                facts
                    .files()
                    .iter()
                    .map(|file| file.path.clone())
                    .collect::<Vec<_>>()
            };
            assert_eq!(paths(&second), paths(&whole), "seed {seed}, cut {cut}");
            // When a tail is read, the boundary comes after the entries that it preserved.
            let mut tail = Facts::default();
            views[kept..cut].iter().for_each(|view| tail.push(*view));
            tail.push(carried.view());
            views[cut..].iter().for_each(|view| tail.push(*view));
            assert_eq!(
                tail.messages(),
                whole.messages(),
                "seed {seed}, cut {cut}, tail"
            );
            assert_eq!(paths(&tail), paths(&whole), "seed {seed}, cut {cut}, tail");
        }
    }
}

#[test]
fn x1_a_ledger_of_a_later_version_reads_and_garbage_means_scanning() {
    let mut lines = Lines::default();
    lines.user("u1", "never forget me");
    let stored = facts(&lines).to_ledger().unwrap();
    let mut ledger: Value = serde_json::from_str(stored.get()).unwrap();
    ledger["version"] = json!(7);
    ledger["novelty"] = json!({"deep": [1]});
    ledger["messages"][0]["mood"] = json!("fine");
    let read = |ledger: Value| {
        let line = json!({"type": "system", "subtype": "compact_boundary", "uuid": "b", "compactMetadata": {"ledger": ledger}});
        let entry = Entry::read(line.to_string().into_bytes().into()).unwrap();
        Facts::from_boundary(Arc::new(Vocabulary::default()), entry.view())
    };
    let facts = read(ledger).unwrap();
    assert_eq!(texts(&facts), ["never forget me"]);
    assert_eq!(facts.rules()[0].text, "never forget me");
    assert!(read(json!({"messages": 3})).is_none());
    assert!(read(json!("x")).is_none());
    assert!(read(json!({})).is_none());
}
