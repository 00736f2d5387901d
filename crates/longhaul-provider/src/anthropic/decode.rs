//! Folds the events of a Messages stream into the reply.
//!
//! `message_start` brings the message, deltas extend its blocks, `message_delta` updates its fields and its usage,
//! whose counts are cumulative. Intermediaries repeat `message_start` (the repetition is ignored) or, after they
//! retried upstream, send another message after the broken one: then the first is dropped, because the API would reject
//! a reply with thinking of both forever.

use std::borrow::Cow;
use std::collections::VecDeque;

use bytes::Bytes;
use longhaul_core::json;

use super::wire::MessagesFrame;
use crate::block::{BlockCompleteness, ReplyBlockKind};
use crate::decode_error::DecodeError;
use crate::delta::BlockDelta;
use crate::error::ErrorResponse;
use crate::event::StreamEvent;
use crate::open_block::OpenBlock;
use crate::progress::StreamProgress;
use crate::raw::{self, RawObject};
use crate::reply::{Reply, ReplyNotice};
use crate::{sse, usage};

/// The reply as far as it has arrived.
#[derive(Debug)]
pub struct AnthropicDecoder {
    message: Option<RawObject>,
    usage: RawObject,
    blocks: Vec<OpenBlock>,
    notices: Vec<ReplyNotice>,
    progress: StreamProgress,
}

impl Default for AnthropicDecoder {
    fn default() -> Self {
        Self {
            message: None,
            usage: RawObject::default(),
            blocks: Vec::new(),
            notices: Vec::new(),
            progress: StreamProgress::Open,
        }
    }
}

impl AnthropicDecoder {
    /// Takes one event; the resulting stream events are appended to `out`.
    ///
    /// # Errors
    /// Fails if the event is an error, or not what the API sends.
    pub fn event(
        &mut self,
        event: sse::SseEvent<'_>,
        out: &mut VecDeque<StreamEvent>,
    ) -> Result<(), DecodeError> {
        // Some servers send events without content to keep the connection open.
        if self.progress == StreamProgress::Closed || event.data.trim_ascii().is_empty() {
            return Ok(());
        }
        let frame = MessagesFrame::parse(event.data)?;
        let kind = match &*frame.kind {
            "" => str::from_utf8(event.name).unwrap_or_default(),
            kind => kind,
        };
        match kind {
            "message_start" => self.start(&frame, event.data, out)?,
            "content_block_start" => self.start_block(&frame, event.data, out)?,
            "content_block_delta" => self.delta(&frame, event.data, out)?,
            "content_block_stop" => self.end_block(frame.index, out),
            "message_delta" => self.update(&frame, event.data, out)?,
            "message_stop" => self.close(),
            "ping" => out.push_back(StreamEvent::Ping),
            "error" => {
                return Err(DecodeError::Answer(Box::new(ErrorResponse::from_body(
                    event.data,
                ))));
            }
            _ => out.push_back(StreamEvent::Other(Bytes::copy_from_slice(event.data))),
        }
        Ok(())
    }

    /// How far the stream has come.
    pub fn progress(&self) -> StreamProgress {
        self.progress
    }

    /// The reply as far as it arrived.
    pub fn into_reply(mut self) -> Reply {
        let mut message = self.message.take().unwrap_or_default();
        if self.usage != RawObject::default() {
            message.set("usage", self.usage.to_bytes());
        }
        let mut reply = Reply {
            message,
            notices: self.notices,
            ..Reply::default()
        };
        OpenBlock::settle(self.blocks, self.progress, &mut reply);
        reply
    }

    fn start(
        &mut self,
        frame: &MessagesFrame<'_>,
        data: &[u8],
        out: &mut VecDeque<StreamEvent>,
    ) -> Result<(), DecodeError> {
        let message = object(frame.message, "a message_start without its message", data)?;
        let id = message.text("id").unwrap_or_default().into_owned();
        if let Some(open) = &self.message {
            let abandoned = open.text("id").unwrap_or_default().into_owned();
            if abandoned == id {
                return Ok(());
            }
            let mut notices = std::mem::take(&mut self.notices);
            notices.push(ReplyNotice::Restarted { abandoned });
            *self = Self {
                notices,
                ..Self::default()
            };
            out.push_back(StreamEvent::Restarted);
        }
        out.push_back(StreamEvent::Started {
            id,
            model: message.text("model").unwrap_or_default().into_owned(),
        });
        // A message may begin with content: programmatic tool calls come that way.
        let content = message.get("content").unwrap_or_default();
        for (index, block) in raw::items(content).into_iter().enumerate() {
            let start = object(Some(block), "a content block is not an object", data)?;
            let index = index as u64;
            let text = start.text("text").map(Cow::into_owned);
            let block = OpenBlock::new(index, start);
            let text = text.filter(|_| block.kind() == ReplyBlockKind::Text);
            self.begin(block, out);
            out.extend(text.map(|text| StreamEvent::Text { index, text }));
            self.end_block(index, out);
        }
        self.merge_usage(message.get("usage"), out);
        self.message = Some(message);
        Ok(())
    }

    fn start_block(
        &mut self,
        frame: &MessagesFrame<'_>,
        data: &[u8],
        out: &mut VecDeque<StreamEvent>,
    ) -> Result<(), DecodeError> {
        let start = object(frame.block, "a content_block_start without its block", data)?;
        let index = frame.index;
        if self.blocks.iter().any(|block| block.index == index) {
            self.notices.push(ReplyNotice::IndexReused { index });
        }
        self.begin(OpenBlock::new(index, start), out);
        Ok(())
    }

    fn begin(&mut self, block: OpenBlock, out: &mut VecDeque<StreamEvent>) {
        out.push_back(StreamEvent::BlockStarted {
            index: block.index,
            kind: block.kind(),
            tool: block.tool(),
        });
        self.blocks.push(block);
    }

    fn delta(
        &mut self,
        frame: &MessagesFrame<'_>,
        data: &[u8],
        out: &mut VecDeque<StreamEvent>,
    ) -> Result<(), DecodeError> {
        let missing = || DecodeError::malformed("a content_block_delta without its delta", data);
        let json = frame.delta.ok_or_else(missing)?;
        let delta = BlockDelta::parse(json)?;
        let index = frame.index;
        let newest = self.blocks.iter().rposition(|block| block.index == index);
        let at = match newest {
            Some(at) if self.blocks[at].extent == BlockCompleteness::Open => Some(at),
            Some(_) => None,
            None => OpenBlock::implied_by(index, &delta).map(|block| {
                self.begin(block, out);
                self.blocks.len() - 1
            }),
        };
        let Some(block) = at.and_then(|at| self.blocks.get_mut(at)) else {
            let json = Bytes::copy_from_slice(json);
            self.notices.push(ReplyNotice::StrayDelta { index, json });
            return Ok(());
        };
        block.apply(&delta, json);
        match delta {
            BlockDelta::Append { field, content } => {
                let text = json::decode(content).into_owned();
                out.push_back(match field {
                    "thinking" => StreamEvent::Thinking { index, text },
                    _ => StreamEvent::Text { index, text },
                });
            }
            BlockDelta::Input { content } => {
                let json = json::decode(content).into_owned();
                out.push_back(StreamEvent::ToolInput { index, json });
            }
            BlockDelta::Unknown { kind } => {
                self.notices.push(ReplyNotice::UnknownDelta { index, kind });
                out.push_back(StreamEvent::Other(Bytes::copy_from_slice(data)));
            }
            BlockDelta::Citation(_) | BlockDelta::Set(_) => {}
        }
        Ok(())
    }

    fn end_block(&mut self, index: u64, out: &mut VecDeque<StreamEvent>) {
        let mut blocks = self.blocks.iter_mut().rev();
        if let Some(block) =
            blocks.find(|block| block.index == index && block.extent == BlockCompleteness::Open)
        {
            block.extent = BlockCompleteness::Whole;
            out.push_back(StreamEvent::BlockEnded { index });
        }
    }

    fn update(
        &mut self,
        frame: &MessagesFrame<'_>,
        data: &[u8],
        out: &mut VecDeque<StreamEvent>,
    ) -> Result<(), DecodeError> {
        let delta = object(frame.delta, "a message_delta without its delta", data)?;
        let message = self.message.get_or_insert_default();
        for (key, value) in delta.fields() {
            message.update(key, value);
        }
        for (key, value) in &frame.others {
            message.update(key, value);
        }
        if message
            .get("stop_reason")
            .is_some_and(|reason| reason != b"null")
        {
            self.progress = StreamProgress::Stopped;
        }
        self.merge_usage(frame.usage, out);
        Ok(())
    }

    /// Later counts replace earlier ones, field by field; a field that is absent or null leaves the earlier one.
    fn merge_usage(&mut self, told: Option<&[u8]>, out: &mut VecDeque<StreamEvent>) {
        let Some(told) = told.and_then(|told| RawObject::parse(told).ok()) else {
            return;
        };
        for (key, value) in told.fields() {
            self.usage.update(key, value);
        }
        out.push_back(StreamEvent::Usage(usage::anthropic(&self.usage.to_bytes())));
    }

    fn close(&mut self) {
        if self.message.is_some() {
            self.progress = StreamProgress::Closed;
        }
    }
}

fn object(value: Option<&[u8]>, what: &str, data: &[u8]) -> Result<RawObject, DecodeError> {
    value
        .and_then(|value| RawObject::parse(value).ok())
        .ok_or_else(|| DecodeError::malformed(what, data))
}
