//! The model looks something up and calls the client's tools in the same reply.

use longhaul_provider::{Dialect, StopReason};
use serde_json::{Value, json};

use super::house::{Agent, FACT, House, messages_of, say};

/// A reply with a call of ours between two of the client's.
fn mixed() -> Value {
    let read = |path: &str| json!({"name": "Read", "input": {"file_path": path}});
    let recall = json!({"name": "recall", "input": {"query": "staging database"}});
    json!({"text": "Both at once.", "tools": [read("/a"), recall, read("/b")]})
}

#[tokio::test]
async fn x8_the_client_sees_its_own_calls_and_the_model_gets_all_answers_together() {
    for dialect in [Dialect::Anthropic, Dialect::OpenAi] {
        for streams in [true, false] {
            let house = House::new(&[mixed(), say("Done."), say("Yes.")]).await;
            let mut agent = Agent::new(&house, dialect, streams);
            let reply = agent.say(FACT).await;
            let names: Vec<String> = reply
                .tool_calls()
                .map(|call| call.name.into_owned())
                .collect();
            assert_eq!(names, ["Read", "Read"], "{dialect:?} {streams}");
            assert_eq!(reply.stop, Some(StopReason::ToolUse));
            assert_eq!(
                house.sent().len(),
                1,
                "nothing goes on before the client has answered"
            );
            agent.answer(&reply, "fn main() {}");
            assert_eq!(agent.go_on().await.text(), "Done.");
            agent.say("Really?").await;
            let sent = house.sent();
            assert!(sent[1].contains("quokka-7. Remember") && sent[1].contains("fn main() {}"));
            let called: Value = serde_json::from_str(&sent[1]).unwrap();
            let order: Vec<String> = match dialect {
                Dialect::Anthropic => called["messages"][1]["content"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter_map(|block| block["name"].as_str().map(str::to_owned))
                    .collect(),
                Dialect::OpenAi => called["messages"][1]["tool_calls"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|call| call["function"]["name"].as_str().unwrap().to_owned())
                    .collect(),
            };
            assert_eq!(order, ["Read", "recall", "Read"], "as the model wrote them");
            assert!(messages_of(&sent[2]).starts_with(messages_of(&sent[1])));
            assert_eq!(
                house.refused(),
                0,
                "the world is as strict about answers as the API"
            );
            house.stop().await;
        }
    }
}

#[tokio::test]
async fn x8_words_in_place_of_results_take_the_answer_with_them() {
    // The user interrupts: the client drops its calls and says something else.
    let calls = json!({"text": "Let me see.", "tools": [
        {"name": "recall", "input": {"query": "staging"}}, {"name": "Read", "input": {"file_path": "/a"}}]});
    let house = House::new(&[calls, say("Fine.")]).await;
    let mut agent = Agent::new(&house, Dialect::Anthropic, true);
    let reply = agent.say(FACT).await;
    let result = json!({"type": "tool_result", "tool_use_id": reply.tool_calls().next().unwrap().id, "content": "stopped", "is_error": true});
    agent
        .messages
        .push(json!({"role": "user", "content": [result, {"type": "text", "text": "Stop that."}]}));
    assert_eq!(agent.go_on().await.text(), "Fine.");
    let sent: Value = serde_json::from_str(&house.sent()[1]).unwrap();
    let content = sent["messages"][2]["content"].as_array().unwrap();
    assert_eq!(content.len(), 3, "{sent}");
    assert_eq!(house.refused(), 0);
    house.stop().await;
}
