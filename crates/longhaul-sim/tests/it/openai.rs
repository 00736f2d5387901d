//! Chat completions on the wire.

use serde_json::{Value, json};

use crate::house::{House, SAID, data, long_text};

fn ask(messages: Value) -> Value {
    json!({ "model": "gpt-5", "messages": messages })
}

fn tool() -> Value {
    json!({ "type": "function", "function": {
        "name": "read", "description": "Reads a file.",
        "parameters": { "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] },
    }})
}

#[tokio::test]
async fn n5_a_completion_comes_whole() {
    let house = House::new().await;
    let body = ask(json!([
        { "role": "system", "content": "Be brief." },
        { "role": "developer", "content": [{ "type": "text", "text": "Very brief." }] },
        { "role": "user", "content": "Hello" },
    ]));
    let response = house.chat(&body).await;
    assert_eq!(response.status(), 200);
    assert!(response.headers().contains_key("x-request-id"));
    assert!(
        response
            .headers()
            .contains_key("x-ratelimit-remaining-requests")
    );
    let completion: Value = response.json().await.unwrap();
    assert!(completion["id"].as_str().unwrap().starts_with("chatcmpl-"));
    assert_eq!(completion["object"], "chat.completion");
    assert_eq!(completion["model"], "gpt-5");
    let choice = &completion["choices"][0];
    assert_eq!(choice["message"]["content"], SAID);
    assert_eq!(choice["finish_reason"], "stop");
    let usage = &completion["usage"];
    let sum =
        usage["prompt_tokens"].as_u64().unwrap() + usage["completion_tokens"].as_u64().unwrap();
    assert_eq!(usage["total_tokens"], sum);
}

#[tokio::test]
async fn n5_a_streamed_completion_is_the_same_in_chunks_with_usage_if_asked() {
    let house = House::new().await;
    let mut body = ask(json!([{ "role": "user", "content": "Hello" }]));
    body["stream"] = json!(true);
    let stream = house.chat(&body).await.text().await.unwrap();
    assert!(stream.ends_with("data: [DONE]\n\n"));
    let chunks = data(&stream);
    assert_eq!(chunks[0]["choices"][0]["delta"]["role"], "assistant");
    let text: String = chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str())
        .collect();
    assert_eq!(text, SAID);
    assert_eq!(
        chunks.last().unwrap()["choices"][0]["finish_reason"],
        "stop"
    );
    assert!(chunks.iter().all(|chunk| chunk.get("usage").is_none()));

    body["stream_options"] = json!({ "include_usage": true });
    let chunks = data(&house.chat(&body).await.text().await.unwrap());
    let last = chunks.last().unwrap();
    assert_eq!(last["choices"], json!([]));
    assert!(last["usage"]["prompt_tokens"].as_u64().unwrap() > 0);
    assert_eq!(chunks[0]["usage"], Value::Null);
}

#[tokio::test]
async fn n5_a_tool_is_called_and_answered() {
    let house = House::new().await;
    let mut body = ask(json!([{ "role": "user", "content": "Read it." }]));
    body["tools"] = json!([tool()]);
    let completion: Value = house.chat(&body).await.json().await.unwrap();
    let choice = completion["choices"][0].clone();
    assert_eq!(choice["finish_reason"], "tool_calls");
    let call = &choice["message"]["tool_calls"][0];
    assert_eq!(call["function"]["name"], "read");
    assert_eq!(call["function"]["arguments"], r#"{"path":"src/parser.rs"}"#);

    body["stream"] = json!(true);
    let chunks = data(&house.chat(&body).await.text().await.unwrap());
    let pieces = chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"]["tool_calls"].get(0));
    let pieces: Vec<_> = pieces.collect();
    assert_eq!(pieces[0]["function"]["name"], "read");
    assert!(pieces.iter().all(|piece| piece["index"] == 0));
    let arguments: String = pieces
        .iter()
        .filter_map(|piece| piece["function"]["arguments"].as_str())
        .collect();
    assert_eq!(arguments, r#"{"path":"src/parser.rs"}"#);

    body["stream"] = json!(false);
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(choice["message"].clone());
    messages
        .push(json!({ "role": "tool", "tool_call_id": call["id"], "content": "fn parse() {}" }));
    messages.push(json!({ "role": "user", "content": [
        { "type": "text", "text": "And this picture?" },
        { "type": "image_url", "image_url": { "url": PIXEL } },
    ]}));
    let response = house.chat(&body).await;
    let status = response.status();
    let answer: Value = response.json().await.unwrap();
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["choices"][0]["message"]["content"], SAID);
}

const PIXEL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

#[tokio::test]
async fn b1_the_prompt_includes_what_was_cached() {
    let house = House::new().await;
    let mut body = ask(json!([
        { "role": "system", "content": long_text() },
        { "role": "user", "content": "Hello" },
    ]));
    body["prompt_cache_key"] = json!("session-1");
    let first: Value = house.chat(&body).await.json().await.unwrap();
    let second: Value = house.chat(&body).await.json().await.unwrap();
    let details = |completion: &Value| completion["usage"]["prompt_tokens_details"].clone();
    assert_eq!(details(&first)["cached_tokens"], 0);
    let cached = details(&second)["cached_tokens"].as_u64().unwrap();
    assert!(cached > 2_000);
    assert_eq!(
        second["usage"]["prompt_tokens"],
        first["usage"]["prompt_tokens"]
    );
    assert!(cached <= second["usage"]["prompt_tokens"].as_u64().unwrap());
    let books = house.get("/sim/books").await;
    assert_eq!(books["sessions"]["session-1"]["requests"], 2);
}

#[tokio::test]
async fn n5_a_prompt_too_long_is_told_in_openais_words() {
    let house = House::new().await;
    let mut body = ask(json!([{ "role": "user", "content": long_text().repeat(60) }]));
    body["model"] = json!("claude-haiku-4-5");
    let response = house.chat(&body).await;
    assert_eq!(response.status(), 400);
    let error: Value = response.json().await.unwrap();
    assert_eq!(error["error"]["code"], "context_length_exceeded");
    assert_eq!(error["error"]["param"], "messages");
    let told = error["error"]["message"].as_str().unwrap();
    assert!(told.starts_with(
        "This model's maximum context length is 200000 tokens. However, your messages resulted in "
    ));
}

#[tokio::test]
async fn what_the_dialect_does_not_allow_is_refused_in_its_envelope() {
    let house = House::new().await;
    let user = json!([{ "role": "user", "content": "Hi" }]);
    let call = json!({ "role": "assistant", "content": null, "tool_calls": [
        { "id": "call_1", "type": "function", "function": { "name": "read", "arguments": "{}" } },
    ]});
    let table = [
        (
            json!({ "messages": user }),
            "you must provide a model parameter",
        ),
        (
            json!({ "model": "gpt" }),
            "Missing required parameter: 'messages'.",
        ),
        (
            json!({ "model": "gpt", "messages": [] }),
            "Invalid 'messages': empty array.",
        ),
        (
            json!({ "model": "gpt", "messages": user, "frobnicate": 1 }),
            "Unrecognized request argument supplied: frobnicate",
        ),
        (
            json!({ "model": "gpt", "messages": [{ "role": "robot", "content": "x" }] }),
            "Invalid value: 'robot'.",
        ),
        (
            json!({ "model": "gpt", "messages": [{ "role": "user", "content": 5 }] }),
            "expected one of a string or array",
        ),
        (
            json!({ "model": "gpt", "messages": [{ "role": "tool", "tool_call_id": "call_1", "content": "x" }] }),
            "must be a response to a preceeding message with 'tool_calls'",
        ),
        (
            json!({ "model": "gpt", "messages": [user[0], call, user[0]] }),
            "The following tool_call_ids did not have response messages: call_1",
        ),
        (
            json!({ "model": "gpt", "messages": user, "n": 3 }),
            "Only 'n': 1 is simulated.",
        ),
        (
            json!({ "model": "gpt", "messages": user, "functions": [{}] }),
            "use 'tools'",
        ),
        (
            json!({ "model": "gpt", "messages": user, "stream_options": {} }),
            "only allowed when 'stream' is enabled",
        ),
        (
            json!({ "model": "gpt", "messages": user, "max_tokens": 0 }),
            "integer below minimum value",
        ),
        (
            json!({ "model": "gpt", "messages": user, "tools": [] }),
            "Invalid 'tools': empty array.",
        ),
    ];
    for (body, sentence) in table {
        let response = house.chat(&body).await;
        assert_eq!(response.status(), 400, "{body}");
        let error: Value = response.json().await.unwrap();
        let told = error["error"]["message"].as_str().unwrap();
        assert!(told.contains(sentence), "{body}: {told}");
        assert_eq!(error["error"]["type"], "invalid_request_error");
    }
    let url = format!("{}/v1/chat/completions", house.server.url());
    let keyless = house.client.post(&url).json(&ask(user.clone()));
    assert_eq!(keyless.send().await.unwrap().status(), 401);
    let plain = house
        .client
        .post(&url)
        .bearer_auth("k")
        .body(ask(user).to_string());
    let plain = plain
        .header("content-type", "text/plain")
        .send()
        .await
        .unwrap();
    assert_eq!(plain.status(), 400);
    let error: Value = plain.json().await.unwrap();
    assert_eq!(error["error"]["code"], "unsupported_content_type");
}
