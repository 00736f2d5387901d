//! A request for a summary that is too long itself: the provider's window is enforced, so each try is seen as it came.

use longhaul::Session;
use longhaul::session::CompactOutcome;
use longhaul_core::engine::{CompactFailure, CompactRequest, Event, Summarizer};
use longhaul_core::rounds::MARKER;
use serde_json::Value;

use super::scripted::{Heard, Stage, texts, words};
use super::set::set;

/// The model that is asked for summaries, with a window of this size.
fn summarizer(window: u64) -> String {
    format!("[models.claude-haiku-4-5]\nwindow = {window}\n")
}

/// A session whose summaries are written by another model, after this many exchanges.
async fn talked(stage: &Stage, heard: &Heard, exchanges: usize) -> Session {
    let config = set("summary_model = \"claude-haiku-4-5\"\n");
    let session = stage.session().config(config).observer(heard.clone());
    let mut session = session.open().unwrap();
    for exchange in 0..exchanges {
        let said = format!("Question {exchange}: what is there to say about it?");
        session.say(said).await.unwrap();
        session.turn().await.unwrap();
    }
    session
}

/// The requests for a summary.
fn asked(stage: &Stage) -> Vec<Value> {
    let sent = stage.sent.lock().unwrap();
    let asked = sent
        .iter()
        .filter(|body| body["model"] == "claude-haiku-4-5");
    asked.cloned().collect()
}

async fn by(session: &mut Session) -> Summarizer {
    match session.compact(CompactRequest::default()).await.unwrap() {
        CompactOutcome::Done(done) => done.by,
        CompactOutcome::Preview(preview) => panic!("{preview:?}"),
    }
}

fn heard_failures(heard: &Heard) -> Vec<CompactFailure> {
    let events = heard.0.lock().unwrap();
    let failures = events.iter().filter_map(|event| match event {
        Event::CompactFailed { kind, .. } => Some(*kind),
        _ => None,
    });
    failures.collect()
}

#[tokio::test]
async fn l2_each_shorter_request_begins_with_one_marker_and_drops_more_of_the_conversation() {
    // The provider counts fewer tokens than are estimated, so that one retry is not enough.
    let turns: Vec<Value> = (0..24).map(|_| words(900)).collect();
    let stage = Stage::with_models(&summarizer(15_000), &turns).await;
    let heard = Heard::default();
    let mut session = talked(&stage, &heard, 24).await;
    assert_eq!(by(&mut session).await, Summarizer::Plain);
    assert_eq!(heard_failures(&heard), []);
    let asked = asked(&stage);
    assert!(asked.len() >= 3, "{} requests", asked.len());
    assert_eq!(texts(&asked[0]).concat().matches(MARKER.trim()).count(), 0);
    let mut left = asked[0]["messages"].as_array().unwrap().len();
    for request in &asked[1..] {
        let messages = request["messages"].as_array().unwrap();
        let texts = texts(request);
        assert_eq!(messages[0]["role"], "user");
        assert_eq!(texts[0], MARKER.trim());
        assert_eq!(texts.concat().matches(MARKER.trim()).count(), 1);
        assert_eq!(messages[1]["role"], "assistant");
        // The marker is a message of its own, in place of at least a reply and a question.
        assert!(messages.len() < left, "{} of {left}", messages.len());
        left = messages.len();
        let newest = texts.iter().any(|text| text.contains("Question 23:"));
        assert!(newest, "the newest part is never dropped");
    }
    let is_marker = |line: &Value| line["message"]["content"] == MARKER.trim();
    assert!(
        !stage.lines().iter().any(is_marker),
        "it is in requests alone"
    );
}

#[tokio::test]
async fn l3_y1_with_nothing_left_to_drop_the_model_is_given_up_and_extracts_take_its_place() {
    let stage = Stage::with_models(&summarizer(4_000), &[words(5_000), words(5_000)]).await;
    let heard = Heard::default();
    let mut session = talked(&stage, &heard, 2).await;
    let before = std::fs::read(stage.transcript()).unwrap();
    assert_eq!(by(&mut session).await, Summarizer::Local);
    assert_eq!(heard_failures(&heard), [CompactFailure::PromptTooLong]);
    let asked = asked(&stage);
    assert_eq!(asked.len(), 2, "the newest reply alone is too long");
    // What failed has left nothing: a compaction follows what was there.
    let after = std::fs::read(stage.transcript()).unwrap();
    assert!(after.starts_with(&before));
    let added = String::from_utf8(after[before.len()..].to_vec()).unwrap();
    let first: Value = serde_json::from_str(added.lines().next().unwrap()).unwrap();
    assert_eq!(first["subtype"], "compact_boundary");
    assert_eq!(added.matches("compact_boundary").count(), 1);
    session.say("And now?").await.unwrap();
    session.turn().await.unwrap();
    let seen = texts(&stage.last_sent()).join("\n");
    for said in ["Question 0:", "Question 1:", "And now?"] {
        assert!(seen.contains(said), "{said}");
    }
}
