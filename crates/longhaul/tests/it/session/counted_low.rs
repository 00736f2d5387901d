//! A provider that counts less than is estimated, as it does with plain prose: sizes are compared on one scale (Y1).

use longhaul::Prompt;
use longhaul_core::config::Config;
use longhaul_core::engine::{CompactRequest, Event};
use serde_json::Value;

use super::scripted::{Heard, MODEL, Stage, words};

#[tokio::test]
async fn y1_a_conversation_that_is_counted_below_its_estimate_is_compacted_at_its_threshold() {
    // One token per word, where five characters are estimated at one and two thirds.
    let turns: Vec<Value> = (0..60).map(|_| words(400)).collect();
    let stage = Stage::new(30_000, &turns).await;
    let heard = Heard::default();
    let mut config = Config::default();
    config.switches.notes = false;
    config.background = false;
    let mut session = (stage.session().config(config))
        .prompt(Prompt::new(MODEL, &"word ".repeat(10_000)))
        .observer(heard.clone())
        .open()
        .unwrap();
    for turn in 0..40 {
        let said = format!("Step {turn}: {}", "look at it ".repeat(60));
        session.say(said).await.unwrap();
        session.turn().await.unwrap();
        if session.compactions() > 0 {
            break;
        }
    }
    let events = heard.0.lock().unwrap();
    let failed: Vec<&Event> = (events.iter())
        .filter(|event| matches!(event, Event::CompactFailed { .. }))
        .collect();
    assert!(failed.is_empty(), "{failed:?}");
    let done = events.iter().find_map(|event| match event {
        Event::Compacted(done) => Some(done),
        _ => None,
    });
    let done = done.unwrap();
    assert_eq!(done.report.user_messages.omitted, 0, "{:?}", done.report);
    let after = session.status().used;
    assert!(
        after + 3_000 <= done.pre_tokens,
        "{after} of {}",
        done.pre_tokens
    );
}

#[tokio::test]
async fn t1_o5_after_a_compaction_the_head_counts_as_it_was_measured_also_on_resume() {
    // The system prompt is estimated at 17,000 tokens and counted as less than 12,000.
    let turns: Vec<Value> = (0..20).map(|_| words(700)).collect();
    let stage = Stage::new(30_000, &turns).await;
    let heard = Heard::default();
    let open = || {
        let mut config = Config::default();
        config.switches.notes = false;
        config.background = false;
        (stage.session().config(config))
            .prompt(Prompt::new(MODEL, &"word ".repeat(10_200)))
            .observer(heard.clone())
            .open()
            .unwrap()
    };
    let mut session = open();
    for turn in 0..5 {
        session.say(format!("Step {turn}.")).await.unwrap();
        session.turn().await.unwrap();
    }
    session.compact(CompactRequest::default()).await.unwrap();
    let view = session.engine().live().ledger().whole().padded();
    let after = session.status().used;
    assert!(after < 12_000 + view, "{after} with a view of {view}");
    drop(session);

    let mut session = open();
    assert_eq!(
        session.status().used,
        after,
        "a resumed session knows it, too"
    );
    // With the estimate of the request prefix this would fill the window: it would be refused, or what was just
    // summarized would be summarized again.
    session.say("look at it ".repeat(1_900)).await.unwrap();
    let before = session.status().used;
    session.turn().await.unwrap();
    assert_eq!(session.compactions(), 0);
    let counted = session.status().used;
    assert!(
        counted - 900 <= before,
        "no less than is counted: {before}, then {counted} with the reply"
    );
    let events = heard.0.lock().unwrap();
    let refused = events
        .iter()
        .any(|event| matches!(event, Event::Refused { .. } | Event::CompactFailed { .. }));
    assert!(!refused);
}

#[tokio::test]
async fn t1_what_one_model_counted_for_the_head_is_not_taken_for_what_another_does() {
    let turns: Vec<Value> = (0..20).map(|_| words(700)).collect();
    let stage = Stage::new(30_000, &turns).await;
    let open = |model: &str| {
        let mut config = Config::default();
        config.switches.notes = false;
        config.background = false;
        config.window_cap = Some(30_000);
        (stage.session().config(config))
            .prompt(Prompt::new(model, &"word ".repeat(10_200)))
            .open()
            .unwrap()
    };
    let mut session = open(MODEL);
    for turn in 0..5 {
        session.say(format!("Step {turn}.")).await.unwrap();
        session.turn().await.unwrap();
    }
    session.compact(CompactRequest::default()).await.unwrap();
    let view = session.engine().live().ledger().whole().padded();
    drop(session);
    let other = open("claude-opus-4-7").status().used;
    assert!(other >= 17_000 + view, "{other} with a view of {view}");
}
