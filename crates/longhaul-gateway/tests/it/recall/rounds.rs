//! The model looks something up, and the client gets one reply.

use longhaul_provider::{Dialect, StopReason};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::house::{Agent, FACT, House, look_up, messages_of, say, tools_of};
use crate::support::{body_of, exchange, post, sessions_when};

const BOTH: [Dialect; 2] = [Dialect::Anthropic, Dialect::OpenAi];

#[tokio::test]
async fn x2_x8_what_the_model_looks_up_is_answered_from_the_history_and_not_shown() {
    for dialect in BOTH {
        for streams in [true, false] {
            let house = House::new(&[look_up("Let me look. "), say("It is quokka-7.")]).await;
            let mut agent = Agent::new(&house, dialect, streams);
            let reply = agent.say(FACT).await;
            assert_eq!(reply.text(), "Let me look. It is quokka-7.");
            assert_eq!(reply.tool_calls().count(), 0);
            assert_eq!(reply.stop, Some(StopReason::EndTurn));
            let sent = house.sent();
            assert_eq!(sent.len(), 2, "{dialect:?} {streams}");
            let last: Value = serde_json::from_str(&sent[1]).unwrap();
            let messages = last["messages"].as_array().unwrap();
            let result = messages.last().unwrap().to_string();
            assert!(
                result.contains("»staging« »database« is called quokka-7"),
                "{result}"
            );
            assert_eq!(house.refused(), 0);
            house.stop().await;
        }
    }
}

#[tokio::test]
async fn x8_usage_is_the_last_input_and_all_output_and_the_usage_log_has_every_call() {
    for dialect in BOTH {
        for streams in [true, false] {
            let house =
                House::new(&[look_up("Let me look."), look_up(""), say("It is quokka-7.")]).await;
            let mut agent = Agent::new(&house, dialect, streams);
            let reply = agent.say(FACT).await;
            let calls = house
                .sim
                .with_world(|world| world.usage_log().recent.clone());
            let calls: Vec<Value> = calls
                .iter()
                .map(|call| serde_json::to_value(call.tokens).unwrap())
                .collect();
            assert_eq!(calls.len(), 3);
            let of = |call: &Value, name: &str| call[name].as_u64().unwrap();
            let output: u64 = calls.iter().map(|call| of(call, "output_tokens")).sum();
            assert_eq!(reply.usage.output, output, "{dialect:?} {streams}");
            let inputs = [
                "input_tokens",
                "cache_read_input_tokens",
                "cache_write_5m_input_tokens",
            ];
            let prompt: u64 = inputs.iter().map(|name| of(&calls[2], name)).sum();
            assert_eq!(reply.usage.prompt(), prompt, "{dialect:?} {streams}");
            let all =
                sessions_when(house.gateway.addr(), |all| all["sessions"][0]["calls"] == 3).await;
            let session = &all["sessions"][0];
            assert_eq!(
                all["sessions"].as_array().unwrap().len(),
                1,
                "they are one conversation"
            );
            if dialect == Dialect::Anthropic {
                let cost = house
                    .sim
                    .with_world(|world| world.usage_log().total.cost_usd.to_f64());
                assert!((session["cost_usd"].as_f64().unwrap() - cost).abs() < 1e-9);
            }
            house.stop().await;
        }
    }
}

#[tokio::test]
async fn b1_x8_what_was_hidden_comes_back_byte_for_byte_in_every_later_request() {
    for dialect in BOTH {
        for streams in [true, false] {
            let script = [
                look_up("Let me look. "),
                say("It is quokka-7."),
                say("Yes."),
                look_up(""),
                say("Sure."),
                say("Bye."),
            ];
            let house = House::new(&script).await;
            let mut agent = Agent::new(&house, dialect, streams);
            agent.say(FACT).await;
            agent.say("Really?").await;
            let reply = agent.say("Look again.").await;
            assert_eq!(reply.text(), "Sure.");
            agent.say("Thanks.").await;
            let sent = house.sent();
            assert_eq!(sent.len(), 6);
            for (earlier, later) in sent.iter().zip(&sent[1..]) {
                let (before, after) = (messages_of(earlier), messages_of(later));
                assert!(
                    after.starts_with(before),
                    "{dialect:?} {streams}:\n{before}\n{after}"
                );
                assert_eq!(tools_of(earlier), tools_of(later));
            }
            assert_eq!(house.refused(), 0);
            let lines =
                sessions_when(house.gateway.addr(), |all| all["sessions"][0]["calls"] == 6).await;
            assert_eq!(lines["sessions"].as_array().unwrap().len(), 1);
            house.stop().await;
        }
    }
}

#[tokio::test]
async fn x8_the_model_looks_something_up_at_most_three_times_for_one_reply() {
    for dialect in BOTH {
        for streams in [true, false] {
            let mut script = vec![look_up("Hm. "); 4];
            script.extend([say("It is quokka-7."), say("Bye.")]);
            let house = House::new(&script).await;
            let mut agent = Agent::new(&house, dialect, streams);
            let reply = agent.say(FACT).await;
            assert_eq!(reply.text(), "Hm. Hm. Hm. Hm. ");
            assert_eq!(
                reply.stop,
                Some(StopReason::EndTurn),
                "the client waits for nothing"
            );
            let sent = house.sent();
            assert_eq!(sent.len(), 4);
            assert!(sent[3].contains("the last look-up for this reply"));
            // The model learns with the next request that it was too often.
            assert_eq!(agent.say("And?").await.text(), "It is quokka-7.");
            agent.say("Bye.").await;
            let sent = house.sent();
            assert!(
                sent[4].contains("only 3 look-ups are possible"),
                "{}",
                sent[4]
            );
            assert!(messages_of(&sent[5]).starts_with(messages_of(&sent[4])));
            assert_eq!(house.refused(), 0);
            house.stop().await;
        }
    }
}

#[tokio::test]
async fn an_error_after_a_look_up_reaches_the_client_as_the_upstreams_own() {
    for dialect in BOTH {
        for streams in [true, false] {
            let failing = json!({"text": "never", "fault": "529"});
            let script = [
                look_up("Let me look. "),
                failing,
                look_up("Let me look. "),
                say("It is quokka-7."),
            ];
            let house = House::new(&script).await;
            let mut agent = Agent::new(&house, dialect, streams);
            agent
                .messages
                .push(json!({"role": "user", "content": FACT}));
            // A stream has begun, so its error is the client's to handle; a plain reply is asked for again by the SDK.
            if streams {
                let error = agent.send().await.unwrap_err();
                let error = format!("{error:?}").to_lowercase();
                assert!(error.contains("overloaded"), "{error}");
            }
            let reply = agent.go_on().await;
            assert_eq!(reply.text(), "Let me look. It is quokka-7.");
            agent.say("Thanks.").await;
            let sent = house.sent();
            assert_eq!(
                sent[2], sent[0],
                "the client asked again from the beginning"
            );
            assert!(messages_of(&sent[4]).starts_with(messages_of(&sent[3])));
            assert_eq!(house.refused(), 1);
            house.stop().await;
        }
    }
}

#[tokio::test]
async fn clients_that_join_texts_or_send_them_as_a_string_keep_their_rounds() {
    let script = [
        look_up("Let me look. "),
        say("It is quokka-7."),
        say("Yes."),
    ];
    let house = House::new(&script).await;
    let mut agent = Agent::new(&house, Dialect::Anthropic, false);
    let reply = agent.say(FACT).await;
    agent.messages[1] = json!({"role": "assistant", "content": reply.text()});
    agent.say("Really?").await;
    let sent = house.sent();
    assert!(
        messages_of(&sent[2]).starts_with(messages_of(&sent[1])),
        "{}",
        sent[2]
    );
    // What the client has rewritten is the client's.
    agent.messages[1] = json!({"role": "assistant", "content": "I do not know."});
    agent.messages.truncate(2);
    agent.say("Really?").await;
    let edited: Value = serde_json::from_str(house.sent().last().unwrap()).unwrap();
    assert_eq!(edited["messages"].as_array().unwrap().len(), 3, "{edited}");
    assert_eq!(house.refused(), 0);
    house.stop().await;
}

#[tokio::test]
async fn x8_a_look_up_needs_no_second_place_among_the_requests() {
    for streams in [true, false] {
        let script = [
            look_up("Let me look. "),
            look_up(""),
            say("It is quokka-7."),
        ];
        let house = House::with(&script, |options| options.limits.requests = 1).await;
        let mut agent = Agent::new(&house, Dialect::Anthropic, streams);
        let reply = agent.say(FACT).await;
        assert_eq!(reply.text(), "Let me look. It is quokka-7.");
        assert_eq!(house.gateway.metrics().under_way(), 0);
        house.stop().await;
    }
}

#[tokio::test]
async fn x8_a_call_that_was_cut_off_is_not_made_and_not_shown() {
    for dialect in BOTH {
        for streams in [true, false] {
            let mut cut = look_up("Let me ");
            cut["stop"] = json!("max_tokens");
            let house = House::new(&[cut, say("It is quokka-7.")]).await;
            let mut agent = Agent::new(&house, dialect, streams);
            let reply = agent.say(FACT).await;
            assert_eq!(reply.text(), "Let me ", "{dialect:?} {streams}");
            assert_eq!(reply.stop, Some(StopReason::MaxTokens));
            assert_eq!(reply.tool_calls().count(), 0);
            assert_eq!(agent.say("Go on.").await.text(), "It is quokka-7.");
            assert_eq!((house.sent().len(), house.refused()), (2, 0));
            house.stop().await;
        }
    }
}

#[tokio::test]
async fn the_upstream_is_asked_for_plain_answers_and_told_nothing_about_another_body() {
    let house = House::new(&[look_up("Let me look. "), say("It is quokka-7.")]).await;
    let mut agent = Agent::new(&house, Dialect::Anthropic, false);
    agent
        .messages
        .push(json!({"role": "user", "content": FACT}));
    let headers = "x-api-key: k\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n\
                   accept-encoding: gzip, br\r\nidempotency-key: once\r\n";
    let request = post("/v1/messages", headers, &agent.body().to_string());
    let answer = exchange(house.gateway.addr(), &request).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(body_of(&answer).contains("It is quokka-7."), "{answer}");
    let heads = house.heads();
    assert_eq!(heads.len(), 2);
    for head in heads {
        assert!(head.contains("accept-encoding: identity\r\n"), "{head}");
        assert!(!head.contains("idempotency-key"), "{head}");
    }
    house.stop().await;
}

#[tokio::test]
async fn x8_a_client_that_goes_away_during_a_look_up_leaves_nothing_behind() {
    for streams in [true, false] {
        let house = House::new(&[
            look_up("Let me look. "),
            look_up(""),
            say("It is quokka-7."),
        ])
        .await;
        let mut agent = Agent::new(&house, Dialect::Anthropic, streams);
        agent
            .messages
            .push(json!({"role": "user", "content": FACT}));
        let headers = "x-api-key: test-key\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n";
        let request = post("/v1/messages", headers, &agent.body().to_string());
        let mut stream = TcpStream::connect(house.gateway.addr()).await.unwrap();
        stream.write_all(&request).await.unwrap();
        while house.sent().is_empty() {
            tokio::task::yield_now().await;
        }
        drop(stream);
        while house.gateway.metrics().under_way() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(house.refused(), 0);
        house.stop().await;
    }
}
