//! The same for chat completions.

use super::*;

#[tokio::test]
async fn v8_x8_chat_completions_too() {
    let house = House::new().await;
    let gateway = house.gateway("a.sqlite", |_| {}).await;
    let output = output();
    let mut messages = vec![
        json!({"role": "system", "content": "Be brief."}),
        json!({"role": "user", "content": "Go."}),
    ];
    let mut sent = Vec::new();
    for number in 0..3 {
        let id = format!("call_{number}");
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function",
            "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}}]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": output}));
        let (_, now) = house
            .send_to(&gateway, "/v1/chat/completions", &messages)
            .await;
        sent = now;
    }
    assert_eq!(sent[3]["content"], *output);
    for at in [5, 7] {
        assert!(
            sent[at]["content"].as_str().unwrap().contains("call_0"),
            "{}",
            sent[at]
        );
    }
    gateway.stop().await;
}

/// A chat completion's messages: rounds of a call and its result.
fn chat_history(results: &[&str]) -> Vec<Value> {
    let mut messages = vec![json!({"role": "user", "content": "Go."})];
    for (number, result) in results.iter().enumerate() {
        let id = format!("call_{number}");
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function",
            "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}}]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
    }
    messages
}

#[tokio::test]
async fn v8_x8_errors_of_chat_completions_are_recognized_by_their_text_and_stay_as_they_are() {
    let house = House::new().await;
    let gateway = house
        .gateway("a.sqlite", |options| {
            options.config.reduce = ResultReduction::Recallable;
        })
        .await;
    let long = output().repeat(10);
    let errors = [
        format!("Error: the build failed\n{long}"),
        format!("Traceback (most recent call last):\n{long}"),
        json!({"error": {"message": long}}).to_string(),
        format!("{long}\nExit code: 1"),
    ];
    let mut results: Vec<&str> = Vec::new();
    for error in &errors {
        // Twice: neither an excerpt nor a pointer stands for an error.
        for _ in 0..2 {
            results.push(error);
            let messages = chat_history(&results);
            let (_, sent) = house
                .send_to(&gateway, "/v1/chat/completions", &messages)
                .await;
            assert_eq!(sent.last().unwrap()["content"], **error);
        }
    }
    let fine = format!("{long}\nExit code: 0");
    results.push(&fine);
    let messages = chat_history(&results);
    let (_, sent) = house
        .send_to(&gateway, "/v1/chat/completions", &messages)
        .await;
    let excerpt = sent.last().unwrap()["content"].as_str().unwrap();
    assert!(excerpt.len() < fine.len() / 2, "{excerpt}");
    gateway.stop().await;
}
