//! Asking the model for a summary, and reading its answer.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::model::DraftBlock;
use crate::prompt::begin;
use crate::reply::{Cut, StopReason};
use crate::request::{Block, Message, Request, Role};

/// What is asked if the request does not say.
const DEFAULT: &str = include_str!("default_prompt.txt");

/// What the model made of being asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A summary.
    Summary(String),
    /// None, and why its answer ended.
    Failed(StopReason),
}

/// The request that asks for a summary: all of the conversation, and the question.
pub fn question(request: &Request, instructions: Option<&str>) -> Request {
    let text = instructions.unwrap_or(DEFAULT.trim_end());
    let mut asked = request.clone();
    asked.messages.push(Message {
        role: Role::User,
        content: vec![block(json!({ "type": "text", "text": text }))],
    });
    asked
}

/// Reads the answer: what stands between the tags, or all of its text.
pub fn outcome(answer: &Cut) -> Outcome {
    let text: Vec<&str> = answer
        .content
        .iter()
        .filter_map(|block| match block {
            DraftBlock::Text(text) => Some(text.as_str()),
            DraftBlock::Thinking(_) | DraftBlock::ToolUse { .. } => None,
        })
        .collect();
    let text = text.join("\n");
    match answer.stop {
        StopReason::EndTurn | StopReason::StopSequence(_) => {}
        ref other => return Outcome::Failed(other.clone()),
    }
    let inside = text.split_once("<summary>").map(|(_, rest)| {
        rest.rsplit_once("</summary>")
            .map_or(rest, |(inside, _)| inside)
    });
    match inside.unwrap_or(&text).trim() {
        "" => Outcome::Failed(StopReason::EndTurn),
        summary => Outcome::Summary(summary.to_owned()),
    }
}

/// What is left of a conversation after a summary of it: the summary, and the newest thing the user said.
pub fn summarised(request: &Request, summary: Value) -> Request {
    let mut left = request.clone();
    let says = |block: &Block| block.kind != "tool_result";
    let newest = request
        .messages
        .iter()
        .rfind(|message| message.role == Role::User && message.content.iter().any(says));
    let newest = newest.map(|message| Message {
        role: Role::User,
        content: message
            .content
            .iter()
            .filter(|b| says(b))
            .cloned()
            .collect(),
    });
    left.messages = vec![Message {
        role: Role::Assistant,
        content: vec![block(summary)],
    }];
    left.messages.extend(newest);
    left
}

/// The request without what its last summary stands for; none if there is nothing before it.
pub fn without_summarised(request: &Request) -> Option<Request> {
    let from = begin(request);
    if (from.message, from.block) == (0, 0) {
        return None;
    }
    let mut left = request.clone();
    left.messages.drain(..from.message);
    if let Some(first) = left.messages.first_mut() {
        first.content.drain(..from.block);
    }
    Some(left)
}

/// A block of this JSON.
pub(crate) fn block(value: Value) -> Block {
    let raw = Arc::from(value.to_string());
    let fields = match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    let kind = fields
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    Block {
        kind: kind.to_owned(),
        raw,
        marker: None,
        fields,
    }
}
