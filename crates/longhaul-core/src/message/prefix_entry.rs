//! The head of a session's requests, as an entry of its own (M7).
//!
//! Everything that shapes the bytes of a request before its messages is on disk before the request is sent, so that
//! requests can be rendered again from the file alone. The parts are JSON as they will be sent; nothing here looks
//! into them, and once written they are never changed: a new head is another entry.
//!
//! **Every rendering has its own head entry, behind what it began with.** Whatever begins a rendering (the first
//! request, a compaction, a clearing, a rewind, other tools) writes the entries it consists of and then the head, in one
//! append, even if the head says what the last one said. So the newest head tells two things: what stands before the
//! messages, and which entries were there when the rendering began (those that lie before it in the file) and which came
//! one by one (those behind it). And since a boundary is always followed by a head, a reader of the tail finds the head
//! without reading what lies before the boundary.

use std::borrow::Cow;

use bytes::Bytes;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;

use super::EntryView;
use crate::json::ObjectReader;

/// What stands before the messages of a request. Each part is a JSON text, kept byte for byte.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PrefixEntry<'a> {
    /// The session.
    pub session_id: &'a str,
    /// When it was latched.
    pub timestamp: Timestamp,
    /// The request's `system`.
    pub system: &'a RawValue,
    /// The request's `tools`.
    pub tools: &'a RawValue,
    /// Memory files and the like, which go before the first message.
    pub user_context: &'a RawValue,
    /// Settings that are part of the cache key and latched for the session.
    pub settings: &'a RawValue,
    /// The uuid of the newest entry that its rendering began with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_through: Option<&'a str>,
    /// Why it took the place of the one before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
}

/// A head that cannot be an entry.
#[derive(Debug, thiserror::Error)]
pub enum PrefixEntryError {
    /// A part is laid out over several lines, and a transcript has an entry a line.
    #[error("the head of a request must be JSON without line breaks")]
    LineBreak,
    /// A part cannot be written.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl PrefixEntry<'_> {
    /// The entry, ready to be appended to the session's transcript.
    pub fn to_entry(&self) -> Result<Bytes, PrefixEntryError> {
        #[derive(Serialize)]
        #[serde(tag = "type", rename = "request-head")]
        struct PrefixEntryLine<'a> {
            #[serde(flatten)]
            head: &'a PrefixEntry<'a>,
        }
        let line = serde_json::to_vec(&PrefixEntryLine { head: self })?;
        match memchr::memchr2(b'\n', b'\r', &line) {
            Some(_) => Err(PrefixEntryError::LineBreak),
            None => Ok(line.into()),
        }
    }
}

impl<'a> EntryView<'a> {
    /// A part of a head entry, as the JSON that was written: `system`, `tools`, `userContext`, `settings`.
    pub fn prefix_part(self, name: &str) -> Option<&'a [u8]> {
        ObjectReader::new(self.line).get(name)
    }

    /// The uuid of the newest entry that a head entry's rendering began with, if it says so.
    pub fn history_through(self) -> Option<Cow<'a, str>> {
        ObjectReader::new(self.line).string("historyThrough")
    }

    /// Why a head entry took the place of the one before, if it says so.
    pub fn prefix_reason(self) -> Option<Cow<'a, str>> {
        ObjectReader::new(self.line).string("reason")
    }
}
