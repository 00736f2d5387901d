//! Tests what the state of the provider's cache decides by price (V3): where nothing is cached, or is lost anyway, a
//! clearing is free; and one occasion breaks the cache once.

use longhaul_core::economy::{EconomyPolicy, EconomyRecord};
use longhaul_core::engine::{
    EffectFailureKind, EngineInput, EngineResume, Event, LiveEntry, NewEntry,
};
use longhaul_core::message::{Entry, Usage};
use longhaul_core::micro::MicroClearingReason;
use serde_json::{Value, json};

use super::desk::{Answer, Desk, Setting, head};
use super::prices::{begun, changes_prefix, chats, decisions, reads, setting, used, waits};

const MODEL: &str = "claude-opus-4-6";

/// What the first decision said about itself.
fn first(desk: &Desk) -> &EconomyRecord {
    decisions(desk).first().expect("a decision")
}

/// Reads these files one after the other.
fn reads_all(desk: &mut Desk, ids: &[&'static str], tokens: usize) {
    for id in ids {
        reads(desk, id, tokens);
    }
}

/// A conversation without cache breakpoints.
fn unmarked(mut desk: Desk) -> Desk {
    let mut prefix = head(MODEL);
    prefix.latched.ttl = None;
    desk.input(EngineInput::Head(Box::new(prefix)));
    desk
}

/// A conversation that goes on in another process, which does not know its rendering.
fn resumed(before: &Desk, change: impl Fn(&mut Value)) -> Desk {
    let entries = before.engine.live().entries().iter().map(|kept| {
        let mut line: Value = serde_json::from_slice(kept.entry.view().line).unwrap();
        change(&mut line);
        LiveEntry {
            entry: Entry::read(line.to_string().into()).unwrap(),
            offset: kept.offset,
        }
    });
    let resume = EngineResume {
        entries: entries.collect(),
        ..EngineResume::default()
    };
    let mut desk = Desk::resumed(setting(), resume);
    desk.now = before.now;
    desk
}

#[test]
fn v3_below_what_the_provider_caches_a_clearing_is_free() {
    let read = |last: usize| {
        let mut desk = Desk::with(Setting {
            window: 20_000,
            ..setting()
        });
        desk.say("Read them.");
        reads_all(&mut desk, &["t1", "t2", "t3"], 200);
        reads_all(&mut desk, &["t4", "t5"], 500);
        reads_all(&mut desk, &["t6"], last);
        desk.answers.push_back(Answer::Says("Read.", used(&desk)));
        desk.turn();
        desk
    };
    let small = read(1_000);
    assert!(used(&small) < 4_096, "{}", used(&small));
    assert_eq!(first(&small).price_usd, 0.0);
    // The same at once in a conversation that is cached would have to be paid for.
    let large = read(3_500);
    assert!(used(&large) > 4_096 && decisions(&large).is_empty());
}

#[test]
fn v3_without_breakpoints_the_replies_tell_whether_anything_is_cached() {
    let price = |is_cached: bool| {
        let mut desk = unmarked(Desk::with(setting()));
        desk.say("Read it.");
        reads_all(&mut desk, &["t1"], 30_000);
        reads_all(&mut desk, &["t2", "t3", "t4", "t5", "t6"], 3_000);
        let input = used(&desk);
        let uncached = Usage {
            input,
            output: 20,
            ..Usage::default()
        };
        desk.answers.push_back(match is_cached {
            true => Answer::Says("Read.", input),
            false => Answer::Bills(uncached),
        });
        desk.turn();
        assert!(decisions(&desk).is_empty(), "not known before the reply");
        assert!(waits(&mut desk).is_some());
        first(&desk).price_usd
    };
    assert!(price(true) > 0.0);
    assert_eq!(price(false), 0.0);
}

#[test]
fn v3_without_breakpoints_a_conversation_of_unknown_age_is_not_taken_to_be_cached() {
    let before = begun(Setting {
        economy: EconomyPolicy::Off,
        ..setting()
    });
    let decided = |change: fn(&mut Value)| {
        let mut desk = unmarked(resumed(&before, change));
        desk.say("And?");
        desk.turn();
        decisions(&desk).first().map(|record| record.price_usd)
    };
    let dated = decided(|_| ());
    assert!(dated.is_none_or(|price| price > 0.0), "sent a moment ago");
    let undated = decided(|line| {
        line.as_object_mut().unwrap().remove("timestamp");
    });
    assert_eq!(undated, Some(0.0));
}

#[test]
fn v3_a_rendering_that_begins_anew_anyway_begins_without_old_results() {
    let off = Setting {
        economy: EconomyPolicy::Off,
        ..setting()
    };
    let before = begun(off);
    let mut desk = resumed(&before, |_| ());
    desk.say("And?");
    desk.turn();
    assert!(
        first(&desk).price_usd <= 0.0,
        "it is rendered for the first time"
    );

    let mut desk = resumed(&before, |_| ());
    desk.input(EngineInput::Economy(EconomyPolicy::Off));
    desk.say("And?");
    desk.disk_full = true;
    desk.turn();
    desk.disk_full = false;
    desk.input(EngineInput::Economy(EconomyPolicy::Clear));
    desk.say("Once more.");
    assert!(desk.sent.is_empty() && decisions(&desk).is_empty());
    desk.turn();
    assert!(
        first(&desk).price_usd <= 0.0,
        "its rendering was never sent"
    );

    let mut desk = begun(setting());
    assert!(waits(&mut desk).is_some());
    assert!(
        first(&desk).price_usd > 0.0,
        "what was sent is in the cache"
    );
}

#[test]
fn v5_a_request_that_breaks_the_cache_for_its_prefix_breaks_it_for_nothing_else() {
    let mut desk = begun(Setting {
        economy: EconomyPolicy::Off,
        ..setting()
    });
    assert_eq!(waits(&mut desk), None);
    changes_prefix(&mut desk);
    desk.input(EngineInput::Economy(EconomyPolicy::Clear));
    chats(&mut desk);
    assert!(decisions(&desk).is_empty(), "though it is long due");
    chats(&mut desk);
    assert_eq!(decisions(&desk).len(), 1);
}

#[test]
fn v5_after_a_clearing_nothing_is_decided_before_it_was_sent() {
    let mut desk = Desk::with(setting());
    desk.say("Read it.");
    reads_all(&mut desk, &["t1"], 30_000);
    let small = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"];
    reads_all(&mut desk, &small, 1_000);
    desk.answers.push_back(Answer::Says("Read.", used(&desk)));
    desk.turn();
    desk.later(6 * 60);
    desk.exchange("And?", Answer::Fails(EffectFailureKind::Transient));
    assert_eq!(decisions(&desk).len(), 1);
    // More results are older than the newest tokens now, and the cache is as cold as before.
    let pasted = "some words that the user pastes ".repeat(1_700);
    desk.input(EngineInput::Add(vec![NewEntry::text(pasted)]));
    desk.later(6 * 60);
    chats(&mut desk);
    assert_eq!(decisions(&desk).len(), 1);
    desk.later(6 * 60);
    chats(&mut desk);
    assert_eq!(decisions(&desk).len(), 2, "it could have gone further");
}

#[test]
fn v4_what_nobody_can_clear_is_not_cleared() {
    let mut entries: Vec<LiveEntry> = begun(Setting {
        economy: EconomyPolicy::Off,
        ..setting()
    })
    .engine
    .live()
    .entries()
    .to_vec();
    // A damaged transcript: the result of t1 comes after its clearing, and nothing else is old enough.
    let at = entries.iter().position(|kept| {
        let line = String::from_utf8_lossy(kept.entry.view().line);
        line.contains("\"type\":\"tool_result\"") && line.contains("\"t1\"")
    });
    let cleared = json!({"type": "system", "subtype": "microcompact_boundary", "uuid": "damaged",
        "microcompactMetadata": {"compactedToolIds": ["t1"]}});
    entries.insert(
        at.unwrap(),
        LiveEntry {
            entry: Entry::read(cleared.to_string().into()).unwrap(),
            offset: None,
        },
    );
    let resume = EngineResume {
        entries,
        ..EngineResume::default()
    };
    let mut desk = Desk::resumed(setting(), resume);
    for _ in 0..3 {
        desk.later(6 * 60);
        chats(&mut desk);
    }
    for event in &desk.events {
        if let Event::MicroCompacted { reason, calls, .. } = event {
            assert_eq!(*reason, MicroClearingReason::Price);
            assert!(!calls.is_empty());
        }
    }
    assert!(decisions(&desk).is_empty());
}
