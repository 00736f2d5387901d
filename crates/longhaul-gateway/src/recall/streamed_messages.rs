//! Streams of the Messages API as the client sees them: blocks are numbered through over all replies, without those of
//! the tool.

use bytes::Bytes;
use longhaul_core::json::ObjectReader;
use longhaul_provider::sse::SseEvent;

use super::reply_ending::{StopChange, StreamEnding, write_event};
use crate::manage::splice::{Splices, value};

/// Rewrites the streams of one request.
#[derive(Debug)]
pub(crate) struct MessagesRewriter {
    tool: String,
    /// How many replies came before the current one.
    replies: usize,
    /// How many blocks of earlier replies the client has seen.
    shown_before: u64,
    /// How many blocks of the current reply have begun.
    begun: u64,
    /// The indexes of the tool's blocks in the current reply.
    hidden: Vec<u64>,
    /// The end of the current reply: names and data of its events.
    held: Vec<(Vec<u8>, Bytes)>,
}

impl MessagesRewriter {
    pub(super) fn new(tool: &str) -> Self {
        Self {
            tool: tool.to_owned(),
            replies: 0,
            shown_before: 0,
            begun: 0,
            hidden: Vec::new(),
            held: Vec::new(),
        }
    }

    pub(super) fn event(&mut self, event: SseEvent<'_>, out: &mut Vec<u8>) {
        let read = ObjectReader::new(event.data);
        let kind = read.string("type");
        let index = read.count("index").unwrap_or(0);
        match kind.as_deref().unwrap_or_default() {
            // The client has one message, and it began with the first reply.
            "message_start" if self.replies > 0 => {}
            "content_block_start" => {
                self.begun = self.begun.max(index + 1);
                let block = read.object("content_block");
                let is_ours = block.is_some_and(|block| {
                    block.string("type").as_deref() == Some("tool_use")
                        && block.string("name").as_deref() == Some(&*self.tool)
                });
                if is_ours {
                    self.hidden.push(index);
                } else {
                    self.renumbered(event, index, out);
                }
            }
            "content_block_delta" | "content_block_stop" => {
                if !self.hidden.contains(&index) {
                    self.renumbered(event, index, out);
                }
            }
            "message_delta" | "message_stop" => {
                let data = Bytes::copy_from_slice(event.data);
                self.held.push((event.name.to_vec(), data));
            }
            _ => write_event(event.name, event.data, out),
        }
    }

    pub(super) fn another_reply(&mut self) {
        self.shown_before += self.begun.saturating_sub(self.hidden.len() as u64);
        self.replies += 1;
        self.begun = 0;
        self.hidden.clear();
        self.held.clear();
    }

    pub(super) fn end(&mut self, ending: StreamEnding<'_>, out: &mut Vec<u8>) {
        for (name, data) in std::mem::take(&mut self.held) {
            let is_delta =
                ObjectReader::new(&data).string("type").as_deref() == Some("message_delta");
            let data = if is_delta {
                self.ended(data, ending)
            } else {
                data
            };
            write_event(&name, &data, out);
        }
    }

    /// The event that says why the model stopped and what it used: the input of the last reply, the output of all.
    fn ended(&self, data: Bytes, ending: StreamEnding<'_>) -> Bytes {
        let mut edits = Splices::default();
        if ending.stop == StopChange::TurnEnded
            && let Some(delta) = value(&data, 0..data.len(), "delta")
            && let Some(reason) = value(&data, delta, "stop_reason")
        {
            edits.replace(reason, *b"\"end_turn\"");
        }
        // The whole usage, because the client was told the input of the first reply when the stream began.
        let usage = ending.reply.field("usage");
        if self.replies > 0
            && let Some(usage) = usage.and_then(|usage| with_output(usage, ending.output))
        {
            match value(&data, 0..data.len(), "usage") {
                Some(place) => edits.replace(place, usage),
                None => {
                    let end = data.len().saturating_sub(1);
                    edits.replace(end..end, [&b",\"usage\":"[..], &usage].concat());
                }
            }
        }
        edits.apply(&data)
    }

    /// Passes an event on with the index that its block has for the client.
    fn renumbered(&self, event: SseEvent<'_>, index: u64, out: &mut Vec<u8>) {
        let hidden = self.hidden.iter().filter(|one| **one < index).count() as u64;
        let shown = self.shown_before + index.saturating_sub(hidden);
        if shown == index {
            return write_event(event.name, event.data, out);
        }
        let data = Bytes::copy_from_slice(event.data);
        let mut edits = Splices::default();
        if let Some(place) = value(&data, 0..data.len(), "index") {
            edits.replace(place, shown.to_string());
        }
        write_event(event.name, &edits.apply(&data), out);
    }
}

/// A usage with another number of output tokens.
pub(super) fn with_output(usage: &[u8], output: u64) -> Option<Vec<u8>> {
    let place = value(usage, 0..usage.len(), "output_tokens")?;
    let mut edits = Splices::default();
    edits.replace(place, output.to_string());
    Some(edits.apply(&Bytes::copy_from_slice(usage)).to_vec())
}
