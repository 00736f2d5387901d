//! Requests that fail: what the session makes of it.

use longhaul::prelude::*;
use longhaul::{Cancellation, EffectFailureKind};
use longhaul_genai::RetryPolicy;

use crate::stage::{ADAPTERS, MODEL, Setting, model, session, start, tools};

/// The kind of a turn that failed.
fn kind(turn: Result<Reply, TurnError>) -> EffectFailureKind {
    match turn {
        Err(TurnError::Failed(failure)) => failure.kind,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn l1_a_prompt_that_is_too_long_is_recognized_and_the_session_recovers() {
    for adapter in ADAPTERS {
        // The session believes in a window of a million tokens.
        let server = start(Setting {
            window: Some(40_000),
            ..Setting::default()
        })
        .await;
        let mut prompt = Prompt::new(MODEL, "You read code.");
        prompt.max_tokens = 2_000;
        let mut session = Session::builder()
            .model(model(&server, adapter, "a key"))
            .prompt(prompt)
            .open()
            .unwrap();
        for part in 1..=12 {
            let code = format!("let part{part} = read();\n").repeat(600);
            session
                .say(format!("This is part {part}:\n{code}"))
                .await
                .unwrap();
            session.turn().await.unwrap();
        }
        let refused = server.with_world(|world| world.usage_log().total.errors);
        let compactions = session.compactions();
        println!("{adapter}: {refused} refused, {compactions} compactions");
        assert!(refused >= 1, "{adapter}: the server refused a prompt");
        assert!(compactions >= 1, "{adapter}: the session recovered");
    }
}

#[tokio::test]
async fn a_key_that_is_refused_is_told_as_such() {
    for adapter in ADAPTERS {
        let server = start(Setting::default()).await;
        // The simulator takes any key but an empty one.
        let mut session = session(model(&server, adapter, ""), &tools())
            .open()
            .unwrap();
        session.say("Hello.").await.unwrap();
        assert_eq!(
            kind(session.turn().await),
            EffectFailureKind::Auth,
            "{adapter}"
        );
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_network_failure() {
    for adapter in ADAPTERS {
        let server = start(Setting::default()).await;
        let model = model(&server, adapter, "a key");
        server.stop().await;
        let mut session = session(model, &tools()).open().unwrap();
        session.say("Hello.").await.unwrap();
        assert_eq!(
            kind(session.turn().await),
            EffectFailureKind::Network,
            "{adapter}"
        );
    }
}

#[tokio::test]
async fn an_overloaded_server_is_asked_again_as_often_as_the_policy_says() {
    let twice = || Setting {
        faults: "529*2",
        ..Setting::default()
    };
    for adapter in ADAPTERS {
        let server = start(twice()).await;
        let model_once = model(&server, adapter, "a key").with_retry(RetryPolicy::never());
        let mut impatient = session(model_once, &tools()).open().unwrap();
        impatient.say("Hello.").await.unwrap();
        assert_eq!(
            kind(impatient.turn().await),
            EffectFailureKind::Transient,
            "{adapter}"
        );

        let server = start(twice()).await;
        let mut session = session(model(&server, adapter, "a key"), &tools())
            .open()
            .unwrap();
        session.say("Hello.").await.unwrap();
        session.turn().await.unwrap();
    }
}

#[tokio::test]
async fn a_reply_that_breaks_off_is_not_taken_for_a_whole_one() {
    for adapter in ADAPTERS {
        for fault in ["truncate", "reset", "error"] {
            let server = start(Setting {
                faults: fault,
                ..Setting::default()
            })
            .await;
            let mut session = session(model(&server, adapter, "a key"), &tools())
                .open()
                .unwrap();
            session.say("Hello.").await.unwrap();
            let kind = kind(session.turn().await);
            assert_eq!(kind, EffectFailureKind::Transient, "{adapter}: {fault}");
        }
    }
}

/// Cancels as soon as something of a reply is reported.
struct Impatient(Cancellation);

impl Observer for Impatient {
    fn stream(&self, _: &StreamEvent) {
        self.0.cancel();
    }
}

#[tokio::test]
async fn f8_a_cancel_ends_a_request_whose_reply_has_stalled() {
    for adapter in ADAPTERS {
        let server = start(Setting {
            faults: "stall",
            ..Setting::default()
        })
        .await;
        let cancellation = Cancellation::default();
        let mut session = session(model(&server, adapter, "a key"), &tools())
            .cancellation(cancellation.clone())
            .observer(Impatient(cancellation))
            .open()
            .unwrap();
        session.say("Hello.").await.unwrap();
        assert_eq!(
            kind(session.turn().await),
            EffectFailureKind::Cancelled,
            "{adapter}"
        );
    }
}
