//! A model of one's own: here one that answers by a rule, as a model in a test would. Another provider's client takes its
//! place in the same way. Nothing is sent anywhere, so this needs neither a key nor the simulator.
//!
//! `cargo run -p longhaul --example own_model`.

use std::error::Error;
use std::io::Write;

use longhaul::prelude::*;
use longhaul::{ModelError, ModelErrorClass, ModelRequest};
use serde_json::json;

/// Asks for the weather first, and then repeats what the tool said.
async fn answer(request: ModelRequest) -> Result<Reply, ModelError> {
    let body = request
        .body_value()
        .map_err(|error| ModelError::new(ModelErrorClass::Invalid, error.to_string()))?;
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let newest = messages.last().map(|message| message["content"].clone());
    let result = newest.as_ref().and_then(|content| {
        let mut blocks = content.as_array()?.iter();
        blocks.find(|block| block["type"] == "tool_result")
    });
    Ok(match result {
        Some(result) => Reply::from_text(format!("The forecast says: {}", result["content"])),
        None => Reply::builder()
            .text("I look it up.")
            .tool_call("call-1", "Weather", json!({"city": "Oslo"}))
            .build(),
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    run(std::io::stdout()).await
}

pub(crate) async fn run(mut out: impl Write) -> Result<(), Box<dyn Error>> {
    let weather = json!({"name": "Weather", "description": "Tells the weather.", "input_schema": {
        "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}});
    let mut session = Session::builder()
        .model(model_fn(answer))
        .prompt(Prompt::new("my-own-model", "You know the weather.").with_tools(vec![weather]))
        .open()?;
    session.say("Will it rain?").await?;
    loop {
        let reply = session.turn().await?;
        writeln!(out, "model: {}", reply.text())?;
        let results: Vec<ToolOutput> = reply
            .tool_calls()
            .map(|call| {
                let city = call.input()["city"]
                    .as_str()
                    .unwrap_or("nowhere")
                    .to_owned();
                ToolOutput::text(call.id, format!("rain in {city}"))
            })
            .collect();
        if results.is_empty() {
            return Ok(());
        }
        session.results(results).await?;
    }
}
