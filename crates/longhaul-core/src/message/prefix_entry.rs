//! The prefix of a session's requests, as an entry of its own (M7).
//!
//! Everything that shapes the bytes of a request before its messages is on disk before the request is sent, so that
//! requests can be rendered again from the file alone. The parts are the JSON that is sent; nothing here looks into
//! them, and once written they are never changed: a new prefix is another entry.
//!
//! **Every rendering has its own prefix entry, after the entries it began with.** Whatever begins a rendering (the
//! first request, a compaction, a clearing, a rewind, other tools) writes the entries it consists of and then the
//! prefix, in one append, even if the prefix equals the last one. So the newest prefix entry tells two things: the
//! bytes before the messages, and which entries existed when the rendering began (those before it in the file) and
//! which came one by one (those after it). And since a prefix always follows a boundary, a reader of the file's tail
//! finds it without reading anything before the boundary.

use std::borrow::Cow;

use bytes::Bytes;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;

use super::EntryView;
use crate::json::ObjectReader;

/// The request prefix as it is written to disk. Each part is a JSON text, kept byte for byte.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PrefixEntry<'a> {
    /// The session's id.
    pub session_id: &'a str,
    /// The time at which the prefix was latched.
    pub timestamp: Timestamp,
    /// The request's `system`.
    pub system: &'a RawValue,
    /// The request's `tools`.
    pub tools: &'a RawValue,
    /// Memory files and the like, which go before the first message.
    pub user_context: &'a RawValue,
    /// Settings that are part of the cache key and latched for the session.
    pub settings: &'a RawValue,
    /// The uuid of the newest entry that the prefix's rendering began with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_through: Option<&'a str>,
    /// Why this prefix replaced the previous one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
}

/// Why a request prefix cannot be written as an entry.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrefixEntryError {
    /// A part spans several lines, but each entry of a transcript must be one line.
    #[error("a request prefix must be JSON without line breaks")]
    LineBreak,
    /// A part cannot be serialized.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl PrefixEntry<'_> {
    /// Returns the entry, ready to be appended to the session's transcript.
    ///
    /// # Errors
    /// Fails if a part holds a line break, which would end the entry, or cannot be written as JSON.
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
    /// Returns a part of a prefix entry, as the JSON that was written: `system`, `tools`, `userContext`, `settings`.
    pub fn prefix_part(self, name: &str) -> Option<&'a [u8]> {
        ObjectReader::new(self.line).get(name)
    }

    /// The uuid of the newest entry that a prefix entry's rendering began with, if it is recorded.
    pub fn history_through(self) -> Option<Cow<'a, str>> {
        ObjectReader::new(self.line).string("historyThrough")
    }

    /// Why a prefix entry replaced the previous one, if it is recorded.
    pub fn prefix_reason(self) -> Option<Cow<'a, str>> {
        ObjectReader::new(self.line).string("reason")
    }
}
