//! Tests collapse mode: old rounds are folded beside the conversation.

use longhaul_core::collapse::Folds;
use longhaul_core::engine::{
    CompactFailure, EffectFailureKind, Event, PreparationEvent, Summarizer,
};
use longhaul_core::window::{Switches, WindowOwner};

use super::desk::{Answer, Desk, Setting, Sum};

/// Returns a conversation that commits at 14,400 and waits at 15,200.
fn collapsing() -> Desk {
    let mut desk = Desk::with(Setting {
        owner: WindowOwner::Collapse,
        switches: Switches {
            collapse: true,
            ..Switches::default()
        },
        ..Setting::default()
    });
    for _ in 0..20 {
        desk.sums.push_back(Sum::Writes(folds()));
    }
    desk
}

fn folds() -> &'static str {
    let folds: Vec<String> = (0..=20)
        .map(|n| format!("<fold n=\"{n}\">What happened in part {n}.</fold>"))
        .collect();
    Box::leak(folds.concat().into_boxed_str())
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

fn folded(desk: &Desk) -> Folds {
    let boundary = desk.engine.live().views().next().unwrap();
    Folds::from_boundary(boundary).unwrap()
}

#[test]
fn o6_the_oldest_rounds_are_folded_beside_the_conversation_and_put_in_place_at_nine_tenths() {
    let mut desk = collapsing();
    talk(&mut desk, 0, 11_800);
    assert_eq!(
        aheads(&desk),
        [PreparationEvent::Begun, PreparationEvent::Ready]
    );
    assert_eq!(desk.compactions(), 0, "not before it is due");
    talk(&mut desk, 11_700, 14_000);
    assert_eq!(
        desk.compactions(),
        0,
        "the other owner's threshold says nothing"
    );
    talk(&mut desk, 14_100, 15_000);
    assert_eq!(desk.compactions(), 0);
    desk.exchange("And now?", Answer::Says("Now.", 7_000));
    let done = desk.last_compaction();
    assert_eq!((done.by, done.waited), (Summarizer::Fold, 0));
    assert!(done.after < done.before);
    let sent = Desk::body(desk.sent.last().unwrap()).to_string();
    assert!(sent.contains("What happened in part 1."));
    assert!(
        sent.contains("Question at 1300?"),
        "what the user said is kept in any case"
    );
    assert!(!folded(&desk).spans().is_empty());
}

#[test]
fn o6_what_was_folded_stays_word_for_word_and_new_folds_come_behind() {
    let mut desk = collapsing();
    talk(&mut desk, 0, 15_000);
    desk.exchange("And now?", Answer::Says("Now.", 7_000));
    let first = folded(&desk);
    talk(&mut desk, 7_000, 15_000);
    desk.exchange("And then?", Answer::Says("Then.", 7_000));
    assert!(desk.compactions() >= 2);
    let second = folded(&desk);
    assert!(second.spans().len() > first.spans().len());
    assert_eq!(second.spans()[..first.spans().len()], *first.spans());
}

#[test]
fn o6_the_fork_shows_all_that_was_sent_and_nothing_is_asked_of_tools() {
    let mut desk = collapsing();
    talk(&mut desk, 0, 11_800);
    let fork = String::from_utf8(desk.summaries_sent[0].body.concat()).unwrap();
    let asked_after = desk.sent.iter().rposition(|sent| {
        let parent = String::from_utf8(sent.body.concat()).unwrap();
        fork.starts_with(parent.strip_suffix("]}]}").unwrap())
    });
    assert!(
        asked_after.is_some(),
        "a request of the conversation is its beginning"
    );
    assert_eq!(desk.summaries_sent[0].source.as_str(), "collapse");
}

#[test]
fn o6_at_nineteen_twentieths_a_turn_waits_for_the_folds() {
    let mut desk = collapsing();
    desk.aside = Some("summarize");
    talk(&mut desk, 0, 13_000);
    desk.exchange("Still going?", Answer::Says("Yes.", 14_500));
    desk.exchange("And still?", Answer::Says("Yes.", 14_800));
    assert!(desk.engine.is_idle(), "below it turns go on");
    desk.exchange("And?", Answer::Says("Yes.", 15_300));
    let sent = desk.sent.len();
    desk.say("And now?");
    desk.turn();
    assert_eq!(desk.sent.len(), sent, "it waits");
    desk.later(4);
    desk.catch_up();
    assert_eq!(desk.last_compaction().waited, 4_000);
    assert_eq!(desk.sent.len(), sent + 1);
}

#[test]
fn o6_x9_where_the_window_is_full_and_the_model_fails_folds_are_made_without_it() {
    let mut desk = collapsing();
    desk.sums.clear();
    for _ in 0..40 {
        desk.sums
            .push_back(Sum::Fails(EffectFailureKind::Transient));
    }
    talk(&mut desk, 0, 15_500);
    desk.exchange("And now?", Answer::Says("Now.", 7_000));
    assert_eq!(desk.last_compaction().by, Summarizer::Local);
    assert!(desk.failures().contains(&CompactFailure::ApiError));
    assert!(
        !folded(&desk).spans().is_empty(),
        "spans are spans, whoever folded them"
    );
}

#[test]
fn l1_o6_where_a_fork_is_too_long_only_what_is_folded_is_sent() {
    let mut desk = collapsing();
    let too_long = EffectFailureKind::TooLong { gap: Some(500) };
    desk.sums.push_front(Sum::Fails(too_long));
    talk(&mut desk, 0, 11_800);
    assert_eq!(
        aheads(&desk),
        [PreparationEvent::Begun, PreparationEvent::Ready]
    );
    assert_eq!(desk.failures(), []);
    let sizes: Vec<usize> = desk
        .summaries_sent
        .iter()
        .map(|sent| sent.body.concat().len())
        .collect();
    assert!(sizes.len() == 2 && sizes[1] < sizes[0], "{sizes:?}");
    let plain = String::from_utf8(desk.summaries_sent[1].body.concat()).unwrap();
    assert!(plain.contains("Question at 1300?") && !plain.contains("Question at 11700?"));
}

#[test]
fn o3_o6_a_request_that_is_too_long_is_compacted_as_a_whole() {
    let mut desk = collapsing();
    talk(&mut desk, 0, 8_000);
    desk.sums.clear();
    desk.say("And now?");
    desk.answers
        .push_back(Answer::Fails(EffectFailureKind::TooLong { gap: None }));
    desk.answers.push_back(Answer::Says("Fine.", 3_000));
    desk.turn();
    assert_eq!(desk.last_compaction().by, Summarizer::Fork);
    let boundary = desk.engine.live().views().next().unwrap();
    assert!(Folds::from_boundary(boundary).is_none());
}

#[test]
fn o6_a_summary_of_the_whole_becomes_the_first_fold() {
    let mut desk = collapsing();
    talk(&mut desk, 0, 8_000);
    let sums = std::mem::take(&mut desk.sums);
    desk.say("And now?");
    desk.answers
        .push_back(Answer::Fails(EffectFailureKind::TooLong { gap: None }));
    desk.answers.push_back(Answer::Says("Fine.", 3_000));
    desk.turn();
    desk.sums = sums;
    talk(&mut desk, 3_000, 15_000);
    desk.exchange("And then?", Answer::Says("Then.", 7_000));
    let folds = folded(&desk);
    assert!(
        folds.spans()[0].text.contains("build a parser"),
        "{folds:?}"
    );
    assert!(folds.spans().len() > 1);
}

#[test]
fn o6_h5_switched_off_nothing_is_folded_although_collapse_owns_the_window() {
    let mut desk = Desk::with(Setting {
        owner: WindowOwner::Collapse,
        ..Setting::default()
    });
    talk(&mut desk, 0, 14_300);
    assert_eq!(aheads(&desk), []);
    assert!(desk.summaries_sent.is_empty());
    assert_eq!(desk.compactions(), 0);
}

#[test]
fn o6_where_nothing_was_prepared_a_turn_waits_for_folds_only_if_it_must() {
    let sent_with = |said: usize| {
        let mut desk = collapsing();
        talk(&mut desk, 0, 9_000);
        assert_eq!(aheads(&desk), [], "it was too early");
        desk.aside = Some("summarize");
        let before = desk.sent.len();
        desk.say(&"word ".repeat(said * 3 / 5));
        desk.turn();
        assert_eq!(desk.set_aside.len(), 1, "folds are made now");
        (desk.sent.len() - before, aheads(&desk))
    };
    let goes_on = (1, vec![PreparationEvent::Begun]);
    assert_eq!(sent_with(5_500), goes_on);
    assert_eq!(sent_with(6_300), (0, vec![]));
}
