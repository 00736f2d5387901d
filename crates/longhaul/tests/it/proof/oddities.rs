//! Odd conversations (Y1, X9): whatever comes, a normal turn works afterwards.

use std::fmt::Write as _;
use std::path::Path;

use longhaul::Session;
use longhaul::session::{CompactOutcome, TurnError};
use longhaul_core::engine::{CompactRequest, EntryAudience, NewEntry, ToolOutput};
use serde_json::{Value, json};

use super::place::{MODELS, Place, Setup};

async fn place(model: &'static str, window: u64) -> Place {
    Place::new(Setup {
        enforced: Some(window),
        ..Setup::new(model, window)
    })
    .await
}

/// A normal turn: it is answered, nothing was rejected, and the window is not full.
async fn a_normal_turn_works(place: &Place, session: &mut Session) {
    place.later(10);
    session.say("And now something normal.").await.unwrap();
    let reply = session.turn().await.unwrap();
    let calls: Vec<ToolOutput> = reply
        .tool_calls()
        .map(|call| ToolOutput::text(call.id, "fine"))
        .collect();
    if !calls.is_empty() {
        session.results(calls).await.unwrap();
        session.turn().await.unwrap();
    }
    assert_eq!(
        place.rejections(),
        Vec::<String>::new(),
        "{}",
        place.setup.model
    );
    let grown = place.told.compactions();
    assert!(
        grown.iter().all(|done| done.after < done.before),
        "a compaction grew the context"
    );
}

/// Works until the model calls a tool, and returns the call's id.
async fn a_call(session: &mut Session) -> Vec<String> {
    for turn in 0..20 {
        session
            .say(format!("Please read src/part_{turn}.rs."))
            .await
            .unwrap();
        let reply = session.turn().await.unwrap();
        let calls: Vec<String> = reply.tool_calls().map(|call| call.id.to_string()).collect();
        if !calls.is_empty() {
            return calls;
        }
    }
    panic!("the model calls no tool");
}

#[tokio::test]
async fn y1_a_tool_result_of_three_megabytes() {
    for model in MODELS {
        let place = place(model, 30_000).await;
        let mut session = place.open();
        let calls = a_call(&mut session).await;
        let text = "a line of a log that never ends, with numbers 12345\n".repeat(60_000);
        let outputs = calls.iter().map(|id| ToolOutput::text(id, text.clone()));
        session.results(outputs.collect()).await.unwrap();
        session.turn().await.unwrap();
        a_normal_turn_works(&place, &mut session).await;
    }
}

#[tokio::test]
async fn y1_a_user_message_of_one_megabyte() {
    for model in MODELS {
        let place = place(model, 30_000).await;
        let mut session = place.open();
        session.say("Always answer in verse.").await.unwrap();
        session.turn().await.unwrap();
        session
            .say("Here is the whole log, read it. ".repeat(32_000))
            .await
            .unwrap();
        session.turn().await.unwrap();
        a_normal_turn_works(&place, &mut session).await;
        let report = &place.told.compactions()[0].report;
        assert_eq!(report.user_messages.shortened, 1, "{report:?}");
    }
}

#[tokio::test]
async fn x9_a_conversation_of_one_message_can_be_compacted() {
    for model in MODELS {
        let place = place(model, 12_000).await;
        let mut session = place.open();
        let empty = session.compact(CompactRequest::default()).await;
        assert!(empty.is_err(), "there is nothing to compact");
        session
            .say("Never use regexes. ".to_owned() + &"Look at everything twice. ".repeat(200))
            .await
            .unwrap();
        // It may be too small to gain anything, but the session must say so and continue.
        let _ = session.compact(CompactRequest::default()).await;
        session.turn().await.unwrap();
        a_normal_turn_works(&place, &mut session).await;
    }
}

#[tokio::test]
async fn y1_a_summary_longer_than_what_it_sums_up() {
    for model in MODELS {
        let place = Place::new(Setup {
            misbehavior: "summary:long*9",
            ..Setup::new(model, 12_000)
        })
        .await;
        let mut session = place.open();
        for turn in 0..6 {
            let said = format!("Question {turn}: what is it? Never guess about part {turn}. ");
            session.say(said.repeat(6)).await.unwrap();
            let reply = session.turn().await.unwrap();
            let calls = reply
                .tool_calls()
                .map(|call| ToolOutput::text(call.id, "fn x() {}\n".repeat(80)));
            session.results(calls.collect()).await.unwrap();
        }
        let outcome = session.compact(CompactRequest::default()).await.unwrap();
        let CompactOutcome::Done(done) = outcome else {
            panic!("it was not done");
        };
        assert!(done.after < done.before, "{done:?}");
        a_normal_turn_works(&place, &mut session).await;
    }
}

#[tokio::test]
async fn y1_nothing_but_pictures() {
    const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    for model in MODELS {
        let place = place(model, 30_000).await;
        let mut session = place.open();
        for _ in 0..25 {
            let picture = json!({"type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": DOT}});
            session
                .add(vec![NewEntry::User {
                    content: Value::Array(vec![picture]),
                    shown: EntryAudience::ToUser,
                }])
                .await
                .unwrap();
            let reply = session.turn().await.unwrap();
            let calls: Vec<ToolOutput> = reply
                .tool_calls()
                .map(|call| ToolOutput::text(call.id, "seen"))
                .collect();
            if !calls.is_empty() {
                session.results(calls).await.unwrap();
            }
        }
        a_normal_turn_works(&place, &mut session).await;
    }
}

#[tokio::test]
async fn y1_an_empty_reply() {
    for model in MODELS {
        let place = Place::new(Setup {
            misbehavior: "turn:silent*3",
            ..Setup::new(model, 12_000)
        })
        .await;
        let mut session = place.open();
        for turn in 0..3 {
            session
                .say(format!("Say something, {turn}."))
                .await
                .unwrap();
            let _ = session.turn().await;
        }
        a_normal_turn_works(&place, &mut session).await;
    }
}

#[tokio::test]
async fn f10_a_system_prompt_larger_than_the_threshold_does_not_make_it_loop() {
    for model in MODELS {
        // The threshold is at 20,100, the blocking limit at 23,100.
        let setup = Setup {
            system: "Mind the style guide, always and everywhere. ".repeat(1_330),
            ..Setup::new(model, 30_000)
        };
        let place = Place::new(setup).await;
        let mut session = place.open();
        let (mut answered, mut refused) = (0, 0);
        for turn in 0..8 {
            session.say(format!("Question {turn}.")).await.unwrap();
            match session.turn().await {
                Ok(reply) => {
                    answered += 1;
                    let calls: Vec<ToolOutput> = reply
                        .tool_calls()
                        .map(|call| ToolOutput::text(call.id, "fine"))
                        .collect();
                    if !calls.is_empty() {
                        session.results(calls).await.unwrap();
                    }
                }
                Err(TurnError::Refused(why)) => {
                    assert!(why.contains("shorten the system prompt"), "{why}");
                    refused += 1;
                }
                Err(error) => panic!("{error}"),
            }
        }
        let compactions = place.told.compactions().len();
        println!("{model}: {answered} answered, {refused} refused, {compactions} compactions");
        assert!(answered >= 1);
        assert!(compactions <= 8, "at most one a turn");
        // With room it continues.
        drop(session);
        let mut session = place.open_at(&place.transcript(), 100_000);
        a_normal_turn_works(&place, &mut session).await;
    }
}

/// A conversation that another program wrote: each exchange is what the user and the model said.
fn foreign(path: &Path, model: &str, exchanges: impl Iterator<Item = (String, Value)>) {
    let mut lines = String::new();
    let mut parent = Value::Null;
    for (at, (said, content)) in exchanges.enumerate() {
        let uuid = |half: u32| format!("00000000-0000-4000-8000-{at:010}{half:02}");
        let stamp = |half: u32| {
            format!(
                "2026-11-01T10:{:02}:{:02}.{half:03}Z",
                at / 60 % 60,
                at % 60
            )
        };
        let user = json!({"parentUuid": parent, "isSidechain": false, "type": "user", "sessionId": "f",
            "message": {"role": "user", "content": said}, "uuid": uuid(1), "timestamp": stamp(1)});
        let reply = json!({"parentUuid": uuid(1), "isSidechain": false, "type": "assistant", "sessionId": "f",
            "message": {"id": format!("msg_{at}"), "type": "message", "role": "assistant", "model": model,
                "content": content, "stop_reason": "end_turn"}, "uuid": uuid(2), "timestamp": stamp(2)});
        let _ = writeln!(lines, "{user}\n{reply}");
        parent = uuid(2).into();
    }
    std::fs::write(path, lines).unwrap();
}

fn spoken(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

#[tokio::test]
async fn y1_two_thousand_tiny_turns() {
    for model in MODELS {
        let place = place(model, 12_000).await;
        let tiny = (0..2_000).map(|at| (format!("go {at}"), spoken("ok")));
        foreign(&place.transcript(), model, tiny);
        let mut session = place.open();
        a_normal_turn_works(&place, &mut session).await;
        assert!(!place.told.compactions().is_empty());
    }
}

#[tokio::test]
async fn y1_a_window_that_is_nearly_twice_full_on_resume() {
    for model in MODELS {
        let place = place(model, 30_000).await;
        let long = (0..40).map(|at| {
            let said = format!("Question {at}: what of it? Never forget rule {at}.");
            (
                said,
                spoken(&format!("About {at}: {}", "words and words ".repeat(255))),
            )
        });
        foreign(&place.transcript(), model, long);
        let mut session = place.open();
        let status = session.status();
        let full = status.used * 100 / 30_000;
        assert!((170..230).contains(&full), "{full} %");
        a_normal_turn_works(&place, &mut session).await;
        assert_eq!(place.told.compactions().len(), 1);
        let report = &place.told.compactions()[0].report;
        assert_eq!(report.rules.verbatim, 40, "{report:?}");
    }
}

#[tokio::test]
async fn m6_three_hundred_parallel_calls() {
    for model in MODELS {
        let place = place(model, 30_000).await;
        let calls: Vec<Value> = (0..300)
            .map(|at| {
                json!({"type": "tool_use", "id": format!("toolu_{at:04}"), "name": "Read",
                "input": {"file_path": format!("/p/{at}.rs")}})
            })
            .collect();
        let once = std::iter::once(("Read everything.".to_owned(), Value::Array(calls)));
        foreign(&place.transcript(), model, once);
        let mut session = place.open();
        let outputs =
            (0..300).map(|at| ToolOutput::text(format!("toolu_{at:04}"), "fn x() {}\n".repeat(20)));
        session.results(outputs.collect()).await.unwrap();
        if model == MODELS[2] {
            // Where thinking has a budget, an unfinished reply must have begun with thinking. This one was recorded
            // without; the user's message ends it.
            session.say("Go on.").await.unwrap();
        }
        session.turn().await.unwrap();
        a_normal_turn_works(&place, &mut session).await;
    }
}
