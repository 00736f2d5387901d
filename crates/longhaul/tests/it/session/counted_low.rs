//! A provider that counts less than is estimated, as it does with plain prose: sizes are compared on one scale (Y1).

use longhaul::Prompt;
use longhaul_core::config::Config;
use longhaul_core::engine::Event;
use serde_json::Value;

use super::scripted::{Heard, MODEL, Stage, words};

#[tokio::test]
async fn y1_a_conversation_that_is_counted_below_its_estimate_is_compacted_at_its_threshold() {
    // A token a word, where five characters are estimated at a token and two thirds.
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
