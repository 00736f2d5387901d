//! Asks the model for a summary, and reads its answer.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::model::DraftBlock;
use crate::prompt::begin;
use crate::reply::{SimStopReason, TruncatedDraft};
use crate::request::{ApiBlock, ApiMessage, ApiRole, MessagesRequest};

/// The default prompt for a summary.
const DEFAULT: &str = include_str!("default_prompt.txt");

/// The outcome of asking the model for a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SummaryAttempt {
    /// The model wrote a summary.
    Summary(String),
    /// The model wrote no summary; this is why its answer ended.
    Failed(SimStopReason),
}

/// The request that asks for a summary: the whole conversation, and the prompt.
pub(crate) fn question(request: &MessagesRequest, instructions: Option<&str>) -> MessagesRequest {
    let text = instructions.unwrap_or(DEFAULT.trim_end());
    let mut asked = request.clone();
    asked.messages.push(ApiMessage {
        role: ApiRole::User,
        content: vec![block(json!({ "type": "text", "text": text }))],
    });
    asked
}

/// Reads the answer: the text between the tags, or all of its text.
pub(crate) fn outcome(answer: &TruncatedDraft) -> SummaryAttempt {
    let text: Vec<&str> = answer
        .content
        .iter()
        .filter_map(|block| match block {
            DraftBlock::Text(text) | DraftBlock::Cited { text, .. } => Some(text.as_str()),
            DraftBlock::Thinking(_) | DraftBlock::ToolUse { .. } | DraftBlock::Server(_) => None,
        })
        .collect();
    let text = text.join("\n");
    match answer.stop {
        SimStopReason::EndTurn | SimStopReason::StopSequence(_) => {}
        ref other => return SummaryAttempt::Failed(other.clone()),
    }
    let inside = text.split_once("<summary>").map(|(_, rest)| {
        rest.rsplit_once("</summary>")
            .map_or(rest, |(inside, _)| inside)
    });
    match inside.unwrap_or(&text).trim() {
        "" => SummaryAttempt::Failed(SimStopReason::EndTurn),
        summary => SummaryAttempt::Summary(summary.to_owned()),
    }
}

/// The conversation after it was summarized: the summary, and the newest message of the user.
pub(crate) fn with_summary(request: &MessagesRequest, summary: Value) -> MessagesRequest {
    let mut left = request.clone();
    let says = |block: &ApiBlock| block.kind != "tool_result";
    let newest = request
        .messages
        .iter()
        .rfind(|message| message.role == ApiRole::User && message.content.iter().any(says));
    let newest = newest.map(|message| ApiMessage {
        role: ApiRole::User,
        content: message
            .content
            .iter()
            .filter(|b| says(b))
            .cloned()
            .collect(),
    });
    left.messages = vec![ApiMessage {
        role: ApiRole::Assistant,
        content: vec![block(summary)],
    }];
    left.messages.extend(newest);
    left
}

/// The request without the messages that its last summary replaces; `None` if there is nothing before the summary.
pub(crate) fn without_summarized(request: &MessagesRequest) -> Option<MessagesRequest> {
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

/// A block made from this JSON.
pub(crate) fn block(value: Value) -> ApiBlock {
    let raw = Arc::from(value.to_string());
    let fields = match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    let kind = fields
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    ApiBlock {
        kind: kind.to_owned(),
        raw,
        marker: None,
        fields,
    }
}
