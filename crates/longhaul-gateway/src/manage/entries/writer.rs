//! Writes the entries of a conversation, one after the other.

use bytes::Bytes;
use jiff::Timestamp;
use longhaul_core::boundary::{LineEnvelope, LineStamp, LineThread};
use longhaul_core::engine::UuidSequence;
use longhaul_core::message::{Entry, EntryKind};
use longhaul_core::xxh3::Xxh3_128;
use serde::Serialize;
use serde_json::value::RawValue;

/// Writes entries that follow others.
#[derive(Debug)]
pub(super) struct HistoryEntryWriter {
    session_id: String,
    model: String,
    at: Timestamp,
    parent: Option<String>,
    /// Hash of everything up to here.
    chain: u128,
    /// Generates the ids of one element's entries.
    ids: UuidSequence,
    /// The tokens counted when this element had been sent.
    measured: Option<u64>,
    /// A call without an id of its own that is answered next.
    pub(super) function: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HistoryEntryLine<'a> {
    parent_uuid: Option<&'a str>,
    is_sidechain: bool,
    user_type: &'a str,
    session_id: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    message: &'a RawValue,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_meta: bool,
    uuid: &'a str,
    timestamp: Timestamp,
}

#[derive(Serialize)]
struct HistoryEntryReply<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    role: &'a str,
    model: &'a str,
    content: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<HistoryEntryUsage>,
}

#[derive(Serialize)]
struct HistoryEntryUsage {
    input_tokens: u64,
    output_tokens: u64,
}

#[derive(Serialize)]
struct HistoryEntryMessage<'a> {
    role: &'a str,
    content: &'a RawValue,
}

/// The author of the words in an entry of type user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UserEntryAuthor {
    /// The user, or a tool.
    Users,
    /// The host: its words are kept, but not as the user's.
    Hosts,
}

impl HistoryEntryWriter {
    pub(super) fn following(earlier: &[Entry], model: &str, at: Timestamp) -> Self {
        let views = || earlier.iter().rev().map(Entry::view);
        let uuids = || views().filter(|view| view.facets.uuid.is_present());
        let newest = uuids().next();
        let named = views().find(|view| view.facets.session.is_present());
        let mut chain = Xxh3_128::new();
        for entry in earlier
            .iter()
            .filter(|one| one.facets().kind != EntryKind::Progress)
        {
            chain.update(entry.bytes());
        }
        let chain = chain.digest();
        let session_id = named.map(|view| view.text(view.facets.session).into_owned());
        Self {
            session_id: session_id.unwrap_or_default(),
            model: model.to_owned(),
            at,
            parent: newest.map(|view| view.text(view.facets.uuid).into_owned()),
            chain,
            ids: UuidSequence::new(chain),
            measured: None,
            function: None,
        }
    }

    /// Begins the next element.
    pub(super) fn begin(&mut self, element: &[u8], measured: Option<u64>) {
        let mut chain = Xxh3_128::new();
        chain.update(&self.chain.to_le_bytes());
        chain.update(element);
        self.chain = chain.digest();
        self.ids = UuidSequence::new(self.chain);
        self.measured = measured;
        if self.session_id.is_empty() {
            // The session id is derived from the beginning of the conversation.
            self.session_id = self.ids.clone().next_uuid();
        }
    }

    pub(super) fn session_id(&self) -> &str {
        &self.session_id
    }

    pub(super) fn seed(&self) -> u128 {
        self.chain.rotate_left(1)
    }

    pub(super) fn envelope(&self) -> LineEnvelope<'_> {
        LineEnvelope {
            thread: LineThread::Main,
            cwd: "",
            session_id: &self.session_id,
            version: env!("CARGO_PKG_VERSION"),
            git_branch: None,
        }
    }

    pub(super) fn stamp<'a>(&self, uuid: &'a str) -> LineStamp<'a> {
        LineStamp {
            uuid,
            timestamp: self.at,
        }
    }

    /// The uuid of the next entry, and that of its parent.
    pub(super) fn next(&mut self) -> (String, Option<String>) {
        let uuid = self.ids.next_uuid();
        let parent = self.parent.replace(uuid.clone());
        (uuid, parent)
    }

    /// An id for something in this element that has none from the client.
    pub(super) fn id(&self, what: &str) -> String {
        format!("{what}_{:032x}", self.chain)
    }

    /// An input to the model. `content` is JSON.
    pub(super) fn input(&mut self, content: &str, words: UserEntryAuthor) -> Option<Bytes> {
        let content = serde_json::from_str(content).ok()?;
        let said = HistoryEntryMessage {
            role: "user",
            content,
        };
        let message = serde_json::value::to_raw_value(&said).ok()?;
        self.line("user", &message, words)
    }

    /// A reply of the model. `content` is JSON.
    pub(super) fn reply(&mut self, content: &str) -> Option<Bytes> {
        let content = serde_json::from_str(content).ok()?;
        let id = self.id("msg");
        let usage = self.measured.map(|tokens| HistoryEntryUsage {
            input_tokens: tokens,
            output_tokens: 0,
        });
        let reply = HistoryEntryReply {
            id: &id,
            kind: "message",
            role: "assistant",
            model: &self.model,
            content,
            usage,
        };
        let message = serde_json::value::to_raw_value(&reply).ok()?;
        self.line("assistant", &message, UserEntryAuthor::Users)
    }

    fn line(&mut self, kind: &str, message: &RawValue, words: UserEntryAuthor) -> Option<Bytes> {
        let (uuid, parent) = self.next();
        let line = HistoryEntryLine {
            parent_uuid: parent.as_deref(),
            is_sidechain: false,
            user_type: "external",
            session_id: &self.session_id,
            kind,
            message,
            is_meta: words == UserEntryAuthor::Hosts,
            uuid: &uuid,
            timestamp: self.at,
        };
        serde_json::to_vec(&line).ok().map(Bytes::from)
    }
}
