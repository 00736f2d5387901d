//! A conversation beside the main conversation (F7, S3): the exact bytes sent so far, with messages of its own after
//! them that nothing else will ever see. It reads the cache that the main conversation wrote.

use bytes::Bytes;
use serde_json::json;
use serde_json::value::RawValue;

use crate::message::{Entry, LineDamage};
use crate::normalize::{MessageRole, RenderOptions, Rendering};

use super::ToolOutput;

/// The bytes that close a message, and those that open a user message.
const CLOSING: &[u8] = b"]}";
const USER: &[u8] = br#"{"role":"user","content":["#;

/// Requests that follow a conversation. Cloning is cheap because the conversation's bytes are shared.
#[derive(Debug, Clone)]
pub struct ConversationFork {
    /// The body up to the last message, which is not closed.
    base: Vec<Bytes>,
    /// The role of the last message.
    last: MessageRole,
    options: RenderOptions,
    /// Fields after the messages, with a comma before them.
    more: Bytes,
    own: Vec<Entry>,
}

impl ConversationFork {
    pub(super) fn new(
        base: Vec<Bytes>,
        last: MessageRole,
        options: RenderOptions,
        more: Bytes,
    ) -> Self {
        Self {
            base,
            last,
            options: RenderOptions {
                user_context: None,
                cleared: Vec::new(),
                thinking_stripped_through: None,
                ..options
            },
            more,
            own: Vec::new(),
        }
    }

    /// Adds a user message.
    pub fn say(&mut self, text: &str) {
        self.push(&json!({
            "type": "user",
            "message": {"role": "user", "content": text},
        }));
    }

    /// Adds the model's reply, as the provider wrote it.
    ///
    /// # Errors
    /// Fails if the reply cannot be read as a message. It is then not added.
    pub fn answered(&mut self, message: &RawValue) -> Result<(), LineDamage> {
        let line = [r#"{"type":"assistant","message":"#, message.get(), "}"].concat();
        self.own.push(Entry::read(line.into())?);
        Ok(())
    }

    /// Adds the results of the reply's calls.
    pub fn results(&mut self, results: &[ToolOutput]) {
        let blocks: Vec<_> = results.iter().map(|result| result.to_block()).collect();
        self.push(&json!({
            "type": "user",
            "message": {"role": "user", "content": blocks},
        }));
    }

    fn push(&mut self, line: &serde_json::Value) {
        // This line is made here, so it can be read.
        self.own.extend(Entry::read(line.to_string().into()));
    }

    /// Returns the body of the next request.
    pub fn body(&self) -> Vec<Bytes> {
        let views = self.own.iter().map(Entry::view);
        let mut rendering = Rendering::begin(self.options.clone(), views);
        rendering.seal();
        let mut own = Vec::new();
        let buffer = rendering.buffer();
        buffer.slices(0, buffer.len(), &mut own);
        let own = own.concat();
        let own: &[u8] = &own;
        let mut body = self.base.clone();
        // Two consecutive user messages become one.
        let (joint, own) = match (self.last, own.strip_prefix(USER)) {
            (MessageRole::User, Some(blocks)) => (b",".as_slice(), blocks),
            _ => (b"]},".as_slice(), own),
        };
        let ending: [&[u8]; 5] = [joint, own, CLOSING, b"]", &self.more];
        body.push([ending.concat(), b"}".to_vec()].concat().into());
        body
    }
}
