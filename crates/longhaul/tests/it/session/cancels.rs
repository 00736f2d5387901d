//! What a host learns about a turn that gave no reply: that it was cancelled, whenever that was, or why the model
//! failed.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use longhaul::session::TurnError;
use longhaul::{Boxed, Model, OnStream, Session};
use longhaul_core::engine::{CompactFailure, CompactRequest, EffectFailureKind, ModelRequest};
use longhaul_provider::{CancellationToken, Error, ErrorClass, Reply};

use super::scripted::{MODEL, Stage, words};

#[tokio::test]
async fn f8_a_cancel_between_two_calls_ends_the_next_turn_and_no_other() {
    let stage = Stage::new(200_000, &vec![words(20); 4]).await;
    let mut session = stage.session().open().unwrap();
    session.say("Hello.").await.unwrap();
    session.turn().await.unwrap();
    let sent = stage.sent.lock().unwrap().len();
    session.canceller().cancel();
    session.say("Go on.").await.unwrap();
    let stopped = session.turn().await;
    assert!(
        matches!(&stopped, Err(TurnError::Failed(failed)) if failed.kind == EffectFailureKind::Cancelled),
        "{stopped:?}"
    );
    assert_eq!(stage.sent.lock().unwrap().len(), sent, "nothing was sent");
    session.turn().await.unwrap();
}

#[tokio::test]
async fn f8_a_cancel_before_a_compaction_by_hand_ends_it() {
    let stage = Stage::new(200_000, &vec![words(4_000); 4]).await;
    let mut session = stage.session().open().unwrap();
    for _ in 0..2 {
        session.say("Hello.").await.unwrap();
        session.turn().await.unwrap();
    }
    session.canceller().cancel();
    let stopped = session.compact(CompactRequest::default()).await;
    assert_eq!(stopped.unwrap_err().kind, CompactFailure::Cancelled);
    session.compact(CompactRequest::default()).await.unwrap();
}

/// A model that fails in these ways, one after the other.
struct Failing(Mutex<VecDeque<ErrorClass>>);

impl Model for Failing {
    fn send<'a>(
        &'a self,
        _: ModelRequest,
        _: OnStream<'a>,
        _: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        let class = self.0.lock().unwrap().pop_front().unwrap();
        Box::pin(async move { Err(Error::new(class, "it failed")) })
    }
}

#[tokio::test]
async fn o3_a_turn_that_failed_says_what_kind_of_failure_it_was_and_when_to_try_again() {
    let after = Some(Duration::from_secs(7));
    let table = [
        (ErrorClass::Auth, EffectFailureKind::Auth, None),
        (ErrorClass::Billing, EffectFailureKind::Billing, None),
        (
            ErrorClass::RateLimited { after },
            EffectFailureKind::RateLimited,
            after,
        ),
        (ErrorClass::Invalid, EffectFailureKind::Invalid, None),
        (
            ErrorClass::Overloaded { after },
            EffectFailureKind::Transient,
            after,
        ),
        (ErrorClass::Cancelled, EffectFailureKind::Cancelled, None),
    ];
    let classes = table.iter().map(|(class, ..)| *class).collect();
    let mut session = Session::builder()
        .model(Failing(Mutex::new(classes)))
        .prompt(super::house::prompt(MODEL))
        .open()
        .unwrap();
    session.say("Hello.").await.unwrap();
    for (_, kind, retry_after) in table {
        let Err(TurnError::Failed(failed)) = session.turn().await else {
            panic!("it cannot succeed");
        };
        assert_eq!((failed.kind, failed.retry_after), (kind, retry_after));
    }
}
