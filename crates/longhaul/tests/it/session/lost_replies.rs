//! Replies that break off or are stopped are billed: the session says so, and its transcript records it.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use longhaul::session::{Observer, TurnError};
use longhaul::{Boxed, Model, OnStream, Session, StreamEvent};
use longhaul_core::engine::{
    CompactFailure, CompactRequest, EffectFailureKind, Event, ModelRequest,
};
use longhaul_core::inspect::{Inspection, InspectionReport, LineEnd};
use longhaul_core::message::Usage;
use longhaul_core::models::ModelTable;
use longhaul_core::window::WindowSettings;
use longhaul_provider::{CancellationToken, Error, ErrorClass, Reply};

use super::scripted::MODEL;

/// What an attempt does after it has reported its usage and written something.
#[derive(Clone, Copy, PartialEq)]
enum Attempt {
    BreaksOff,
    /// Nothing more comes.
    Stalls,
    Answers,
    RefusesThinking,
}

/// A model with these attempts, one after the other. It keeps the requests.
#[derive(Clone, Default)]
struct Moody(Arc<Mutex<VecDeque<Attempt>>>, Arc<Mutex<Vec<String>>>);

fn begun() -> Usage {
    Usage {
        input: 1_000,
        cache_write_5m: 2_000,
        output: 1,
        ..Usage::default()
    }
}

impl Model for Moody {
    fn send<'a>(
        &'a self,
        request: ModelRequest,
        on_stream: OnStream<'a>,
        cancel: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        let body = String::from_utf8(request.body.concat()).unwrap();
        self.1.lock().unwrap().push(body);
        let attempt = self.0.lock().unwrap().pop_front();
        Box::pin(async move {
            let attempt = attempt.unwrap_or(Attempt::Answers);
            if attempt == Attempt::RefusesThinking {
                let message = "messages.1.content.0: Invalid `signature` in `thinking` block";
                return Err(Error::new(ErrorClass::Invalid, message));
            }
            on_stream(&StreamEvent::Usage(begun()));
            on_stream(&StreamEvent::Text {
                index: 0,
                text: "some words that came ".repeat(10),
            });
            match attempt {
                Attempt::BreaksOff => Err(Error::new(ErrorClass::Cut, "reset")),
                Attempt::Stalls => {
                    cancel.cancelled().await;
                    Err(Error::new(ErrorClass::Cancelled, ""))
                }
                _ => Ok(Reply::from_text("An answer that is whole. ".repeat(2_000))),
            }
        })
    }
}

/// The replies that were lost: for what, and with which usage.
#[derive(Clone, Default)]
struct Lost(Arc<Mutex<Vec<(String, Usage, bool)>>>);

impl Observer for Lost {
    fn event(&self, event: &Event) {
        if let Event::ReplyLost {
            source,
            usage,
            cost,
        } = event
        {
            let lost = (source.to_string(), usage.clone(), cost.is_some());
            self.0.lock().unwrap().push(lost);
        }
    }
}

fn session(model: &Moody, lost: &Lost, transcript: &Path, patience: u64) -> Session {
    Session::builder()
        .model(model.clone())
        .prompt(super::house::prompt(MODEL))
        .observer(lost.clone())
        .transcript(transcript)
        .patience(Duration::from_secs(patience))
        .open()
        .unwrap()
}

fn inspected(transcript: &Path) -> InspectionReport {
    let mut inspection = Inspection::new();
    let text = std::fs::read_to_string(transcript).unwrap();
    for (line, number) in text.lines().zip(1..) {
        inspection.line(number, 0, line.as_bytes(), LineEnd::Lf);
    }
    let models = ModelTable::builtin();
    let report = inspection.report(&models, &WindowSettings::default(), Some(MODEL));
    report.unwrap()
}

fn attempts(attempts: &[Attempt]) -> Moody {
    let model = Moody::default();
    model.0.lock().unwrap().extend(attempts);
    model
}

#[tokio::test(start_paused = true)]
async fn n5_a_reply_that_broke_off_is_billed_and_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("s.jsonl");
    let (model, lost) = (attempts(&[Attempt::BreaksOff]), Lost::default());
    let mut session = session(&model, &lost, &transcript, 60);
    session.say("Hello.").await.unwrap();
    session.turn().await.unwrap();
    let told = lost.0.lock().unwrap().clone();
    let (source, usage, is_priced) = &told[0];
    assert_eq!((told.len(), &**source, *is_priced), (1, "sdk", true));
    assert_eq!((usage.input, usage.cache_write_5m), (1_000, 2_000));
    assert!(
        (40..60).contains(&usage.output),
        "at least what was streamed: {usage:?}"
    );
    let report = inspected(&transcript);
    assert_eq!(report.lost_replies.replies, 1);
    assert_eq!(report.lost_replies.usage.input, 1_000);
    assert!(report.cost_beside().unwrap() > 0.003);
    assert_eq!(report.rounds, 1, "no reader takes it for a reply");
    assert_eq!(report.usage.input, 0);
    assert_eq!(report.billed_usage().input, 1_000);
}

#[tokio::test]
async fn n5_a_stopped_reply_and_a_stopped_summary_are_recorded_when_the_call_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("s.jsonl");
    let script = [Attempt::Answers, Attempt::Stalls, Attempt::Stalls];
    let (model, lost) = (attempts(&script), Lost::default());
    let mut session = session(&model, &lost, &transcript, 60);
    let stop_soon = |session: &Session| {
        let cancel = session.canceller();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(100)).await;
            cancel.cancel();
        });
    };
    session.say("Tell me something.").await.unwrap();
    session.turn().await.unwrap();
    session.say("Go on.").await.unwrap();
    stop_soon(&session);
    let Err(TurnError::Failed(failed)) = session.turn().await else {
        panic!("it was stopped");
    };
    assert_eq!(failed.kind, EffectFailureKind::Cancelled);
    assert_eq!(inspected(&transcript).lost_replies.replies, 1);
    stop_soon(&session);
    let stopped = session.compact(CompactRequest::default()).await;
    assert_eq!(stopped.unwrap_err().kind, CompactFailure::Cancelled);
    let report = inspected(&transcript);
    assert_eq!(report.lost_replies.replies, 2);
    assert_eq!(report.lost_replies.usage.cache_write_5m, 4_000);
    let sources: Vec<String> = (lost.0.lock().unwrap().iter().map(|lost| lost.0.clone())).collect();
    assert_eq!(sources, ["sdk", "compact"]);
}

#[tokio::test(start_paused = true)]
async fn n5_patience_bounds_a_reply_that_stalls() {
    let folder = tempfile::tempdir().unwrap();
    let (model, lost) = (attempts(&[Attempt::Stalls; 9]), Lost::default());
    let transcript = folder.path().join("s.jsonl");
    let mut session = session(&model, &lost, &transcript, 60);
    session.say("Hello.").await.unwrap();
    let begun = tokio::time::Instant::now();
    let Err(TurnError::Failed(failed)) = session.turn().await else {
        panic!("it cannot succeed");
    };
    assert!(
        failed.message.contains("nothing came for 60s"),
        "{}",
        failed.message
    );
    let took = begun.elapsed().as_secs();
    assert!((60..200).contains(&took), "{took} s");
    assert!(lost.0.lock().unwrap().len() >= 2, "each attempt is billed");
}

#[tokio::test]
async fn n2_refused_thinking_is_left_out_and_the_request_is_sent_again_once() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("s.jsonl");
    let user = |uuid: &str, parent: &str, text: &str| {
        format!(
            r#"{{"type":"user","uuid":"{uuid}","parentUuid":{parent},"sessionId":"s","timestamp":"2026-11-01T10:00:00.000Z","message":{{"role":"user","content":"{text}"}}}}"#
        )
    };
    let reply = format!(
        r#"{{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","timestamp":"2026-11-01T10:00:01.000Z","message":{{"id":"msg_1","type":"message","role":"assistant","model":"{MODEL}","content":[{{"type":"thinking","thinking":"Hm.","signature":"Zm9yZWlnbg=="}},{{"type":"text","text":"Yes."}}],"stop_reason":"end_turn","usage":{{"input_tokens":10,"output_tokens":9}}}}}}"#
    );
    let lines = [user("u1", "null", "Hello."), reply];
    std::fs::write(&transcript, lines.join("\n") + "\n").unwrap();
    let refused = [Attempt::RefusesThinking];
    let (model, lost) = (attempts(&refused), Lost::default());
    let mut resumed = session(&model, &lost, &transcript, 60);
    resumed.say("Go on.").await.unwrap();
    resumed.turn().await.unwrap();
    let sent = model.1.lock().unwrap().clone();
    let has_thinking: Vec<bool> = sent
        .iter()
        .map(|body| body.contains("Zm9yZWlnbg"))
        .collect();
    assert_eq!(has_thinking, [true, false]);
    drop(resumed);
    // The transcript knows, so the next process does not try it again.
    let mut again = session(&model, &lost, &transcript, 60);
    again.say("And more.").await.unwrap();
    again.turn().await.unwrap();
    let sent = model.1.lock().unwrap().clone();
    assert_eq!(sent.len(), 3);
    assert!(!sent[2].contains("Zm9yZWlnbg"));
}
