//! Tests what is left to a summary or to the cache where results would be cleared otherwise (U4, V5): one that is coming
//! or ready, notes that will be used, results that the provider drops by reference.

use longhaul_core::economy::EconomyPolicy;
use longhaul_core::engine::{
    CacheEditSupport, CompactRequest, EffectFailureKind, EngineInput, EntryAudience, Event,
    NewEntry, NotesConfig, NotesRunOutcome, PreparationEvent, SummaryTiming, ToolOutput,
};
use longhaul_core::message::Usage;
use longhaul_core::micro::MicroClearingReason;
use longhaul_core::notes::NotesSettings;
use longhaul_core::window::WindowLevel;
use serde_json::json;

use super::desk::{Answer, Desk, Setting, Sum};
use super::prices::{MANY, changes_prefix, chats, reads, setting, used};

/// A conversation with these results of 15,000 tokens.
fn read(setting: Setting, ids: &[&'static str]) -> Desk {
    let mut desk = Desk::with(setting);
    desk.say("Read them.");
    reads_on(&mut desk, ids);
    desk
}

fn reads_on(desk: &mut Desk, ids: &[&'static str]) {
    for id in ids {
        reads(desk, id, 15_000);
    }
    let used = used(desk);
    desk.answers.push_back(Answer::Says("Read.", used));
    desk.turn();
}

fn fills_to(desk: &mut Desk, used: u64) {
    desk.exchange("And?", Answer::Says("Yes.", used));
}

fn cleared(desk: &Desk) -> Vec<MicroClearingReason> {
    let events = desk.events.iter().filter_map(|event| match event {
        Event::MicroCompacted { reason, .. } => Some(*reason),
        _ => None,
    });
    events.collect()
}

fn aheads(desk: &Desk) -> Vec<PreparationEvent> {
    let events = desk.events.iter().filter_map(|event| match event {
        Event::Ahead(ahead) => Some(*ahead),
        _ => None,
    });
    events.collect()
}

/// The clearings in a turn that begins with 172,000 tokens in a window of 200,000, with 75,000 tokens of results, and
/// whose request has another prefix, so that nothing is decided by price.
fn cleared_when_full(cache_edits: CacheEditSupport, idle: i64) -> Vec<MicroClearingReason> {
    let mut desk = read(
        Setting {
            cache_edits,
            economy: EconomyPolicy::Off,
            ..setting()
        },
        &["t1", "t2", "t3", "t4", "t5"],
    );
    fills_to(&mut desk, 172_000);
    assert_eq!(cleared(&desk), []);
    changes_prefix(&mut desk);
    desk.input(EngineInput::Economy(EconomyPolicy::Clear));
    desk.later(idle);
    fills_to(&mut desk, 120_000);
    cleared(&desk)
}

#[test]
fn u4_u5_a_full_window_is_left_to_the_cache_only_while_it_is_warm_and_results_can_be_dropped() {
    let pressure = [MicroClearingReason::Pressure];
    assert_eq!(cleared_when_full(CacheEditSupport::Supported, 0), []);
    assert_eq!(
        cleared_when_full(CacheEditSupport::Supported, 6 * 60),
        pressure
    );
    assert_eq!(
        cleared_when_full(CacheEditSupport::Unsupported, 0),
        pressure
    );
}

fn ahead() -> Setting {
    Setting {
        preparation: SummaryTiming::Ahead,
        ..setting()
    }
}

/// A turn with results to clear that begins at this level of the window, after a summary was begun ahead.
fn filled(aside: Option<&'static str>, level: WindowLevel) -> Desk {
    let used_before = if level == WindowLevel::Blocking {
        165_000
    } else {
        150_000
    };
    let mut desk = Desk::with(ahead());
    desk.say("Read them.");
    for id in ["t1", "t2", "t3"] {
        reads(&mut desk, id, 25_000);
    }
    desk.aside = aside;
    let words = "All that is known of it. ".repeat(9_000);
    desk.answers.push_back(Answer::Says(words.leak(), 160_000));
    desk.turn();
    assert_eq!(aheads(&desk)[0], PreparationEvent::Begun);
    desk.say("Read on.");
    desk.answers
        .push_back(Answer::Calls("Read", "t4", used_before));
    desk.turn();
    let content = "some words of the last file\n".repeat(2_500);
    desk.input(EngineInput::Add(vec![NewEntry::ToolResults(vec![
        ToolOutput {
            tool_use_id: "t4".into(),
            content: json!(content),
            is_error: false,
        },
    ])]));
    assert_eq!(desk.engine.status().level, level);
    desk.answers.push_back(Answer::Says("Yes.", 60_000));
    desk.turn();
    desk
}

#[test]
fn u5_v5_a_full_window_is_left_to_a_summary_that_is_being_made_or_ready() {
    let coming = filled(Some("summarize"), WindowLevel::AutoCompact);
    assert_eq!((cleared(&coming), coming.compactions()), (vec![], 0));
    let ready = filled(None, WindowLevel::AutoCompact);
    assert_eq!((cleared(&ready), ready.compactions()), (vec![], 1));
}

#[test]
fn u5_v5_a_window_without_room_does_not_wait_for_a_summary_but_takes_one_that_is_ready() {
    let ready = filled(None, WindowLevel::Blocking);
    assert_eq!(cleared(&ready), []);
    assert_eq!((ready.compactions(), ready.summaries_sent.len()), (1, 1));
    let coming = filled(Some("summarize"), WindowLevel::Blocking);
    assert_eq!(cleared(&coming), [MicroClearingReason::Pressure]);
}

#[test]
fn s6_v5_where_notes_may_not_suffice_a_summary_is_made_ahead_in_spite_of_results_to_clear() {
    let begun = |taken: u64| {
        let mut desk = read(
            Setting {
                notes: Some(NotesConfig {
                    settings: NotesSettings::default(),
                    path: "/s/session-memory/summary.md".into(),
                    edit_tool: Some("Edit".into()),
                    reach: None,
                }),
                economy: EconomyPolicy::Off,
                ..ahead()
            },
            &["t1", "t2", "t3", "t4", "t5"],
        );
        let before = desk.notes_runs.len();
        desk.notes_taken = NotesRunOutcome {
            changed: 1,
            requests: 1,
            usage: Usage {
                cache_read: taken * 10,
                output: taken,
                ..Usage::default()
            },
            ..NotesRunOutcome::default()
        };
        desk.input(EngineInput::Economy(EconomyPolicy::Clear));
        desk.hold = Some("send");
        fills_to(&mut desk, 160_000);
        desk.release();
        assert_eq!(desk.notes_runs.len(), before + 1);
        desk.hold = Some("send");
        fills_to(&mut desk, 160_500);
        desk.release();
        aheads(&desk).contains(&PreparationEvent::Begun)
    };
    assert!(begun(100), "the notes on disk are empty");
    assert!(
        !begun(0),
        "no notes were taken, so results are cleared first"
    );
}

fn full() -> Setting {
    Setting {
        economy: EconomyPolicy::Full,
        ..setting()
    }
}

/// Lets the model give a long answer, which makes the window fuller.
fn answers(desk: &mut Desk, turn: usize) {
    let words = format!("Answer {turn} goes on and on. ").repeat(300);
    let prompt = used(desk) + words.len() as u64 / 4;
    desk.exchange("Tell me more.", Answer::Says(words.leak(), prompt));
}

#[test]
fn v5_once_three_summaries_that_pay_have_failed_none_is_asked_for() {
    let mut desk = Desk::with(full());
    let mut asked = Vec::new();
    for turn in 0..MANY {
        desk.sums.clear();
        for _ in 0..9 {
            desk.sums.push_back(Sum::Fails(EffectFailureKind::Other));
        }
        answers(&mut desk, turn);
        if desk.failures().len() == 3 {
            asked.push(desk.summaries_sent.len());
        }
    }
    assert!(used(&desk) < 167_000, "below the threshold");
    assert!(asked.len() > 10, "{asked:?}");
    assert_eq!(asked.first(), asked.last());
}

#[test]
fn v5_what_was_not_sent_yet_is_not_part_of_a_summary_that_pays() {
    let asked = |turns: usize| {
        let mut desk = Desk::with(full());
        (0..turns).for_each(|turn| answers(&mut desk, turn));
        assert_eq!(desk.compactions(), 0, "none before");
        desk.say("A question before it.");
        desk.input(EngineInput::Add(vec![NewEntry::User {
            content: json!("some words of the host ".repeat(3_500)),
            shown: EntryAudience::ToNobody,
        }]));
        answers(&mut desk, turns);
        desk
    };
    let mut desks = (10..MANY).map(|turns| (turns, asked(turns)));
    let (due, desk) = desks.find(|(_, desk)| desk.compactions() > 0).unwrap();
    assert_eq!(desk.compactions(), 1);
    let sent = Desk::body(desk.sent.last().unwrap()).to_string();
    let newest = format!("Answer {} goes on and on. ", due - 1).repeat(300);
    assert!(sent.contains(newest.trim_end()), "word for word");
}

#[test]
fn v5_where_the_newest_tokens_are_all_there_is_no_summary_is_tried() {
    let pasted = "some words that the user pastes ".repeat(15_000);
    let mut desk = Desk::with(full());
    desk.exchange(&pasted, Answer::Says("I see.", 100_000));
    for _ in 0..MANY {
        chats(&mut desk);
    }
    assert!(desk.summaries_sent.is_empty() && desk.failures().is_empty());
    assert!(!desk.asked.iter().any(|name| name.starts_with("PreCompact")));
}

#[test]
fn v5_x5_turns_go_on_while_a_summary_that_pays_is_made_and_then_it_takes_its_place() {
    let mut desk = Desk::with(Setting {
        preparation: SummaryTiming::Ahead,
        ..full()
    });
    desk.aside = Some("summarize");
    let begun = (0..MANY).find(|turn| {
        answers(&mut desk, *turn);
        !aheads(&desk).is_empty()
    });
    let sent = desk.sent.len();
    for _ in 0..5 {
        chats(&mut desk);
    }
    assert!(begun.is_some());
    assert_eq!((desk.sent.len(), desk.compactions()), (sent + 5, 0));
    assert_eq!(aheads(&desk), [PreparationEvent::Begun]);
    desk.catch_up();
    chats(&mut desk);
    assert_eq!((desk.compactions(), desk.summaries_sent.len()), (1, 1));
}

#[test]
fn v5_x5_a_summary_that_pays_at_the_threshold_is_asked_for_once() {
    let mut desk = Desk::with(Setting {
        preparation: SummaryTiming::Ahead,
        economy: EconomyPolicy::Off,
        ..setting()
    });
    for turn in 0..40 {
        answers(&mut desk, turn);
    }
    assert_eq!(aheads(&desk), []);
    desk.aside = Some("summarize");
    desk.input(EngineInput::Economy(EconomyPolicy::Full));
    // Estimates are padded.
    let room = (170_000 - used(&desk)) / 4 * 3;
    desk.input(EngineInput::Add(vec![NewEntry::User {
        content: json!("word".repeat(usize::try_from(room).unwrap())),
        shown: EntryAudience::ToNobody,
    }]));
    assert_eq!(desk.engine.status().level, WindowLevel::AutoCompact);
    desk.answers.push_back(Answer::Says("Yes.", 171_000));
    desk.turn();
    assert_eq!(aheads(&desk), [PreparationEvent::Begun]);
    assert_eq!(desk.set_aside.len(), 1);
}

#[test]
fn v5_a_summary_alone_is_not_summarized_again() {
    let mut desk = Desk::with(full());
    for turn in 0..10 {
        answers(&mut desk, turn);
    }
    desk.input(EngineInput::Compact(CompactRequest::default()));
    assert_eq!(desk.compactions(), 1, "{:?}", desk.failures());
    desk.asked.clear();
    let pasted = "some words that the user pastes ".repeat(15_000);
    // Nothing is measured, so the view after the summary is not known to have been as large.
    desk.exchange(&pasted, Answer::Bills(Usage::default()));
    for _ in 0..MANY {
        desk.exchange("And?", Answer::Bills(Usage::default()));
    }
    assert!(used(&desk) > 80_000);
    assert!(!desk.asked.iter().any(|name| name.starts_with("PreCompact")));
}
