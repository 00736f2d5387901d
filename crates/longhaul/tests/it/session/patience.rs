//! A session with patience sends the request for a turn again; each wait is reported, and a part of a reply is dropped.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use longhaul::session::{Observer, RetryWait, TurnError};
use longhaul::{Boxed, Model, OnStream, Session, StreamEvent};
use longhaul_core::engine::{EffectFailureKind, ModelRequest};
use longhaul_provider::{CancellationToken, Error, ErrorClass, Reply};

use super::scripted::MODEL;

/// What an attempt does.
#[derive(Clone, Copy)]
enum Attempt {
    Fails(ErrorClass),
    /// A piece of text arrives first.
    BreaksOff,
    Answers,
}

/// A model with these attempts, one after the other; the last one is repeated. It keeps the last request.
struct Moody(Mutex<VecDeque<Attempt>>, Arc<Mutex<String>>);

impl Model for Moody {
    fn send<'a>(
        &'a self,
        request: ModelRequest,
        on_stream: OnStream<'a>,
        _: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        *self.1.lock().unwrap() = String::from_utf8(request.body.concat()).unwrap();
        let mut attempts = self.0.lock().unwrap();
        let attempt = match attempts.len() {
            1 => attempts[0],
            _ => attempts.pop_front().unwrap(),
        };
        Box::pin(async move {
            match attempt {
                Attempt::Fails(class) => Err(Error::new(class, "bad weather")),
                Attempt::BreaksOff => {
                    on_stream(&StreamEvent::Text {
                        index: 0,
                        text: "Half".to_owned(),
                    });
                    Err(Error::new(ErrorClass::Cut, "reset"))
                }
                Attempt::Answers => Ok(Reply::from_text("Whole.")),
            }
        })
    }
}

/// Notes what an observer is told, beside the last request.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>, Arc<Mutex<String>>);

impl Observer for Notes {
    fn stream(&self, event: &StreamEvent) {
        let told = match event {
            StreamEvent::Text { text, .. } => text.clone(),
            StreamEvent::Restarted => "restarted".to_owned(),
            _ => return,
        };
        self.0.lock().unwrap().push(told);
    }

    fn retrying(&self, wait: &RetryWait) {
        let told = format!("try {} in {:.0}", wait.attempt, wait.wait.as_secs_f64());
        self.0.lock().unwrap().push(told);
    }
}

fn session(attempts: &[Attempt], patience: Duration) -> (Session, Notes) {
    let notes = Notes::default();
    let attempts = attempts.iter().copied().collect();
    let session = Session::builder()
        .model(Moody(Mutex::new(attempts), notes.1.clone()))
        .prompt(super::house::prompt(MODEL))
        .observer(notes.clone())
        .patience(patience)
        .open()
        .unwrap();
    (session, notes)
}

const OVERLOADED: Attempt = Attempt::Fails(ErrorClass::Overloaded { after: None });
const TEN_MINUTES: Duration = Duration::from_secs(600);

#[tokio::test(start_paused = true)]
async fn n5_a_turn_is_tried_again_until_it_is_answered_and_a_part_of_a_reply_is_dropped() {
    let after = Some(Duration::from_secs(20));
    let limited = Attempt::Fails(ErrorClass::RateLimited { after });
    let attempts = [OVERLOADED, limited, Attempt::BreaksOff, Attempt::Answers];
    let (mut session, notes) = session(&attempts, TEN_MINUTES);
    session.say("Hello.").await.unwrap();
    assert_eq!(session.turn().await.unwrap().text(), "Whole.");
    let told = notes.0.lock().unwrap().clone();
    assert_eq!(told[0], "try 2 in 1");
    // As long as the server asked for, and up to a second more.
    assert!(
        ["try 3 in 20", "try 3 in 21"].contains(&told[1].as_str()),
        "{told:?}"
    );
    assert_eq!(told[2..4], ["Half", "restarted"]);
    assert!(told[4].starts_with("try 4 in "), "{told:?}");
    session.say("Go on.").await.unwrap();
    session.turn().await.unwrap();
    let request = notes.1.lock().unwrap().clone();
    assert!(request.contains("Whole.") && !request.contains("Half"));
}

#[tokio::test(start_paused = true)]
async fn n5_patience_ends_and_the_failure_says_how_often_it_was_tried() {
    let (mut session, notes) = session(&[OVERLOADED], TEN_MINUTES);
    session.say("Hello.").await.unwrap();
    let begun = tokio::time::Instant::now();
    let Err(TurnError::Failed(failed)) = session.turn().await else {
        panic!("it cannot succeed");
    };
    assert_eq!(begun.elapsed().as_secs(), 600);
    let tries = notes.0.lock().unwrap().len() + 1;
    assert!((20..40).contains(&tries), "{tries}");
    assert_eq!(failed.kind, EffectFailureKind::Overloaded);
    assert!(
        failed.message.contains(&format!("tried {tries} times")),
        "{}",
        failed.message
    );
}

#[tokio::test(start_paused = true)]
async fn n5_what_does_not_pass_is_never_tried_again() {
    for class in [
        ErrorClass::Auth,
        ErrorClass::Billing,
        ErrorClass::Invalid,
        ErrorClass::NotFound,
    ] {
        let (mut session, notes) = session(&[Attempt::Fails(class)], TEN_MINUTES);
        session.say("Hello.").await.unwrap();
        session.turn().await.unwrap_err();
        assert_eq!(notes.0.lock().unwrap().len(), 0, "{class:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn n5_a_cancel_ends_the_wait() {
    let (mut session, _) = session(&[OVERLOADED], TEN_MINUTES);
    session.say("Hello.").await.unwrap();
    let cancel = session.canceller();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(100)).await;
        cancel.cancel();
    });
    let Err(TurnError::Failed(failed)) = session.turn().await else {
        panic!("it cannot succeed");
    };
    assert_eq!(failed.kind, EffectFailureKind::Cancelled);
}
