//! Models that bind their thinking to everything before it (N2): hidden rounds are part of what they thought about.

use longhaul_provider::{Dialect, ReplyBlockKind, StopReason};
use serde_json::{Value, json};

use super::house::{Agent, House, memory, say};

const FACT: &str = super::house::FACT;

fn thinking(mut turn: Value, thought: &str) -> Value {
    turn["thinking"] = json!(thought);
    turn
}

fn script() -> Vec<Value> {
    let recall = json!({"name": "recall", "input": {"query": "staging database"}});
    let read = json!({"name": "Read", "input": {"file_path": "/a"}});
    vec![
        thinking(
            json!({"text": "Let me look. ", "tools": [recall]}),
            "I should look.",
        ),
        thinking(json!({"tools": [recall]}), "Once more."),
        thinking(say("It is quokka-7."), "There it is."),
        thinking(json!({"tools": [recall, read]}), "Both."),
        thinking(say("Done."), "Good."),
        thinking(say("Yes."), "Of course."),
        thinking(say("Bye."), "Bye then."),
    ]
}

#[tokio::test]
async fn n2_x8_thinking_around_hidden_rounds_stays_valid() {
    for streams in [true, false] {
        let house = House::new(&script()).await;
        let mut agent = Agent::new(&house, Dialect::Anthropic, streams);
        agent.model = "claude-opus-5-5";
        let reply = agent.say(FACT).await;
        let thoughts = reply
            .blocks
            .iter()
            .filter(|block| block.kind() == ReplyBlockKind::Thinking);
        assert_eq!(
            thoughts.count(),
            3,
            "the client sees what the model thought: {reply:?}"
        );
        let reply = agent.say("Read it.").await;
        assert_eq!(reply.stop, Some(StopReason::ToolUse));
        agent.answer(&reply, "fn main() {}");
        assert_eq!(agent.go_on().await.text(), "Done.");
        assert_eq!(agent.say("Really?").await.text(), "Yes.");
        assert_eq!(house.refused(), 0, "streams: {streams}");
        house.stop().await;
    }
}

#[tokio::test]
async fn n2_x8_if_the_store_is_lost_the_rounds_are_left_out_and_thinking_is_stripped() {
    for streams in [true, false] {
        let mut house = House::new(&script()).await;
        let mut agent = Agent::new(&house, Dialect::Anthropic, streams);
        agent.model = "claude-opus-5-5";
        agent.say(FACT).await;
        house.replace_gateway(memory(), |_| {}).await;
        agent.go_to(&house);
        let seen = house.sent().len();
        let reply = agent.say("And?").await;
        assert!(reply.stop.is_some());
        let sent = house.sent();
        let last = sent.last().unwrap();
        assert!(!last.contains("tool_result"), "{last}");
        let body: Value = serde_json::from_str(last).unwrap();
        assert!(
            !body["messages"].to_string().contains("\"thinking\""),
            "{last}"
        );
        assert_eq!(
            body["tools"].as_array().unwrap().len(),
            1,
            "it is not offered any more"
        );
        assert_eq!(sent.len(), seen + 2, "once refused, once sent without");
        house.stop().await;
    }
}
