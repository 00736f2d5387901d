//! A content block while its pieces arrive.
//!
//! Strings are joined in their escaped form: that is how the server wrote them, and a surrogate pair that two pieces
//! share becomes complete without being decoded.

use bytes::Bytes;
use longhaul_core::json;

use crate::block::{BlockCompleteness, ReplyBlock, ReplyBlockKind};
use crate::delta::BlockDelta;
use crate::progress::StreamProgress;
use crate::raw::{self, RawObject};
use crate::reply::{Reply, ReplyNotice};

/// A block that has begun.
#[derive(Debug)]
pub(crate) struct OpenBlock {
    pub(crate) index: u64,
    pub(crate) extent: BlockCompleteness,
    start: RawObject,
    /// The fields that grow, with their content so far, escaped.
    growing: Vec<(&'static str, Vec<u8>)>,
    /// The tool's input so far: the content of string literals, escaped.
    input: Vec<u8>,
    citations: Vec<Vec<u8>>,
    unknown: Vec<Bytes>,
}

/// The state of a tool's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ToolInputState {
    /// It is a JSON object, or there was no input.
    Sound,
    /// It is not a JSON object.
    Broken,
}

impl OpenBlock {
    pub(crate) fn new(index: u64, start: RawObject) -> Self {
        Self {
            index,
            extent: BlockCompleteness::Open,
            start,
            growing: Vec::new(),
            input: Vec::new(),
            citations: Vec::new(),
            unknown: Vec::new(),
        }
    }

    /// A block that is implied by a delta, for servers that do not announce their blocks.
    pub(crate) fn implied_by(index: u64, delta: &BlockDelta<'_>) -> Option<Self> {
        let mut start = RawObject::default();
        match delta {
            BlockDelta::Append { field: "text", .. } => {
                start.set("type", *br#""text""#);
                start.set("text", *br#""""#);
            }
            BlockDelta::Append { .. } => {
                start.set("type", *br#""thinking""#);
                start.set("thinking", *br#""""#);
                start.set("signature", *br#""""#);
            }
            _ => return None,
        }
        Some(Self::new(index, start))
    }

    pub(crate) fn kind(&self) -> ReplyBlockKind {
        ReplyBlockKind::from_type(&self.start.text("type").unwrap_or_default())
    }

    pub(crate) fn tool(&self) -> Option<String> {
        match self.kind() {
            ReplyBlockKind::ToolUse | ReplyBlockKind::ServerToolUse => {
                self.start.text("name").map(Into::into)
            }
            _ => None,
        }
    }

    /// Adds a piece.
    pub(crate) fn apply(&mut self, delta: &BlockDelta<'_>, json: &[u8]) {
        match delta {
            BlockDelta::Append { field, content } => self.append(field, content),
            BlockDelta::Input { content } => self.append_input(content),
            BlockDelta::Citation(citation) => self.citations.push(citation.to_vec()),
            BlockDelta::Set(fields) => {
                for (key, value) in fields {
                    self.start.set(key, *value);
                }
            }
            BlockDelta::Unknown { .. } => self.unknown.push(Bytes::copy_from_slice(json)),
        }
    }

    pub(crate) fn append(&mut self, field: &'static str, content: &[u8]) {
        match self.growing.iter_mut().find(|(name, _)| *name == field) {
            Some((_, joined)) => joined.extend_from_slice(content),
            None => {
                let before = self.start.get(field).and_then(json::content);
                let joined = [before.unwrap_or_default(), content].concat();
                self.growing.push((field, joined));
            }
        }
    }

    pub(crate) fn append_input(&mut self, content: &[u8]) {
        self.input.extend_from_slice(content);
    }

    pub(crate) fn set(&mut self, key: &str, value: &[u8]) {
        self.start.set(key, value);
    }

    pub(crate) fn get(&self, key: &str) -> Option<&[u8]> {
        self.start.get(key)
    }

    /// The block as it is now, and whether its input could be read.
    fn into_block(mut self) -> (ReplyBlock, ToolInputState) {
        for (field, joined) in &self.growing {
            self.start.set(field, json::enclose(joined));
        }
        if !self.citations.is_empty() {
            let before = self
                .start
                .get("citations")
                .map(raw::items)
                .unwrap_or_default();
            let all: Vec<&[u8]> = before
                .into_iter()
                .chain(self.citations.iter().map(Vec::as_slice))
                .collect();
            let all = [b"[", all.join(&b","[..]).as_slice(), b"]"].concat();
            self.start.set("citations", all);
        }
        let input = self.settle_input();
        let block = ReplyBlock::new(self.start.to_bytes().into(), self.extent);
        let partial = match self.extent {
            BlockCompleteness::Open => json::decode(&self.input).into_owned(),
            BlockCompleteness::Whole => String::new(),
        };
        (block.with_leftovers(self.unknown, partial), input)
    }

    /// Adds the blocks to a reply. Once the model has stopped they are complete, announced or not.
    pub(crate) fn settle(blocks: Vec<Self>, progress: StreamProgress, reply: &mut Reply) {
        for mut block in blocks {
            let index = block.index;
            if progress != StreamProgress::Open {
                block.extent = BlockCompleteness::Whole;
            }
            let (block, input) = block.into_block();
            if input == ToolInputState::Broken {
                reply.notices.push(ReplyNotice::InvalidToolInput { index });
            }
            reply.blocks.push(block);
        }
        if progress == StreamProgress::Stopped {
            reply.notices.push(ReplyNotice::NoClosingEvent);
        }
        reply.settle();
    }

    fn settle_input(&mut self) -> ToolInputState {
        let text = json::decode(&self.input);
        if text.trim().is_empty() || self.extent == BlockCompleteness::Open {
            return ToolInputState::Sound;
        }
        if raw::is_object(text.as_bytes()) {
            self.start.set("input", text.trim().as_bytes());
            return ToolInputState::Sound;
        }
        // The documentation's own way to return such input to the model.
        let wrapped = [
            &br#"{"INVALID_JSON":"#[..],
            &json::enclose(&self.input),
            b"}",
        ]
        .concat();
        self.start.set("input", wrapped);
        ToolInputState::Broken
    }
}
