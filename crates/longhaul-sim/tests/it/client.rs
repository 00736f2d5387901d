//! A client for tests: a conversation that grows, and a model that says what it is told to.

use std::collections::BTreeSet;

use bytes::Bytes;
use longhaul_sim::call::{ApiCall, ApiError};
use longhaul_sim::model::{DraftBlock, DraftStop, ModelTurn, ReplyDraft, ReplyModel};
use longhaul_sim::reply::ApiReply;
use longhaul_sim::world::{World, WorldOptions};
use serde_json::{Value, json};

/// A model made of a function.
pub(crate) struct Says<F>(pub(crate) F);

impl<F: FnMut(&ModelTurn<'_>) -> ReplyDraft + Send> ReplyModel for Says<F> {
    fn reply(&mut self, turn: &ModelTurn<'_>) -> ReplyDraft {
        (self.0)(turn)
    }
}

/// A reply of one text.
pub(crate) fn text(text: &str) -> ReplyDraft {
    ReplyDraft {
        content: vec![DraftBlock::Text(text.to_owned())],
        stop: DraftStop::Natural,
    }
}

/// A world whose model answers with one short text, or with a summary if it is asked for one.
pub(crate) fn world() -> World {
    world_with(|turn| {
        let last = turn.request.messages.last();
        let asked = last.and_then(|last| last.content.last()?.text("text"));
        if asked.is_some_and(|asked| asked.contains("<summary>")) {
            text("<analysis>x</analysis><summary>All went well so far.</summary>")
        } else {
            text("Done, all tests pass.")
        }
    })
}

/// A world with this model.
pub(crate) fn world_with(
    model: impl FnMut(&ModelTurn<'_>) -> ReplyDraft + Send + 'static,
) -> World {
    World::new(WorldOptions::new(7, Box::new(Says(model))))
}

/// A call with this body, on the key `a`.
pub(crate) fn call(body: &Value) -> ApiCall {
    ApiCall {
        key: "a".to_owned(),
        version: "2023-06-01".to_owned(),
        betas: BTreeSet::new(),
        session: Some("s".to_owned()),
        body: Bytes::from(body.to_string()),
    }
}

/// A call with this body and these betas, on the key `a`.
pub(crate) fn call_with(body: &Value, betas: &[&str]) -> ApiCall {
    ApiCall {
        betas: betas.iter().map(|beta| (*beta).to_owned()).collect(),
        ..call(body)
    }
}

/// Sends a body and waits for the reply.
pub(crate) fn send(world: &mut World, body: &Value) -> ApiReply {
    world.exchange(&call(body)).expect("accepted")
}

/// The error a call gets.
pub(crate) fn refused(world: &mut World, call: &ApiCall) -> ApiError {
    world.messages(call).expect_err("refused")
}

/// Words that make about this many tokens.
pub(crate) fn words(tokens: usize) -> String {
    let words = [
        "river", "stone", "light", "paper", "garden", "window", "north", "cloud",
    ];
    let list: Vec<&str> = (0..tokens)
        .map(|nth| words[(nth * 7 + nth / 8) % 8])
        .collect();
    list.join(" ")
}

/// A cache breakpoint.
pub(crate) fn marker() -> Value {
    json!({ "type": "ephemeral" })
}

/// A cache breakpoint of an hour.
pub(crate) fn hour() -> Value {
    json!({ "type": "ephemeral", "ttl": "1h" })
}

/// A text block, with a breakpoint if given.
pub(crate) fn block(text: &str, marker: Option<Value>) -> Value {
    let mut block = json!({ "type": "text", "text": text });
    if let Some(marker) = marker {
        block["cache_control"] = marker;
    }
    block
}

/// A request of one user message with these blocks, on a model that caches from 512 tokens on.
pub(crate) fn request(blocks: Vec<Value>) -> Value {
    json!({
        "model": "claude-opus-5",
        "max_tokens": 1_000,
        "messages": [{ "role": "user", "content": blocks }],
    })
}

/// The tokens read, written for five minutes, written for an hour, and plain input.
pub(crate) fn classes(reply: &ApiReply) -> [u64; 4] {
    let usage = &reply.message["usage"];
    let number = |value: &Value| value.as_u64().expect("a number");
    [
        number(&usage["cache_read_input_tokens"]),
        number(&usage["cache_creation"]["ephemeral_5m_input_tokens"]),
        number(&usage["cache_creation"]["ephemeral_1h_input_tokens"]),
        number(&usage["input_tokens"]),
    ]
}

/// Tokens of the prompt.
pub(crate) fn prompt(reply: &ApiReply) -> u64 {
    classes(reply).iter().sum()
}
