//! Every text that the model reads, and its size.

use longhaul_agent::agent::{AgentKind, SessionChoice};
use serde_json::Value;

use super::house::{House, say, text};

#[tokio::test]
async fn q1_the_tools_for_agents_as_the_model_reads_them() {
    let house = House::scripted(&[text("Yes.")]).await;
    let (mut agent, mut events) = house.open(SessionChoice::New).await;
    say(&mut agent, &mut events, "Hi").await;
    let body = house.last_body();
    let tools: Vec<&Value> = body["tools"].as_array().unwrap().iter().collect();
    let all: Vec<String> = tools
        .iter()
        .map(|tool| serde_json::to_string_pretty(tool).unwrap())
        .collect();
    let all = all.join("\n");
    assert!(all.len() < 5_000);
    insta::assert_snapshot!(all);
}

#[test]
fn q1_what_sub_agents_are_told() {
    for kind in AgentKind::builtin() {
        assert!(kind.prompt.len() < 2_000);
        insta::assert_snapshot!(format!("kind_{}", kind.name), kind.prompt);
    }
}
