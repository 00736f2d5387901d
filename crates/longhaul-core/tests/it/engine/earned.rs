//! Tests what is not worth its price while something else comes first (V4, V5): notes before the window fills up,
//! a summary made ahead where clearing results does, and a clearing where notes or a summary replace the results soon.

use longhaul_core::config::ResultReduction;
use longhaul_core::economy::EconomyPolicy;
use longhaul_core::engine::{
    EngineInput, Event, NewEntry, NotesConfig, NotesRunOutcome, PreparationEvent, SummaryTiming,
    ToolOutput,
};
use longhaul_core::message::Usage;
use longhaul_core::micro::{MicroClearingReason, PressureOwner};
use longhaul_core::notes::NotesSettings;
use serde_json::json;

use super::desk::{Answer, Desk, Setting, long};
use super::prices::{changes_prefix, chats, decisions, reads, setting, used, waits};

fn noting(setting: Setting) -> Setting {
    Setting {
        notes: Some(NotesConfig {
            settings: NotesSettings::default(),
            path: "/s/session-memory/summary.md".into(),
            edit_tool: Some("Edit".into()),
            reach: None,
        }),
        ..setting
    }
}

/// A run that takes notes and writes this much.
fn taken(output: u64) -> NotesRunOutcome {
    NotesRunOutcome {
        changed: 1,
        requests: 1,
        usage: Usage {
            cache_read: 1_000,
            output,
            ..Usage::default()
        },
        ..NotesRunOutcome::default()
    }
}

fn begun_ahead(desk: &Desk) -> bool {
    let begun = |event: &Event| matches!(event, Event::Ahead(PreparationEvent::Begun));
    desk.events.iter().any(begun)
}

/// A conversation with a result of this many tokens and five small ones.
fn read(setting: Setting, tokens: usize) -> Desk {
    let mut desk = Desk::with(setting);
    desk.say("Read it.");
    for id in ["t1", "t2", "t3", "t4", "t5", "t6"] {
        reads(&mut desk, id, if id == "t1" { tokens } else { 3_000 });
    }
    desk.answers.push_back(Answer::Says("Read.", used(&desk)));
    desk.turn();
    desk
}

/// Lets the window of 200,000 tokens fill up to this many.
fn fills_to(desk: &mut Desk, used: u64) {
    desk.exchange("And?", Answer::Says("Yes.", used));
}

#[test]
fn v5_by_price_notes_are_taken_only_once_the_window_fills_up() {
    let runs = |economy, prompts: &[u64]| {
        let mut desk = Desk::with(noting(Setting {
            economy,
            ..Setting::default()
        }));
        desk.exchange("Build a parser.", Answer::Says(long(), 5_000));
        for prompt in prompts {
            desk.exchange("And?", Answer::Says("Soon.", *prompt));
        }
        desk.notes_runs.len()
    };
    assert_eq!(runs(EconomyPolicy::Off, &[]), 1);
    assert_eq!(runs(EconomyPolicy::Clear, &[]), 0);
    assert_eq!(runs(EconomyPolicy::Clear, &[5_500]), 0);
    assert_eq!(runs(EconomyPolicy::Clear, &[5_500, 13_300]), 1);
}

#[test]
fn v5_all_runs_that_take_notes_cost_no_more_than_the_summary_that_they_spare() {
    let runs = |output: u64| {
        let mut desk = Desk::with(noting(Setting {
            economy: EconomyPolicy::Clear,
            window: 200_000,
            ..Setting::default()
        }));
        desk.notes_taken = taken(output);
        desk.exchange("Build a parser.", Answer::Says(long(), 20_000));
        for prompt in [150_000, 156_000, 162_000] {
            desk.exchange("And?", Answer::Says("Soon.", prompt));
        }
        desk.notes_runs.len()
    };
    // A summary is expected to write 4,000 tokens after reading the view.
    assert_eq!(runs(6_000), 1, "the first has cost as much");
    assert!(runs(100) >= 2, "{}", runs(100));
}

#[test]
fn v5_nothing_is_cleared_by_price_where_notes_will_replace_it() {
    let waited = |taken| {
        let mut desk = read(noting(setting()), 20_000);
        desk.notes_taken = taken;
        fills_to(&mut desk, 160_000);
        assert_eq!(desk.notes_runs.len(), 1);
        waits(&mut desk)
    };
    assert!(
        waited(NotesRunOutcome::default()).is_some(),
        "a run that asked nobody has taken none"
    );
    assert_eq!(waited(taken(100)), None);
    let mut desk = read(noting(setting()), 20_000);
    assert!(waits(&mut desk).is_some(), "no notes have been taken yet");
}

#[test]
fn v5_nothing_is_cleared_by_price_while_notes_are_being_taken() {
    let decided = |aside| {
        let mut desk = read(
            noting(Setting {
                economy: EconomyPolicy::Off,
                ..setting()
            }),
            30_000,
        );
        desk.aside = aside;
        desk.hold = Some("send");
        fills_to(&mut desk, 160_000);
        desk.input(EngineInput::Economy(EconomyPolicy::Clear));
        desk.release();
        for _ in 0..9 {
            chats(&mut desk);
        }
        (desk.set_aside.len(), decisions(&desk).len())
    };
    assert_eq!(decided(Some("take notes")), (1, 0));
    // A run that asked nobody has taken none, and is over.
    assert_eq!(decided(None), (0, 1));
}

#[test]
fn v5_nothing_is_cleared_by_price_where_a_summary_will_replace_it() {
    let ahead = || Setting {
        preparation: SummaryTiming::Ahead,
        ..setting()
    };
    for aside in [Some("summarize"), None] {
        let mut desk = read(ahead(), 20_000);
        desk.aside = aside;
        fills_to(&mut desk, 160_000);
        assert!(begun_ahead(&desk), "{aside:?}");
        assert_eq!(waits(&mut desk), None, "{aside:?}");
        assert_eq!(desk.compactions(), 0);
    }
    let mut desk = read(ahead(), 20_000);
    assert!(waits(&mut desk).is_some());
}

#[test]
fn v5_no_summary_is_made_ahead_where_clearing_results_does() {
    let (ours, theirs) = (PressureOwner::Ours, PressureOwner::Providers);
    for (economy, pressure, tokens, is_begun) in [
        (EconomyPolicy::Clear, ours, 50_000, false),
        (EconomyPolicy::Clear, theirs, 50_000, true),
        (EconomyPolicy::Clear, ours, 20_000, true),
        (EconomyPolicy::Off, ours, 50_000, true),
    ] {
        let ahead = Setting {
            preparation: SummaryTiming::Ahead,
            economy: EconomyPolicy::Off,
            pressure,
            ..setting()
        };
        let mut desk = read(ahead, tokens);
        // What is decided before the request is not what is tested.
        desk.hold = Some("send");
        fills_to(&mut desk, 160_000);
        desk.input(EngineInput::Economy(economy));
        desk.release();
        assert_eq!(begun_ahead(&desk), is_begun, "{economy:?} {tokens}");
    }
}

/// Seven files of so many lines are read, the fourth of them once more as the sixth. Then the window fills up. Returns the
/// results that are cleared.
fn pressed(reduce: ResultReduction, lines: u64) -> Vec<String> {
    let calls: [&'static [(&str, &str, &str)]; 7] = [
        &[("Read", "t1", "/p/a")],
        &[("Read", "t2", "/p/b")],
        &[("Read", "t3", "/p/c")],
        &[("Read", "t4", "/p/d")],
        &[("Read", "t5", "/p/e")],
        &[("Read", "t6", "/p/d")],
        &[("Read", "t7", "/p/g")],
    ];
    let mut desk = Desk::with(Setting {
        reduce,
        economy: EconomyPolicy::Off,
        ..setting()
    });
    desk.say("Read them.");
    for call in calls {
        desk.answers.push_back(Answer::CallsOn(call));
        desk.turn();
        let (_, id, path) = call[0];
        let lines = (0..lines).map(|line| format!("line {line} of {path} has words\n"));
        desk.input(EngineInput::Add(vec![NewEntry::ToolResults(vec![
            ToolOutput {
                tool_use_id: id.into(),
                content: json!(lines.collect::<String>()),
                is_error: false,
            },
        ])]));
    }
    fills_to(&mut desk, 172_000);
    desk.input(EngineInput::Economy(EconomyPolicy::Clear));
    changes_prefix(&mut desk);
    fills_to(&mut desk, 120_000);
    let mut cleared = desk.events.iter().filter_map(|event| match event {
        Event::MicroCompacted { reason, calls, .. } => Some((*reason, calls.clone())),
        _ => None,
    });
    let (reason, calls) = cleared.next().unwrap();
    assert_eq!(reason, MicroClearingReason::Pressure);
    calls
}

#[test]
fn v4_u5_in_a_full_window_results_that_a_later_one_replaced_go_first() {
    assert_eq!(pressed(ResultReduction::Off, 1_200), ["t1", "t2", "t4"]);
}

#[test]
fn v4_v8_what_a_smaller_result_refers_to_is_not_replaced_by_it() {
    assert_eq!(pressed(ResultReduction::Exact, 1_500), ["t1", "t2", "t3"]);
}
