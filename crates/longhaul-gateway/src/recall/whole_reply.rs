//! Replies that come whole, and the one message that the client gets for all of them.

use bytes::Bytes;
use longhaul_core::json::ObjectReader;
use longhaul_provider::decode::DecodeError;
use longhaul_provider::{Dialect, Reply, anthropic, openai};
use serde_json::Value;

use super::reply_ending::{StopChange, StreamEnding};
use super::streamed_chat::set_output;
use super::streamed_messages::with_output;
use crate::manage::splice::{Splices, value};

/// The replies to one request, as far as the client sees them.
#[derive(Debug)]
pub(crate) struct WholeReplies {
    dialect: Dialect,
    tool: String,
    /// The id of the first reply, as JSON.
    id: Option<Vec<u8>>,
    /// Blocks of the replies before the last.
    blocks: Vec<Bytes>,
    /// Texts of the replies before the last, for chat completions.
    text: String,
    replies: usize,
}

impl WholeReplies {
    pub(crate) fn new(dialect: Dialect, tool: &str) -> Self {
        Self {
            dialect,
            tool: tool.to_owned(),
            id: None,
            blocks: Vec::new(),
            text: String::new(),
            replies: 0,
        }
    }

    /// Reads a reply.
    pub(crate) fn read(&self, body: &Bytes) -> Result<Reply, DecodeError> {
        match self.dialect {
            Dialect::Anthropic => anthropic::decode_json(body),
            Dialect::OpenAi => openai::decode_json(body),
        }
    }

    /// Another reply follows this one.
    pub(crate) fn another_reply(&mut self, body: &Bytes, reply: &Reply) {
        let id = || ObjectReader::new(body).get("id").map(<[u8]>::to_vec);
        self.id = self.id.take().or_else(id);
        self.blocks.extend(self.shown(reply));
        self.text.push_str(&reply.text());
        self.replies += 1;
    }

    /// The message for the client: the last reply, with what the earlier ones showed before it.
    pub(crate) fn end(self, body: &Bytes, ending: StreamEnding<'_>) -> Bytes {
        let is_shown_whole = !ending.reply.tool_calls().any(|call| call.name == self.tool);
        if self.replies == 0 && is_shown_whole {
            return body.clone();
        }
        match self.dialect {
            Dialect::Anthropic => self.message(body, ending),
            Dialect::OpenAi => self.completion(body, ending),
        }
    }

    fn message(self, body: &Bytes, ending: StreamEnding<'_>) -> Bytes {
        let place = |key| value(body, 0..body.len(), key);
        let mut edits = Splices::default();
        if let Some((place, id)) = place("id").zip(self.id.clone()) {
            edits.replace(place, id);
        }
        if let Some(place) = place("content") {
            let last = self.shown(ending.reply);
            let blocks: Vec<Bytes> = self.blocks.iter().cloned().chain(last).collect();
            let content = [b"[".to_vec(), blocks.join(&b","[..]), b"]".to_vec()].concat();
            edits.replace(place, content);
        }
        if ending.stop == StopChange::TurnEnded
            && let Some(place) = place("stop_reason")
        {
            edits.replace(place, *b"\"end_turn\"");
        }
        let usage = ending.reply.field("usage").filter(|_| self.replies > 0);
        let usage = usage.and_then(|usage| with_output(usage, ending.output));
        if let Some((place, usage)) = place("usage").zip(usage) {
            edits.replace(place, usage);
        }
        edits.apply(body)
    }

    fn completion(self, body: &Bytes, ending: StreamEnding<'_>) -> Bytes {
        let Ok(mut completion) = serde_json::from_slice::<Value>(body) else {
            return body.clone();
        };
        let id = self.id.and_then(|id| serde_json::from_slice(&id).ok());
        if let (Some(id), Some(own)) = (id, completion.get_mut("id")) {
            *own = id;
        }
        if ending.stop == StopChange::TurnEnded
            && let Some(reason) = completion.pointer_mut("/choices/0/finish_reason")
        {
            *reason = Value::from("stop");
        }
        let text = format!("{}{}", self.text, ending.reply.text());
        let text = if text.is_empty() {
            Value::Null
        } else {
            Value::from(text)
        };
        let message = completion.pointer_mut("/choices/0/message");
        let Some(message) = message.and_then(Value::as_object_mut) else {
            return body.clone();
        };
        message.insert("content".to_owned(), text);
        let is_theirs = |call: &Value| {
            let name = call.pointer("/function/name");
            name.and_then(Value::as_str) != Some(&self.tool)
        };
        if let Some(calls) = message.get_mut("tool_calls").and_then(Value::as_array_mut) {
            calls.retain(is_theirs);
            if calls.is_empty() {
                message.remove("tool_calls");
            }
        }
        if self.replies > 0 {
            set_output(&mut completion, ending.output);
        }
        completion.to_string().into()
    }

    /// The blocks of a reply that the client sees.
    fn shown(&self, reply: &Reply) -> Vec<Bytes> {
        let blocks = reply.blocks.iter().filter(|block| {
            let call = block.tool_call();
            call.is_none_or(|call| call.name != self.tool)
        });
        blocks.map(|block| block.json().clone()).collect()
    }
}
