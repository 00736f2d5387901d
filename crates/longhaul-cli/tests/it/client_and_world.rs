//! The provider's client against the offline world: the two halves of a conversation, each written from the same facts
//! and neither from the other.

use longhaul_provider::{Client, ClientConfig, Dialect, Error, ErrorClass, Reply, Request};
use longhaul_sim::model::{self, SimModel};
use longhaul_sim::server::{SimServer, SimServerOptions, TimeSource};
use longhaul_sim::world::{self, World};
use serde_json::{Value, json};

struct House {
    server: SimServer,
    client: Client,
}

impl House {
    async fn new(dialect: Dialect) -> Self {
        let model = SimModel::new(model::SimModelOptions::default());
        let world = World::new(world::WorldOptions::new(5, Box::new(model)));
        let options = SimServerOptions {
            time: TimeSource::Virtual,
            ..SimServerOptions::default()
        };
        let server = SimServer::start("127.0.0.1:0".parse().unwrap(), world, options)
            .await
            .unwrap();
        let url = server.url().to_owned();
        let config = ClientConfig::from_env(dialect, |name| match name {
            "ANTHROPIC_BASE_URL" => Some(url.clone()),
            "OPENAI_BASE_URL" => Some(format!("{url}/v1")),
            "ANTHROPIC_API_KEY" | "OPENAI_API_KEY" => Some("test-key".to_owned()),
            _ => None,
        });
        Self {
            server,
            client: Client::new(config.unwrap()).unwrap(),
        }
    }

    async fn send(&self, body: &Value) -> Result<Reply, Error> {
        let request = Request::new(serde_json::to_vec(body).unwrap());
        self.client.send(request).await?.into_reply().await
    }
}

/// A request with a prefix long enough to be cached.
fn body(stream: bool) -> Value {
    json!({
        "model": "claude-opus-4-6", "max_tokens": 2_000, "stream": stream,
        "system": [{ "type": "text", "text": "Be brief and exact. ".repeat(1_500), "cache_control": { "type": "ephemeral" } }],
        "tools": [{ "name": "Read", "input_schema": {
            "type": "object", "properties": { "file_path": { "type": "string" } }, "required": ["file_path"] } }],
        "messages": [{ "role": "user", "content": "Look at src/parser.rs." }],
    })
}

#[tokio::test]
async fn n5_a_streamed_reply_and_a_whole_one_are_understood_alike() {
    for stream in [true, false] {
        let house = House::new(Dialect::Anthropic).await;
        let reply = house.send(&body(stream)).await.unwrap();
        assert!(reply.usage.cache_write_5m > 4_096, "{:?}", reply.usage);
        assert!(reply.request_id.is_some() && reply.notices.is_empty());
        // What the client understood is what the simulator says that it sent.
        house.server.with_world(|world| {
            let booked = serde_json::to_value(world.usage_log().total).unwrap();
            assert_eq!(booked["output_tokens"], reply.usage.output);
            assert_eq!(
                booked["cache_write_5m_input_tokens"],
                reply.usage.cache_write_5m
            );
        });
    }
}

#[tokio::test]
async fn b1_a_conversation_reads_from_the_cache_what_it_wrote() {
    let house = House::new(Dialect::Anthropic).await;
    let mut body = body(true);
    let first = house.send(&body).await.unwrap();
    house.server.with_world(|world| world.advance(60_000));
    // The reply goes back byte for byte, as a transcript would hold it.
    let said: Value = serde_json::from_slice(&first.message_json()).unwrap();
    let mut messages = body["messages"].as_array().unwrap().clone();
    messages.push(json!({ "role": "assistant", "content": said["content"] }));
    let results: Vec<Value> = first
        .tool_calls()
        .map(|call| json!({ "type": "tool_result", "tool_use_id": call.id, "content": "fn main() {}" }))
        .collect();
    let answer = if results.is_empty() {
        json!("Go on.")
    } else {
        json!(results)
    };
    messages.push(json!({ "role": "user", "content": answer }));
    body["messages"] = json!(messages);
    let second = house.send(&body).await.unwrap();
    assert_eq!(second.usage.cache_read, first.usage.cache_write());
    house.server.with_world(|world| world.advance(6 * 60_000));
    let third = house.send(&body).await.unwrap();
    assert_eq!(third.usage.cache_read, 0, "five minutes have passed");
}

#[tokio::test]
async fn l1_a_prompt_that_is_too_long_says_by_how_much() {
    let house = House::new(Dialect::Anthropic).await;
    let mut body = body(false);
    body["model"] = json!("claude-haiku-4-5");
    body["messages"][0]["content"] = json!("word ".repeat(260_000));
    let error = house.send(&body).await.unwrap_err();
    let ErrorClass::TooLong(overflow) = error.class else {
        panic!("{error:?}")
    };
    assert_eq!(overflow.limit, Some(200_000));
    assert!(overflow.gap().is_some_and(|gap| gap > 0));
}

#[tokio::test]
async fn n5_the_openai_dialect_meets_its_own_half() {
    let house = House::new(Dialect::OpenAi).await;
    for stream in [true, false] {
        let body = json!({
            "model": "gpt-5", "stream": stream, "stream_options": if stream { json!({ "include_usage": true }) } else { Value::Null },
            "messages": [{ "role": "user", "content": "Say something about parsers." }],
        });
        let reply = house.send(&body).await.unwrap();
        assert!(!reply.text().is_empty());
        assert!(
            reply.usage.output > 0 && reply.usage.prompt() > 0,
            "{:?}",
            reply.usage
        );
    }
}
