//! Which conversations are offered the tool, and under which name.

use longhaul_gateway::recall::RecallMode;
use longhaul_provider::Dialect;
use serde_json::{Value, json};

use super::house::{Agent, FACT, House, look_up, memory, say};
use crate::support::{body_of, exchange, post};

fn names(body: &str) -> Vec<String> {
    let body: Value = serde_json::from_str(body).unwrap();
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    let name = |tool: &Value| {
        let name = tool.pointer("/function/name").unwrap_or(&tool["name"]);
        name.as_str().unwrap().to_owned()
    };
    tools.iter().map(name).collect()
}

#[tokio::test]
async fn x8_the_tool_is_there_from_the_first_request_of_a_conversation_with_tools_on() {
    for dialect in [Dialect::Anthropic, Dialect::OpenAi] {
        let house = House::new(&vec![say("Yes."); 6]).await;
        let mut agent = Agent::new(&house, dialect, false);
        agent.say("One.").await;
        agent.say("Two.").await;
        let mut bare = Agent::new(&house, dialect, false);
        bare.tools = Vec::new();
        bare.say("Bare.").await;
        // Tools that come later do not bring it: the prefix of the conversation is known without.
        bare.tools = vec!["Read"];
        bare.say("With tools.").await;
        let sent: Vec<Vec<String>> = house.sent().iter().map(|body| names(body)).collect();
        let (with, without) = (vec!["Read", "recall"], vec!["Read"]);
        assert_eq!(
            sent,
            [with.clone(), with, Vec::new(), without],
            "{dialect:?}"
        );
        assert_eq!(house.refused(), 0);
        house.stop().await;
    }
}

#[tokio::test]
async fn x8_a_conversation_that_began_without_it_goes_on_without_it() {
    let store = memory();
    let mut house = House::with(&vec![say("Yes."); 4], |options| {
        options.recall = RecallMode::Off
    })
    .await;
    let mut agent = Agent::new(&house, Dialect::Anthropic, true);
    agent.say("One.").await;
    house.replace_gateway(store, |_| {}).await;
    agent.go_to(&house);
    agent.say("Two.").await;
    let mut other = Agent::new(&house, Dialect::Anthropic, true);
    other.say("Another one.").await;
    let sent: Vec<Vec<String>> = house.sent().iter().map(|body| names(body)).collect();
    assert_eq!(sent, [vec!["Read"], vec!["Read"], vec!["Read", "recall"]]);
    house.stop().await;
}

#[tokio::test]
async fn x8_a_client_with_a_tool_of_that_name_keeps_it() {
    for dialect in [Dialect::Anthropic, Dialect::OpenAi] {
        let ours =
            json!({"tools": [{"name": "longhaul_recall", "input": {"query": "staging database"}}]});
        let theirs = json!({"tools": [{"name": "recall", "input": {"file_path": "/a"}}]});
        let house = House::new(&[ours, say("It is quokka-7."), theirs, say("Good.")]).await;
        let mut agent = Agent::new(&house, dialect, true);
        agent.tools = vec!["recall", "Read"];
        assert_eq!(agent.say(FACT).await.text(), "It is quokka-7.");
        let reply = agent.say("And now yours.").await;
        assert_eq!(
            reply.tool_calls().next().unwrap().name,
            "recall",
            "the client's own call is passed on"
        );
        agent.answer(&reply, "theirs");
        assert_eq!(agent.go_on().await.text(), "Good.");
        let sent = house.sent();
        assert_eq!(names(&sent[3]), ["recall", "Read", "longhaul_recall"]);
        assert!(
            sent[1].contains("in this answer is the tool `longhaul_recall`"),
            "{}",
            sent[1]
        );
        assert_eq!(house.refused(), 0);
        house.stop().await;
    }
}

#[tokio::test]
async fn x8_where_nothing_may_be_changed_nothing_is() {
    let rules = vec!["observe".parse().unwrap()];
    let house = House::with(&[say("Yes.")], |options| options.policies.rules = rules).await;
    let mut agent = Agent::new(&house, Dialect::Anthropic, false);
    agent
        .messages
        .push(json!({"role": "user", "content": "One."}));
    let body = agent.body().to_string();
    agent.send().await.unwrap();
    assert_eq!(house.sent(), [body], "the client's exact bytes");
    house.stop().await;
}

#[tokio::test]
async fn x8_a_rule_offers_it_to_some_requests_or_keeps_it_from_them() {
    let rules: [&str; 2] = [
        "model=claude-opus-*:manage,recall=off",
        "path=/v1/chat/*:manage,recall=off",
    ];
    let rules = rules.map(|rule| rule.parse().unwrap()).to_vec();
    let house = House::with(&vec![say("Yes."); 3], |options| {
        options.policies.rules = rules
    })
    .await;
    let mut opus = Agent::new(&house, Dialect::Anthropic, false);
    opus.model = "claude-opus-4-6";
    opus.say("One.").await;
    Agent::new(&house, Dialect::OpenAi, false).say("Two.").await;
    Agent::new(&house, Dialect::Anthropic, false)
        .say("Three.")
        .await;
    let sent: Vec<Vec<String>> = house.sent().iter().map(|body| names(body)).collect();
    assert_eq!(sent, [vec!["Read"], vec!["Read"], vec!["Read", "recall"]]);
    house.stop().await;

    let file = "[[policy]]\nmodel = \"claude-opus-*\"\nuse = \"manage\"\nrecall = \"on\"\n";
    let rules = longhaul_gateway::policy::rules_of(file).unwrap();
    let house = House::with(&vec![say("Yes."); 2], |options| {
        options.recall = RecallMode::Off;
        options.policies.rules = rules;
    })
    .await;
    let mut opus = Agent::new(&house, Dialect::Anthropic, true);
    opus.model = "claude-opus-4-6";
    opus.say("One.").await;
    Agent::new(&house, Dialect::Anthropic, true)
        .say("Two.")
        .await;
    let sent: Vec<Vec<String>> = house.sent().iter().map(|body| names(body)).collect();
    assert_eq!(sent, [vec!["Read", "recall"], vec!["Read"]]);
    house.stop().await;

    let wrong = "manage,recall=maybe".parse::<longhaul_gateway::policy::PolicyRule>();
    let wrong = wrong.unwrap_err().to_string();
    assert!(wrong.contains("`recall=on` or `recall=off`"), "{wrong}");
    let wrong =
        longhaul_gateway::policy::rules_of("[[policy]]\nuse = \"manage\"\nrecall = \"yes\"\n");
    assert!(
        wrong
            .unwrap_err()
            .to_string()
            .contains("`recall` is \"on\" or \"off\"")
    );
}

#[tokio::test]
async fn x8_a_count_of_tokens_is_of_what_would_be_sent() {
    let house = House::new(&[look_up("Let me look."), say("It is quokka-7.")]).await;
    let mut agent = Agent::new(&house, Dialect::Anthropic, false);
    agent.say(FACT).await;
    agent
        .messages
        .push(json!({"role": "user", "content": "Really?"}));
    let mut body = agent.body();
    body.as_object_mut()
        .unwrap()
        .retain(|key, _| !["stream", "max_tokens"].contains(&key.as_str()));
    let headers = "x-api-key: test-key\r\nanthropic-version: 2023-06-01\r\ncontent-type: application/json\r\n";
    let request = post("/v1/messages/count_tokens", headers, &body.to_string());
    let answer = exchange(house.gateway.addr(), &request).await;
    let counted: Value = serde_json::from_str(body_of(&answer)).unwrap();
    let sent = house.sent();
    assert_eq!(names(&sent[2]), ["Read", "recall"], "{counted}");
    assert!(sent[2].contains("tool_result"));
    assert!(counted["input_tokens"].as_u64().unwrap() > 300, "{counted}");
    house.stop().await;
}
