//! Replies that end because the window is full: `model_context_window_exceeded` (O3, ruling 17).

use longhaul_core::config::Config;
use longhaul_core::engine::{CompactRequest, Event, ReplyDelivery};
use longhaul_provider::StopReason;
use serde_json::{Value, json};

use super::scripted::{Heard, Stage, words};

/// A first reply that leaves less room than a reply may take, one that wants more than is left, and then short ones:
/// a request for a summary counts as a call, too.
fn turns() -> Vec<Value> {
    let mut turns = vec![words(15_000), words(20_000)];
    turns.extend((0..4).map(|_| json!({"text": "In short: yes."})));
    turns
}

fn config() -> Config {
    let mut config = Config::default();
    config.switches.notes = false;
    config.background = false;
    // Only the provider's report makes the window smaller.
    config.reactive_only = true;
    config
}

fn said(lines: &[Value]) -> Vec<String> {
    let replies = lines.iter().filter(|line| line["type"] == "assistant");
    let stops = replies.map(|line| line["message"]["stop_reason"].as_str().unwrap().to_owned());
    stops.collect()
}

#[tokio::test]
async fn o3_a_reply_that_ran_out_of_room_is_withheld_and_the_turn_tried_again() {
    let stage = Stage::new(30_000, &turns()).await;
    let heard = Heard::default();
    let mut session = (stage.session().config(config()))
        .observer(heard.clone())
        .delivery(ReplyDelivery::Whole)
        .open()
        .unwrap();
    session.say("Tell me all about it.").await.unwrap();
    session.turn().await.unwrap();
    session
        .say("And now all of it again, longer.")
        .await
        .unwrap();
    let reply = session.turn().await.unwrap();
    assert_eq!(reply.text(), "In short: yes.");
    assert_eq!(reply.stop, Some(StopReason::EndTurn));
    assert_eq!(session.compactions(), 1);
    let stops = said(&stage.lines());
    assert!(
        !stops.contains(&"model_context_window_exceeded".to_owned()),
        "{stops:?}"
    );
    // The withheld reply is billed and reported.
    let events = heard.0.lock().unwrap();
    let billed = events.iter().find_map(|event| match event {
        Event::Withheld { usage, .. } => Some(usage.output),
        _ => None,
    });
    assert!(billed.unwrap() > 10_000, "{billed:?}");
}

#[tokio::test]
async fn o3_a_session_that_nobody_watches_withholds_by_itself() {
    let stage = Stage::new(30_000, &turns()).await;
    let mut session = stage.session().config(config()).open().unwrap();
    for said in ["Tell me all about it.", "Again, longer."] {
        session.say(said).await.unwrap();
    }
    session.turn().await.unwrap();
    session.say("Again, longer.").await.unwrap();
    assert_eq!(session.turn().await.unwrap().text(), "In short: yes.");
}

#[tokio::test]
async fn o3_h6_what_was_streamed_stands_and_the_next_request_is_made_smaller_first() {
    let stage = Stage::new(30_000, &turns()).await;
    let mut session = (stage.session().config(config()))
        .observer(Heard::default())
        .open()
        .unwrap();
    session.say("Tell me all about it.").await.unwrap();
    session.turn().await.unwrap();
    session
        .say("And now all of it again, longer.")
        .await
        .unwrap();
    let reply = session.turn().await.unwrap();
    assert_eq!(reply.stop, Some(StopReason::ContextWindowExceeded));
    assert_eq!(session.compactions(), 0);
    let stops = said(&stage.lines());
    assert_eq!(stops.last().unwrap(), "model_context_window_exceeded");
    // Another process resumes it: the file alone says that the window was full.
    drop(session);
    let mut session = stage.session().config(config()).open().unwrap();
    session.say("In short?").await.unwrap();
    let reply = session.turn().await.unwrap();
    assert_eq!(reply.text(), "In short: yes.");
    assert_eq!(session.compactions(), 1, "before the request");
    assert!(session.status().used < 15_000, "{}", session.status().used);
}

#[tokio::test]
async fn o3_where_nothing_may_be_compacted_the_reply_is_passed_on_as_it_is() {
    let stage = Stage::new(30_000, &turns()).await;
    let mut config = config();
    config.switches.reactive = false;
    let mut session = stage.session().config(config).open().unwrap();
    session.say("Tell me all about it.").await.unwrap();
    session.turn().await.unwrap();
    session
        .say("And now all of it again, longer.")
        .await
        .unwrap();
    let reply = session.turn().await.unwrap();
    assert_eq!(reply.stop, Some(StopReason::ContextWindowExceeded));
    session.compact(CompactRequest::default()).await.unwrap();
}
