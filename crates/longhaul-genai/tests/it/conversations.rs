//! Conversations that go on through compactions.

use longhaul::prelude::*;
use longhaul_genai::genai::adapter::AdapterKind;

use crate::stage::{ADAPTERS, Heard, MODEL, Setting, model, session, start, tools};

#[tokio::test]
async fn a_conversation_with_tools_goes_on_through_compactions_on_each_adapter() {
    for adapter in ADAPTERS {
        let server = start(Setting::default()).await;
        let (tools, heard) = (tools(), Heard::default());
        let mut session = session(model(&server, adapter, "a key"), &tools)
            .observer(heard.clone())
            .open()
            .unwrap();
        let (mut calls, mut text) = (0, String::new());
        for question in 1..=12 {
            let asked = format!("Question {question}: what does src/part{question}.rs do?");
            session.say(asked).await.unwrap();
            for _ in 0..4 {
                let reply = session.turn().await.unwrap();
                text.push_str(&reply.text());
                let results = tools.run(&reply).await;
                if results.is_empty() {
                    break;
                }
                calls += results.len();
                session.results(results).await.unwrap();
            }
        }
        let compactions = session.compactions();
        println!("{adapter}: {calls} calls, {compactions} compactions");
        assert!(compactions >= 1, "{adapter}");
        assert!(calls >= 6, "{adapter}: {calls} calls");
        assert!(!text.is_empty(), "{adapter}");
        let (booked, errors) = server.with_world(|world| {
            let total = &world.usage_log().total;
            (total.output_tokens, total.errors)
        });
        assert_eq!(errors, 0, "{adapter}: every request was accepted");
        let told: u64 = heard
            .usages
            .lock()
            .unwrap()
            .iter()
            .map(|usage| usage.output)
            .sum();
        assert!(told > 0 && told <= booked, "{adapter}: {told} of {booked}");
        let failed = heard
            .events
            .lock()
            .unwrap()
            .iter()
            .any(|event| matches!(event, Event::CompactFailed { .. }));
        assert!(!failed, "{adapter}");
    }
}

#[tokio::test]
async fn the_text_of_a_reply_is_reported_as_it_comes() {
    for adapter in ADAPTERS {
        let server = start(Setting::default()).await;
        let heard = Heard::default();
        let mut session = Session::builder()
            .model(model(&server, adapter, "a key"))
            .prompt(Prompt::new(MODEL, "You are friendly."))
            .observer(heard.clone())
            .open()
            .unwrap();
        session.say("Who are you?").await.unwrap();
        let reply = session.turn().await.unwrap();
        assert_eq!(*heard.text.lock().unwrap(), reply.text(), "{adapter}");
        assert!(!reply.text().is_empty(), "{adapter}");
    }
}

#[tokio::test]
async fn cache_breakpoints_reach_anthropic_and_usage_comes_back_as_it_was_counted() {
    let server = start(Setting::default()).await;
    let manual = "Look before you change anything, and say what you saw. ".repeat(400);
    let mut session = Session::builder()
        .model(model(&server, AdapterKind::Anthropic, "a key"))
        .prompt(Prompt::new(MODEL, &manual))
        .open()
        .unwrap();
    for line in ["Who are you?", "What can you do?"] {
        session.say(line).await.unwrap();
        let usage = session.turn().await.unwrap().usage;
        let counted = server.with_world(|world| world.usage_log().last().unwrap().tokens);
        let parts = (
            usage.input,
            usage.cache_read,
            usage.cache_write(),
            usage.output,
        );
        let written = counted.cache_write_5m_input_tokens + counted.cache_write_1h_input_tokens;
        let read = counted.cache_read_input_tokens;
        assert_eq!(
            parts,
            (counted.input_tokens, read, written, counted.output_tokens)
        );
        assert_eq!(usage.cache_write_1h, counted.cache_write_1h_input_tokens);
        // What a reply wrote can be read once the reply has begun, by the world's own time.
        server.with_world(|world| world.advance(5_000));
    }
    let read = server.with_world(|world| world.usage_log().total.cache_read_input_tokens);
    assert!(
        read > 3_000,
        "the second request read {read} tokens from the cache"
    );
}
