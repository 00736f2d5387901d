//! Tests when folds are made in collapse mode, how much they must free, and what the model is shown for them (O6).

use longhaul_core::engine::{
    CompactFailure, EffectFailureKind, Event, PreparationEvent, Summarizer,
};
use longhaul_core::window::{Switches, WindowOwner};

use super::desk::{Answer, Desk, Setting, Sum};

/// Returns a conversation that commits folds at 14,400 and waits for them at 15,200.
fn collapsing() -> Desk {
    let mut desk = Desk::with(Setting {
        owner: WindowOwner::Collapse,
        switches: Switches {
            collapse: true,
            ..Switches::default()
        },
        ..Setting::default()
    });
    for _ in 0..40 {
        desk.sums.push_back(Sum::Writes(folds(1)));
    }
    desk
}

/// Returns folds of so many sentences each.
fn folds(sentences: usize) -> &'static str {
    let folds = (0..=20).map(|n| {
        let text = format!("What happened in part {n}. ").repeat(sentences);
        format!("<fold n=\"{n}\">{text}</fold>")
    });
    Box::leak(folds.collect::<String>().into_boxed_str())
}

/// Returns an answer of about 1,300 tokens by the padded estimate.
fn answer() -> &'static str {
    Box::leak("A finding about it. ".repeat(190).into_boxed_str())
}

/// Adds exchanges until the window, which starts at `from`, holds `to` tokens.
fn talk(desk: &mut Desk, mut from: u64, to: u64) {
    while from < to {
        from += 1_300;
        desk.exchange(
            &format!("Question at {from}?"),
            Answer::Says(answer(), from),
        );
    }
}

fn aheads(desk: &Desk) -> Vec<PreparationEvent> {
    let events = desk.events.iter().filter_map(|event| match event {
        Event::Ahead(ahead) => Some(*ahead),
        _ => None,
    });
    events.collect()
}

fn asked(desk: &Desk, at: usize) -> String {
    String::from_utf8(desk.summaries_sent[at].body.concat()).unwrap()
}

#[test]
fn o6_x5_folds_are_prepared_ahead_of_their_own_limit_and_not_of_the_threshold() {
    let mut desk = collapsing();
    talk(&mut desk, 0, 9_000);
    // Nine turns of 100 tokens and two more make a lead of 1,100 before 14,400; the threshold is 13,400.
    let mut used = 9_100;
    while used < 13_200 {
        used += 100;
        desk.exchange("And?", Answer::Says("Yes.", used));
        if used < 12_900 {
            assert_eq!(aheads(&desk), [], "{used}");
        }
    }
    used += 300;
    desk.exchange("And now?", Answer::Says("Yes.", used));
    assert!(!aheads(&desk).is_empty());
}

#[test]
fn o6_a_plain_request_for_folds_does_not_speak_of_what_it_does_not_show() {
    let mut desk = collapsing();
    let too_long = EffectFailureKind::TooLong { gap: Some(500) };
    desk.sums.push_front(Sum::Fails(too_long));
    talk(&mut desk, 0, 11_800);
    assert_eq!(desk.summaries_sent.len(), 2);
    assert!(asked(&desk, 0).contains("<stays>"), "a fork shows all");
    assert!(!asked(&desk, 1).contains("<stays>"));
}

#[test]
fn o6_l1_spans_that_are_too_long_are_not_left_out_of_a_request_for_folds() {
    let mut desk = collapsing();
    desk.sums.clear();
    for _ in 0..10 {
        let too_long = EffectFailureKind::TooLong { gap: Some(500) };
        desk.sums.push_back(Sum::Fails(too_long));
    }
    talk(&mut desk, 0, 11_800);
    assert!(desk.failures().contains(&CompactFailure::PromptTooLong));
    let shortened = |event: &Event| matches!(event, Event::TooLongRetry { .. });
    assert!(!desk.events.iter().any(shortened));
}

#[test]
fn o6_folds_that_grew_too_long_are_condensed() {
    let mut desk = collapsing();
    desk.sums.clear();
    for _ in 0..40 {
        desk.sums.push_back(Sum::Writes(folds(40)));
    }
    for _ in 0..4 {
        talk(&mut desk, 7_000, 15_000);
        desk.exchange("And now?", Answer::Says("Now.", 7_000));
    }
    let condenses = |at: usize| asked(&desk, at).contains("n=\\\"0\\\"");
    let condensed: Vec<bool> = (0..desk.summaries_sent.len()).map(condenses).collect();
    assert!(!condensed[0], "{condensed:?}");
    assert!(
        condensed.iter().any(|condensed| *condensed),
        "{condensed:?}"
    );
}

#[test]
fn o6_a_fold_that_frees_little_is_made_only_where_a_turn_must_wait_for_it() {
    let asked_at = |used: u64| {
        let mut desk = collapsing();
        // About 1,000 tokens are old enough to be folded, and a tenth of the window is 1,600.
        for _ in 0..2 {
            let short = Box::leak("A finding about it. ".repeat(100).into_boxed_str());
            desk.exchange("What is it?", Answer::Says(short, 1_000));
        }
        for _ in 0..3 {
            desk.exchange("And?", Answer::Says("Yes.", 1_100));
        }
        let page: &'static str = Box::leak("word ".repeat(7_500).into_boxed_str());
        desk.exchange("Tell me all.", Answer::Says(page, used));
        desk.exchange("Sure?", Answer::Says("Yes.", used));
        desk.summaries_sent.len()
    };
    assert_eq!(asked_at(14_600), 0, "it would free too little");
    assert_eq!(asked_at(15_300), 1);
}

#[test]
fn o6_x9_folds_without_a_model_keep_to_their_spans_though_input_has_no_reply() {
    let mut desk = collapsing();
    desk.sums.clear();
    for _ in 0..40 {
        desk.sums.push_back(Sum::Fails(EffectFailureKind::Network));
    }
    talk(&mut desk, 0, 15_500);
    desk.exchange("And now?", Answer::Says("Now.", 7_000));
    assert_eq!(desk.last_compaction().by, Summarizer::Local);
    let sent = Desk::body(desk.sent.last().unwrap()).to_string();
    assert!(
        sent.matches(answer()).count() >= 2,
        "the newest answers stay word for word"
    );
}
