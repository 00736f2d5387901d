//! Tests what the engine decides by price (V3 to V5): when a result is cleared because sending it again has cost as much,
//! what forbids that, and when a summary pays.

use longhaul_core::config::ResultReduction;
use longhaul_core::economy::{EconomyPolicy, EconomyRecord, RecordedEconomyAction};
use longhaul_core::engine::{
    CacheEditSupport, EngineInput, Event, NewEntry, PrefixRecording, SummaryTiming, ToolOutput,
};
use longhaul_core::micro::{MicroClearingReason, PressureOwner};
use longhaul_core::prompt::RequestPrefix;
use longhaul_core::window::{QuerySource, Switches, WindowOwner};
use serde_json::json;
use serde_json::value::to_raw_value;

use super::desk::{Answer, Desk, Setting, head};

/// More requests than any decision of these tests waits for.
pub(super) const MANY: usize = 60;

pub(super) fn setting() -> Setting {
    Setting {
        window: 200_000,
        reduce: ResultReduction::Off,
        economy: EconomyPolicy::Clear,
        ..Setting::default()
    }
}

/// What the window holds is what the provider measures.
pub(super) fn used(desk: &Desk) -> u64 {
    desk.engine.status().used
}

/// Lets the model read a file of about this many tokens.
pub(super) fn reads(desk: &mut Desk, id: &'static str, tokens: usize) {
    let prompt = used(desk);
    desk.answers.push_back(Answer::Calls("Read", id, prompt));
    desk.turn();
    let content = format!("some words of the file {id}\n").repeat(tokens / 7);
    desk.input(EngineInput::Add(vec![NewEntry::ToolResults(vec![
        ToolOutput {
            tool_use_id: id.into(),
            content: json!(content),
            is_error: false,
        },
    ])]));
}

/// Gives the next request another prefix: it breaks the cache, so nothing is decided by price before it.
pub(super) fn changes_prefix(desk: &mut Desk) {
    let prefix = RequestPrefix {
        system: to_raw_value(&json!([{"type": "text", "text": "Be thorough."}])).unwrap(),
        ..head("claude-opus-4-6")
    };
    desk.input(EngineInput::Head(Box::new(prefix)));
}

/// Lets the model answer in a few words.
pub(super) fn chats(desk: &mut Desk) {
    let prompt = used(desk);
    desk.exchange("And?", Answer::Says("Yes, that is how it is.", prompt));
}

/// A conversation with a large result, and one more after it.
pub(super) fn begun(setting: Setting) -> Desk {
    let mut desk = Desk::with(setting);
    desk.say("Read it.");
    for id in ["t1", "t2", "t3", "t4", "t5", "t6"] {
        reads(&mut desk, id, if id == "t1" { 30_000 } else { 3_000 });
    }
    desk.answers.push_back(Answer::Says("Read.", used(&desk)));
    desk.turn();
    desk
}

pub(super) fn decisions(desk: &Desk) -> Vec<&EconomyRecord> {
    let events = desk.events.iter();
    let told = events.filter_map(|event| match event {
        Event::Economized(record) => Some(&**record),
        _ => None,
    });
    told.collect()
}

/// How many requests pass until something is decided by price.
pub(super) fn waits(desk: &mut Desk) -> Option<usize> {
    (0..MANY).find(|_| {
        chats(desk);
        !decisions(desk).is_empty()
    })
}

#[test]
fn v3_a_result_is_cleared_once_sending_it_again_has_cost_as_much_as_clearing_it() {
    let mut desk = begun(setting());
    assert!(decisions(&desk).is_empty(), "nothing has been paid yet");
    assert!(waits(&mut desk).is_some());
    let record = decisions(&desk)[0];
    assert_eq!(record.action, RecordedEconomyAction::Clear);
    assert!(record.rent_usd > 0.0 && record.price_usd > 0.0);
    let cleared = desk.events.iter().find_map(|event| match event {
        Event::MicroCompacted { reason, calls, .. } => Some((*reason, calls.clone())),
        _ => None,
    });
    let (reason, calls) = cleared.unwrap();
    assert_eq!(reason, MicroClearingReason::Price);
    assert!(calls.contains(&"t1".to_owned()), "{calls:?}");
    chats(&mut desk);
    let sent = Desk::body(desk.sent.last().unwrap()).to_string();
    assert!(!sent.contains("some words of the file t1"));
    assert!(
        sent.contains("some words of the file t6"),
        "the newest stay"
    );
}

#[test]
fn v5_nothing_is_cleared_by_price_where_that_is_not_to_be_decided() {
    let switched = |switch: fn(&mut Switches)| {
        let mut switches = Switches::default();
        switch(&mut switches);
        Setting {
            switches,
            ..setting()
        }
    };
    let off = Setting {
        economy: EconomyPolicy::Off,
        ..setting()
    };
    let theirs = Setting {
        pressure: PressureOwner::Providers,
        ..setting()
    };
    let inside = |source| Setting {
        source,
        ..setting()
    };
    let unwritten = Setting {
        prefixes: PrefixRecording::Unwritten,
        ..setting()
    };
    let folding = Setting {
        owner: WindowOwner::Collapse,
        ..setting()
    };
    for (name, setting) in [
        ("off", off),
        ("automatic", switched(|switches| switches.automatic = false)),
        ("micro", switched(|switches| switches.micro = false)),
        ("theirs", theirs),
        ("compact", inside(QuerySource::COMPACT)),
        ("collapse", inside(QuerySource::new("collapse"))),
        ("unwritten", unwritten),
        ("folding", folding),
    ] {
        let mut desk = begun(setting);
        assert_eq!(waits(&mut desk), None, "{name}");
    }
    let mut desk = begun(Setting {
        source: QuerySource::agent("explorer"),
        ..setting()
    });
    assert!(
        waits(&mut desk).is_some(),
        "an agent's results are cleared, too"
    );
}

#[test]
fn v5_without_prices_nothing_is_decided_by_price_and_that_is_said_once() {
    let unpriced = |economy| Setting {
        model: "a-model-that-nobody-knows",
        economy,
        ..setting()
    };
    let told = |desk: &Desk| {
        let events = desk.events.iter();
        events
            .filter(|event| matches!(event, Event::PricesUnknown { .. }))
            .count()
    };
    let mut desk = begun(unpriced(EconomyPolicy::Clear));
    assert_eq!((waits(&mut desk), told(&desk)), (None, 1));
    let mut desk = begun(unpriced(EconomyPolicy::Off));
    assert_eq!((waits(&mut desk), told(&desk)), (None, 0));
}

#[test]
fn v5_a_policy_may_change_while_the_conversation_goes_on() {
    let mut desk = begun(Setting {
        economy: EconomyPolicy::Off,
        ..setting()
    });
    assert_eq!(waits(&mut desk), None);
    desk.input(EngineInput::Economy(EconomyPolicy::Clear));
    assert_eq!(desk.engine.economy(), EconomyPolicy::Clear);
    assert_eq!(waits(&mut desk), Some(0), "what was paid before counts");
}

#[test]
fn u4_v3_on_a_hot_cache_results_are_dropped_by_reference_at_once() {
    let mut desk = begun(Setting {
        cache_edits: CacheEditSupport::Supported,
        ..setting()
    });
    assert!(waits(&mut desk).is_some());
    let body = Desk::body(desk.sent.last().unwrap());
    assert_eq!(body["cache_edits"][0]["tool_use_id"], "t1");
    let recorded = desk.subtypes("microcompact_boundary");
    assert_eq!(
        recorded[0]["microcompactMetadata"]["compactedToolIds"],
        json!([])
    );
}

#[test]
fn v3_after_a_long_rest_a_clearing_costs_nothing() {
    let mut desk = begun(setting());
    desk.later(6 * 60);
    chats(&mut desk);
    assert_eq!(decisions(&desk).len(), 1);
}

#[test]
fn v3_a_summary_is_made_when_it_pays_and_only_then() {
    let full = |preparation| Setting {
        economy: EconomyPolicy::Full,
        preparation,
        ..setting()
    };
    for timing in [SummaryTiming::WhenFull, SummaryTiming::Ahead] {
        let mut desk = Desk::with(full(timing));
        let mut waited = None;
        for turn in 0..MANY {
            let prompt = used(&desk);
            let words = Box::leak(
                format!("Answer {turn} goes on and on. ")
                    .repeat(300)
                    .into_boxed_str(),
            );
            desk.exchange("Tell me more.", Answer::Says(words, prompt));
            if waited.is_none() && desk.compactions() > 0 {
                waited = Some((turn, prompt));
            }
        }
        assert!(waited.is_some());
        assert!(
            decisions(&desk)
                .iter()
                .all(|record| record.action == RecordedEconomyAction::Summarize)
        );
    }
}
