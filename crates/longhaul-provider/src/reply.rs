//! The reply of a model, the same for every dialect, streamed or not.
//!
//! Content blocks are kept as JSON in the format of the Messages API: those of a plain reply are the server's bytes;
//! those of a stream are its pieces joined without being decoded, so that escapes, signatures and unknown fields are
//! what the server wrote. `anthropic/decode.rs` and `openai/decode.rs` join the pieces.

use std::borrow::Cow;

use bytes::Bytes;
use longhaul_core::json::ObjectReader;
use longhaul_core::message::Usage;

use crate::block::{ReplyBlock, ToolCall};
use crate::raw::{self, RawObject};
use crate::usage;

/// The model's reply.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply {
    /// The message's own fields as received; its `content` is a placeholder for `blocks`.
    pub(crate) message: RawObject,
    /// The content blocks in order.
    pub blocks: Vec<ReplyBlock>,
    /// Why the model stopped; `None` if it has not stopped yet.
    pub stop: Option<StopReason>,
    /// The tokens that the reply used.
    pub usage: Usage,
    /// What the server cleared from the context before sampling (U7).
    pub applied_edits: Vec<AppliedEdit>,
    /// The server's id of this exchange, to quote when contacting its support.
    pub request_id: Option<String>,
    /// Anomalies of the reply that were handled.
    pub notices: Vec<ReplyNotice>,
}

/// Why the model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// It finished its turn.
    EndTurn,
    /// It reached the output limit of the request.
    MaxTokens,
    /// It produced one of the request's stop sequences.
    StopSequence,
    /// It waits for the results of tools.
    ToolUse,
    /// A long server-side turn was paused; send the reply back to continue.
    PauseTurn,
    /// The model, or a filter before it, declined.
    Refusal,
    /// The context window was full.
    ContextWindowExceeded,
    /// The server compacted the conversation and stopped as asked.
    Compaction,
    /// A reason that this version does not know.
    Other(String),
}

impl StopReason {
    pub(crate) fn from_anthropic(name: &str) -> Self {
        match name {
            "end_turn" => Self::EndTurn,
            "max_tokens" => Self::MaxTokens,
            "stop_sequence" => Self::StopSequence,
            "tool_use" => Self::ToolUse,
            "pause_turn" => Self::PauseTurn,
            "refusal" => Self::Refusal,
            "model_context_window_exceeded" => Self::ContextWindowExceeded,
            "compaction" => Self::Compaction,
            other => Self::Other(other.to_owned()),
        }
    }

    pub(crate) fn from_openai(name: &str) -> Self {
        match name {
            "stop" => Self::EndTurn,
            "length" => Self::MaxTokens,
            "tool_calls" | "function_call" => Self::ToolUse,
            "content_filter" => Self::Refusal,
            other => Self::Other(other.to_owned()),
        }
    }

    /// The name in the Messages API.
    pub fn name(&self) -> &str {
        match self {
            Self::EndTurn => "end_turn",
            Self::MaxTokens => "max_tokens",
            Self::StopSequence => "stop_sequence",
            Self::ToolUse => "tool_use",
            Self::PauseTurn => "pause_turn",
            Self::Refusal => "refusal",
            Self::ContextWindowExceeded => "model_context_window_exceeded",
            Self::Compaction => "compaction",
            Self::Other(name) => name,
        }
    }
}

/// One of `context_management.applied_edits`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AppliedEdit {
    /// Old tool results were cleared.
    ToolUses {
        /// How many results were cleared.
        cleared: u64,
        /// How many tokens that freed.
        tokens: u64,
    },
    /// Old thinking was cleared.
    Thinking {
        /// In how many turns thinking was cleared.
        turns: u64,
        /// How many tokens that freed.
        tokens: u64,
    },
    /// An edit that this version does not know, as JSON.
    Other(Bytes),
}

/// An anomaly of a reply that did not prevent reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplyNotice {
    /// The stream began again with another message, as when an intermediary retries; what came before is dropped.
    Restarted {
        /// The id of the message that was abandoned.
        abandoned: String,
    },
    /// A delta of a kind that this version does not know; it is kept with its block.
    UnknownDelta {
        /// The block's index in the stream.
        index: u64,
        /// The delta's type.
        kind: String,
    },
    /// A delta for a block that had not begun, or had already ended.
    StrayDelta {
        /// The index in the delta.
        index: u64,
        /// The delta as JSON.
        json: Bytes,
    },
    /// A second block began with an index that was taken; both are kept.
    IndexReused {
        /// The index.
        index: u64,
    },
    /// A tool's input is not a JSON object; it is wrapped as `{"INVALID_JSON": "…"}` in the block.
    InvalidToolInput {
        /// The block's index in the stream.
        index: u64,
    },
    /// The stream ended cleanly after the stop reason but without its closing event.
    NoClosingEvent,
    /// The server sent more than one alternative; only the first is read.
    OtherChoice {
        /// The index of the alternative.
        index: u64,
    },
}

impl Reply {
    /// The message's id; empty if the server sent none.
    pub fn id(&self) -> Cow<'_, str> {
        self.message.text("id").unwrap_or_default()
    }

    /// The model that answered; empty if the server did not name it.
    pub fn model(&self) -> Cow<'_, str> {
        self.message.text("model").unwrap_or_default()
    }

    /// Any other field of the message as JSON: `stop_details`, `container`, `diagnostics`, `context_management`, …
    pub fn field(&self, key: &str) -> Option<&[u8]> {
        self.message.get(key)
    }

    /// All text of the reply, joined, without thinking.
    pub fn text(&self) -> String {
        let texts = self.blocks.iter().filter_map(ReplyBlock::text);
        texts.collect()
    }

    /// The calls of client-side tools, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = ToolCall<'_>> {
        self.blocks.iter().filter_map(ReplyBlock::tool_call)
    }

    /// The whole message as the Messages API writes it: what a transcript stores under `message`.
    pub fn message_json(&self) -> Vec<u8> {
        let mut message = self.message.clone();
        let mut content = vec![b'['];
        for (at, block) in self.blocks.iter().enumerate() {
            if at > 0 {
                content.push(b',');
            }
            content.extend_from_slice(block.json());
        }
        content.push(b']');
        message.set("content", content);
        message.to_bytes()
    }

    /// Reads the typed fields from the message once it is complete.
    pub(crate) fn settle(&mut self) {
        self.stop = self
            .message
            .text("stop_reason")
            .map(|reason| StopReason::from_anthropic(&reason));
        self.usage = match self.message.get("usage") {
            Some(told) if usage::is_object(told) => usage::anthropic(told),
            _ => Usage::default(),
        };
        let context_management = self.message.get("context_management");
        self.applied_edits = context_management.map_or_else(Vec::new, applied_edits);
    }
}

fn applied_edits(context_management: &[u8]) -> Vec<AppliedEdit> {
    if context_management.first() != Some(&b'{') {
        return Vec::new();
    }
    let edits = ObjectReader::new(context_management).get("applied_edits");
    let edits = raw::items(edits.unwrap_or_default());
    let read = edits.into_iter().map(|edit| {
        let fields = ObjectReader::new(edit);
        let count = |key| fields.count(key).unwrap_or(0);
        let tokens = count("cleared_input_tokens");
        match fields.string("type").as_deref() {
            Some("clear_tool_uses_20250919") => AppliedEdit::ToolUses {
                cleared: count("cleared_tool_uses"),
                tokens,
            },
            Some("clear_thinking_20251015") => AppliedEdit::Thinking {
                turns: count("cleared_thinking_turns"),
                tokens,
            },
            _ => AppliedEdit::Other(Bytes::copy_from_slice(edit)),
        }
    });
    read.collect()
}
