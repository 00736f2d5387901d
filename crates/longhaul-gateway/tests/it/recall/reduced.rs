//! A result that was made smaller before it was sent (V8) is looked up as it came.

use longhaul_provider::Dialect;
use serde_json::{Value, json};

use super::house::{Agent, House, say};

fn file(changed: bool) -> String {
    let line = |number: usize| match (number, changed) {
        (50, true) => format!("{number:>6}\tthe quokka is here\n"),
        _ => format!("{number:>6}\tline {number} of a file with several words in it\n"),
    };
    (1..=100).map(line).collect()
}

/// A client whose model reads a file twice and then goes on with this script. Returns the id of the second call, and
/// what the model was sent last.
async fn read_twice(rest: &[Value]) -> (String, Value) {
    let read = json!({"tools": [{"name": "Read", "input": {"file_path": "/srv/a.rs"}}]});
    let script = [&[read.clone(), read], rest].concat();
    let house = House::new(&script).await;
    let mut agent = Agent::new(&house, Dialect::Anthropic, true);
    let mut reply = agent.say("Read it twice.").await;
    agent.answer(&reply, &file(false));
    reply = agent.go_on().await;
    let second = reply.tool_calls().next().unwrap().id.into_owned();
    agent.answer(&reply, &file(true));
    agent.go_on().await;
    let sent = house.sent();
    assert_eq!(house.refused(), 0);
    house.stop().await;
    (second, serde_json::from_str(sent.last().unwrap()).unwrap())
}

/// The content of the results of a call, in the order in which they were sent.
fn results(body: &Value) -> Vec<String> {
    let messages = body["messages"].as_array().unwrap().iter();
    let blocks = messages.filter_map(|message| message["content"].as_array());
    let results = blocks
        .flatten()
        .filter(|block| block["type"] == "tool_result");
    results.map(|block| block["content"].to_string()).collect()
}

#[tokio::test]
async fn v8_x2_the_original_of_a_result_that_was_made_smaller_is_found() {
    let (second, sent) = read_twice(&[say("I have seen it.")]).await;
    let shown = results(&sent);
    assert!(shown[1].contains("the quokka is here"), "{}", shown[1]);
    assert!(!shown[1].contains("line 51 of a file"), "{}", shown[1]);
    // The same world gives the call the same id.
    let recall = json!({"tools": [{"name": "recall", "input": {"id": second}}]});
    let (again, sent) = read_twice(&[recall, say("Now I have seen all of it.")]).await;
    assert_eq!(again, second);
    let recalled = results(&sent).pop().unwrap();
    assert!(recalled.contains("the quokka is here"), "{recalled}");
    assert!(recalled.contains("line 51 of a file"), "{recalled}");
}
