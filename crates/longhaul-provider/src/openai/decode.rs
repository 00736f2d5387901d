//! Assembles the chunks of a streamed chat completion into a reply in the format of the Messages API.
//!
//! All text becomes one block, all reasoning another, and each tool call one of its own, in the order in which they
//! begin. Tool calls are distinguished by their index, or by their id if a server sends no index. The usage comes in a
//! separate chunk after the finish reason, so the stream ends only at `[DONE]`.

use std::collections::VecDeque;

use bytes::Bytes;
use longhaul_core::json::{self, ObjectReader};
use longhaul_core::message::Usage;

use super::wire::{self, ChatDelta, ToolCallDelta};
use crate::block::{BlockCompleteness, ReplyBlockKind};
use crate::decode_error::DecodeError;
use crate::event::StreamEvent;
use crate::open_block::OpenBlock;
use crate::progress::StreamProgress;
use crate::raw::{self, RawObject};
use crate::reply::{Reply, ReplyNotice, StopReason};
use crate::{sse, usage};

/// Decodes the events of a streamed chat completion and holds the part of the reply that has arrived.
#[derive(Debug)]
pub struct OpenAiDecoder {
    id: Option<Vec<u8>>,
    model: Option<Vec<u8>>,
    blocks: Vec<OpenBlock>,
    /// For each block, the index of its tool call; `None` for text and reasoning.
    calls: Vec<Option<u64>>,
    stop: Option<StopReason>,
    usage: Usage,
    notices: Vec<ReplyNotice>,
    progress: StreamProgress,
}

impl Default for OpenAiDecoder {
    fn default() -> Self {
        Self {
            id: None,
            model: None,
            blocks: Vec::new(),
            calls: Vec::new(),
            stop: None,
            usage: Usage::default(),
            notices: Vec::new(),
            progress: StreamProgress::Open,
        }
    }
}

impl OpenAiDecoder {
    /// Decodes one server-sent event and appends the resulting stream events to `out`.
    ///
    /// # Errors
    /// Fails if the event reports an error or does not have the format of the API.
    pub fn event(
        &mut self,
        event: sse::SseEvent<'_>,
        out: &mut VecDeque<StreamEvent>,
    ) -> Result<(), DecodeError> {
        // Some servers send events without content to keep the connection open.
        if self.progress == StreamProgress::Closed || event.data.trim_ascii().is_empty() {
            return Ok(());
        }
        if event.data.trim_ascii() == b"[DONE]" {
            self.end_blocks(out);
            self.progress = StreamProgress::Closed;
            return Ok(());
        }
        let chunk = wire::object(event.data)?;
        let is_first = self.id.is_none() && self.model.is_none();
        self.read_id_and_model(chunk);
        if is_first && (self.id.is_some() || self.model.is_some()) {
            let text = |raw: &Option<Vec<u8>>| {
                let raw = raw.as_deref().unwrap_or_default();
                json::text(raw).unwrap_or_default().into_owned()
            };
            out.push_back(StreamEvent::Started {
                id: text(&self.id),
                model: text(&self.model),
            });
        }
        let choices = chunk.get("choices");
        for choice in raw::items(choices.unwrap_or_default()) {
            self.choice(ObjectReader::new(choice), out);
        }
        match chunk.get("usage") {
            Some(raw_usage) if usage::is_object(raw_usage) => {
                self.usage = usage::openai(raw_usage);
                out.push_back(StreamEvent::Usage(self.usage.clone()));
            }
            _ if choices.is_none() => {
                out.push_back(StreamEvent::Other(Bytes::copy_from_slice(event.data)));
            }
            _ => {}
        }
        Ok(())
    }

    /// How far the stream has come.
    pub fn progress(&self) -> StreamProgress {
        self.progress
    }

    /// The reply, or the part of it that arrived if the stream broke off.
    pub fn into_reply(self) -> Reply {
        let mut reply = Reply {
            message: message_fields(self.id, self.model, self.stop.as_ref(), &self.usage),
            notices: self.notices,
            ..Reply::default()
        };
        OpenBlock::settle(self.blocks, self.progress, &mut reply);
        reply
    }

    /// Reads the reply's id and model, unless an earlier chunk had them.
    pub(super) fn read_id_and_model(&mut self, object: ObjectReader<'_>) {
        let nonempty = |key| {
            let raw = object.get(key)?;
            json::content(raw)
                .filter(|content| !content.is_empty())
                .map(|_| raw.to_vec())
        };
        self.id = self.id.take().or_else(|| nonempty("id"));
        self.model = self.model.take().or_else(|| nonempty("model"));
    }

    pub(super) fn set_usage(&mut self, usage: Usage) {
        self.usage = usage;
    }

    pub(super) fn close(&mut self) {
        self.progress = StreamProgress::Closed;
    }

    /// Reads one choice of a chunk or of a whole reply. Only the first choice is used; others become a notice.
    pub(super) fn choice(&mut self, choice: ObjectReader<'_>, out: &mut VecDeque<StreamEvent>) {
        let index = choice.count("index").unwrap_or(0);
        if index != 0 {
            let notice = ReplyNotice::OtherChoice { index };
            if !self.notices.contains(&notice) {
                self.notices.push(notice);
            }
            return;
        }
        if let Some(delta) = choice.object("delta").or_else(|| choice.object("message")) {
            self.read_delta(ChatDelta(delta), out);
        }
        if let Some(reason) = choice.string("finish_reason") {
            self.stop = Some(StopReason::from_openai(&reason));
            self.progress = StreamProgress::Stopped;
            self.end_blocks(out);
        }
    }

    fn read_delta(&mut self, delta: ChatDelta<'_>, out: &mut VecDeque<StreamEvent>) {
        if let Some(content) = delta.reasoning() {
            let index = self.block_of(ReplyBlockKind::Thinking, out);
            self.blocks[index].append("thinking", content);
            out.push_back(StreamEvent::Thinking {
                index: index as u64,
                text: json::decode(content).into_owned(),
            });
        }
        for content in delta.texts() {
            let index = self.block_of(ReplyBlockKind::Text, out);
            self.blocks[index].append("text", content);
            out.push_back(StreamEvent::Text {
                index: index as u64,
                text: json::decode(content).into_owned(),
            });
        }
        for (position, call) in delta.calls().into_iter().enumerate() {
            self.read_call(&call, position as u64, out);
        }
    }

    fn read_call(
        &mut self,
        call: &ToolCallDelta<'_>,
        position: u64,
        out: &mut VecDeque<StreamEvent>,
    ) {
        // Without an index, a new id begins a new call, and a delta without an id continues the newest call.
        let with_id = |id: &[u8]| {
            self.blocks
                .iter()
                .rposition(|block| block.get("id") == Some(id))
        };
        let newest = || self.calls.iter().rposition(Option::is_some);
        let at = match (call.index, call.id) {
            (Some(index), _) => self.calls.iter().position(|known| *known == Some(index)),
            (None, Some(id)) => with_id(id),
            (None, None) => newest(),
        };
        let at = at.unwrap_or_else(|| {
            let index = call.index.unwrap_or(position + self.calls.len() as u64);
            self.begin_call(call, index, out)
        });
        let block = &mut self.blocks[at];
        for (key, value) in [("id", call.id), ("name", call.name)] {
            // Some servers send the id or the name late, and some repeat them: only an empty value is replaced.
            if let Some(value) = value
                && block.get(key) == Some(br#""""#)
            {
                block.set(key, value);
            }
        }
        match call
            .arguments
            .map(|arguments| (json::content(arguments), arguments))
        {
            Some((Some(content), _)) if !content.is_empty() => {
                block.append_input(content);
                out.push_back(StreamEvent::ToolInput {
                    index: at as u64,
                    json: json::decode(content).into_owned(),
                });
            }
            // Some servers send the arguments as an object instead of a string.
            Some((None, object)) if object.first() == Some(&b'{') => block.set("input", object),
            _ => {}
        }
    }

    fn begin_call(
        &mut self,
        call: &ToolCallDelta<'_>,
        index: u64,
        out: &mut VecDeque<StreamEvent>,
    ) -> usize {
        let mut start = RawObject::default();
        start.set("type", *br#""tool_use""#);
        start.set("id", call.id.unwrap_or(br#""""#));
        start.set("name", call.name.unwrap_or(br#""""#));
        start.set("input", *b"{}");
        self.begin_block(start, Some(index), out)
    }

    /// The position of the block of text or reasoning. Begins the block if there is none yet.
    fn block_of(&mut self, kind: ReplyBlockKind, out: &mut VecDeque<StreamEvent>) -> usize {
        if let Some(at) = self.blocks.iter().rposition(|block| block.kind() == kind) {
            return at;
        }
        let name = match kind {
            ReplyBlockKind::Thinking => "thinking",
            _ => "text",
        };
        let mut start = RawObject::default();
        start.set("type", json::quote(name));
        start.set(name, *br#""""#);
        self.begin_block(start, None, out)
    }

    fn begin_block(
        &mut self,
        start: RawObject,
        call: Option<u64>,
        out: &mut VecDeque<StreamEvent>,
    ) -> usize {
        let at = self.blocks.len();
        let block = OpenBlock::new(at as u64, start);
        out.push_back(StreamEvent::BlockStarted {
            index: block.index,
            kind: block.kind(),
            tool: block.tool(),
        });
        self.blocks.push(block);
        self.calls.push(call);
        at
    }

    fn end_blocks(&mut self, out: &mut VecDeque<StreamEvent>) {
        for block in &mut self.blocks {
            if block.extent == BlockCompleteness::Open {
                block.extent = BlockCompleteness::Whole;
                out.push_back(StreamEvent::BlockEnded { index: block.index });
            }
        }
    }
}

/// The fields of the reply message in the format and order of the Messages API, with empty content.
fn message_fields(
    id: Option<Vec<u8>>,
    model: Option<Vec<u8>>,
    stop: Option<&StopReason>,
    usage: &Usage,
) -> RawObject {
    let mut message = RawObject::default();
    message.set("id", id.unwrap_or_else(|| json::quote("")));
    message.set("type", *br#""message""#);
    message.set("role", *br#""assistant""#);
    message.set("model", model.unwrap_or_else(|| json::quote("")));
    message.set("content", *b"[]");
    let stop = stop.map_or_else(|| b"null".to_vec(), |stop| json::quote(stop.name()));
    message.set("stop_reason", stop);
    message.set("stop_sequence", *b"null");
    message.set("usage", usage::write(usage));
    message
}
