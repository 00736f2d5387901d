//! Endless conversations in both dialects, streamed, by Longhaul's own client.

use std::collections::BTreeMap;

use longhaul_gateway::breakpoints::BreakpointMode;
use longhaul_gateway::front::Gateway;
use longhaul_gateway::manage::NotesMode;
use longhaul_provider::{Client, ClientConfig, Dialect, Reply, Request};
use serde_json::{Value, json};

use super::endless::{refused, world};
use super::long::with_window;
use super::support::{caught_up, exchange_whole, header, post};

fn client(gateway: &Gateway, dialect: Dialect) -> Client {
    let config = ClientConfig::from_env(dialect, |name| match name {
        "ANTHROPIC_BASE_URL" => Some(gateway.url()),
        "OPENAI_BASE_URL" => Some(format!("{}/v1", gateway.url())),
        "ANTHROPIC_API_KEY" | "OPENAI_API_KEY" => Some("k".to_owned()),
        _ => None,
    });
    Client::new(config.unwrap()).unwrap()
}

async fn streamed(client: &Client, body: &Value) -> (Reply, Option<String>) {
    let stream = client.send(Request::new(body.to_string().into_bytes()));
    let stream = stream.await.unwrap();
    let action = stream.header("x-longhaul-action").map(str::to_owned);
    (stream.into_reply().await.unwrap(), action)
}

fn result(call: &str, number: usize) -> String {
    format!("{call}: what line {number} of the result says\n").repeat(60)
}

/// A task, with a log to read.
fn long(turn: usize) -> String {
    let log = format!("line of the log of step {turn}\n").repeat(70);
    format!("Go on with step {turn}.\n{log}")
}

/// A conversation of 200 turns. Returns how many requests were sent with which kind of summary.
async fn completions(noting: NotesMode) -> BTreeMap<String, usize> {
    let gateway = world(|options| options.notes = noting).await;
    let client = client(&gateway, Dialect::OpenAi);
    let function = json!({"type": "function", "function": {"name": "read_file", "description": "Reads.", "parameters":
        {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}});
    let mut messages = vec![
        json!({"role": "system", "content": "You work on a repository."}),
        json!({"role": "user", "content": "Begin, and never touch Cargo.lock."}),
    ];
    let (mut actions, mut calls, mut largest) = (BTreeMap::new(), 0, 0);
    for turn in 0..200 {
        let body = json!({"model": "claude-sonnet-4-6", "max_tokens": 8_000, "stream": true, "stream_options": {"include_usage": true},
            "tools": [function], "messages": messages});
        let (reply, action) = streamed(&client, &body).await;
        *actions.entry(action.unwrap_or_default()).or_default() += 1;
        largest = largest.max(reply.usage.prompt());
        let made: Vec<Value> = (reply.tool_calls())
            .map(|call| json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": String::from_utf8_lossy(call.input_json)}}))
            .collect();
        let text = reply.text();
        messages.push(if made.is_empty() {
            json!({"role": "assistant", "content": text})
        } else {
            json!({"role": "assistant", "content": text, "tool_calls": made})
        });
        for call in &made {
            calls += 1;
            let id = call["id"].as_str().unwrap();
            messages
                .push(json!({"role": "tool", "tool_call_id": id, "content": result(id, calls)}));
        }
        if made.is_empty() {
            messages.push(json!({"role": "user", "content": long(turn)}));
        }
    }
    println!("chat completions: {actions:?}, {calls} calls, largest prompt {largest} tokens");
    assert_eq!(refused(&gateway), 0);
    assert!(largest < 40_000);
    gateway.stop().await;
    actions
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn n5_x8_chat_completions_go_on_without_end_behind_their_system_prompt() {
    let actions = completions(NotesMode::Off).await;
    let of = |kind: &str| actions.get(kind).copied().unwrap_or(0);
    assert!(of("summarised") + of("extracted") > 50, "{actions:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s6_n5_x8_so_they_do_behind_notes() {
    let actions = completions(NotesMode::On).await;
    assert!(
        actions.get("noted").is_some_and(|noted| *noted > 20),
        "{actions:?}"
    );
}

async fn messages(marks: BreakpointMode) -> f64 {
    let gateway = world(|options| options.breakpoint_mode = marks).await;
    let client = client(&gateway, Dialect::Anthropic);
    let tool = json!({"name": "Read", "description": "Reads a file.", "input_schema":
        {"type": "object", "properties": {"file_path": {"type": "string"}}, "required": ["file_path"]}});
    let mut messages = vec![json!({"role": "user", "content": "Begin."})];
    let mut calls = 0;
    for turn in 0..120 {
        // No breakpoints at all, and texts as strings.
        let body = json!({"model": "claude-opus-5-5", "max_tokens": 8_000, "stream": true, "thinking": {"type": "adaptive"},
            "system": "You work on a repository. ".repeat(200), "tools": [tool], "messages": messages});
        let (reply, _) = streamed(&client, &body).await;
        let said: Value = serde_json::from_slice(&reply.message_json()).unwrap();
        messages.push(json!({"role": "assistant", "content": said["content"]}));
        let results: Vec<Value> = (reply.tool_calls())
            .map(|call| {
                calls += 1;
                json!({"type": "tool_result", "tool_use_id": call.id, "content": result(&call.id, calls)})
            })
            .collect();
        messages.push(if results.is_empty() {
            json!({"role": "user", "content": format!("Go on with step {turn}.")})
        } else {
            json!({"role": "user", "content": results})
        });
    }
    assert_eq!(refused(&gateway), 0);
    let books = gateway
        .simulated()
        .unwrap()
        .with_world(|world| world.usage_log().total);
    println!(
        "{marks:?}: ${:.4}, hit rate {:.3}",
        books.cost_usd.to_f64(),
        books.hit_rate
    );
    gateway.stop().await;
    books.cost_usd.to_f64()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b2_n2_x8_a_client_without_markers_pays_what_one_pays_whose_markers_are_managed() {
    let kept = messages(BreakpointMode::Keep).await;
    let managed = messages(BreakpointMode::Manage).await;
    assert!(kept < managed * 1.25, "${managed} against ${kept}");
}

/// Streams of chat completions tell no usage unless the client asks for it: the gateway's own count has to do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x5_x8_streams_that_tell_no_usage_are_summarized_ahead_like_others() {
    const MODEL: &str = "claude-sonnet-4-6";
    let (models, _) = with_window(MODEL, 40_000);
    let gateway = world(|options| options.models = models).await;
    let headers = "authorization: Bearer k\r\ncontent-type: application/json\r\n";
    let mut messages = vec![json!({"role": "system", "content": "You are brief."})];
    let mut actions = Vec::new();
    for turn in 0..40 {
        let said =
            format!("Part {turn}: the mill was sold, and who owns part {turn} now? ").repeat(60);
        messages.push(json!({"role": "user", "content": said}));
        let request =
            json!({"model": MODEL, "max_tokens": 4_000, "stream": true, "messages": messages});
        let request = post("/v1/chat/completions", headers, &request.to_string());
        let answer = exchange_whole(gateway.addr(), &request).await;
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.starts_with("HTTP/1.1 200"), "turn {turn}: {answer}");
        assert!(answer.contains("[DONE]"), "turn {turn}: {answer}");
        assert!(
            !answer.contains("\"prompt_tokens\""),
            "turn {turn}: {answer}"
        );
        actions.push(header(&answer, "x-longhaul-action").unwrap());
        messages.push(json!({"role": "assistant", "content": format!("The answer {turn}.")}));
        caught_up(gateway.addr(), turn + 1).await;
    }
    let with = |action: &str| actions.iter().filter(|one| *one == action).count();
    assert!(with("summarised") > 0, "{actions:?}");
    assert_eq!(with("extracted"), 0, "{actions:?}");
    gateway.stop().await;
}
