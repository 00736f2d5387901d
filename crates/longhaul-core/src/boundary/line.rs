//! The fields that every line of a conversation carries, and how a line is written.

use bytes::Bytes;
use jiff::Timestamp;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::message::Usage;

/// The conversation that a line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineThread<'a> {
    /// The main conversation.
    Main,
    /// The conversation of the sub-agent with this id.
    Agent(&'a str),
}

/// Where a line was written, and by which program.
#[derive(Debug, Clone, Copy)]
pub struct LineEnvelope<'a> {
    /// The conversation that the line belongs to.
    pub thread: LineThread<'a>,
    /// The working directory.
    pub cwd: &'a str,
    /// The session.
    pub session_id: &'a str,
    /// The version of the program that writes the line.
    pub version: &'a str,
    /// The git branch that is checked out, if there is one.
    pub git_branch: Option<&'a str>,
}

/// A line's own id and time.
#[derive(Debug, Clone, Copy)]
pub struct LineStamp<'a> {
    /// The line's uuid: it is new and is not used for any other line.
    pub uuid: &'a str,
    /// When the line was written.
    pub timestamp: Timestamp,
}

/// Why a line cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// A part of the line cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A request prefix cannot be written as an entry.
    #[error(transparent)]
    Head(#[from] crate::message::PrefixEntryError),
    /// An entry that is to be written again lacks a field that must change.
    #[error("an entry cannot be written again: it has no {0}")]
    Missing(&'static str),
}

/// The envelope's fields in the order and spelling of the transcript.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EnvelopeFields<'a> {
    is_sidechain: bool,
    user_type: &'static str,
    cwd: &'a str,
    session_id: &'a str,
    version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    git_branch: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<&'a str>,
}

impl<'a> From<LineEnvelope<'a>> for EnvelopeFields<'a> {
    fn from(envelope: LineEnvelope<'a>) -> Self {
        let agent_id = match envelope.thread {
            LineThread::Main => None,
            LineThread::Agent(id) => Some(id),
        };
        Self {
            is_sidechain: agent_id.is_some(),
            user_type: "external",
            cwd: envelope.cwd,
            session_id: envelope.session_id,
            version: envelope.version,
            git_branch: envelope.git_branch,
            agent_id,
        }
    }
}

/// Writes a time always with milliseconds, as transcripts do.
pub(crate) fn milliseconds<S: Serializer>(time: &Timestamp, out: S) -> Result<S::Ok, S::Error> {
    out.collect_str(&format_args!("{time:.3}"))
}

/// A provider's measurement in the form of a reply's `usage`.
pub(crate) fn usage_value(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write(),
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write_5m,
            "ephemeral_1h_input_tokens": usage.cache_write_1h,
        },
    })
}

/// Returns one line without its line end.
pub(crate) fn line(value: &impl Serialize) -> Result<Bytes, LineError> {
    Ok(serde_json::to_vec(value)?.into())
}

/// A system line: a boundary, a clearing, an undo.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SystemLine<'a, M> {
    pub(super) parent_uuid: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) logical_parent_uuid: Option<&'a str>,
    #[serde(flatten)]
    pub(super) opening: EnvelopeFields<'a>,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) subtype: &'static str,
    pub(super) content: &'a str,
    pub(super) is_meta: bool,
    #[serde(serialize_with = "milliseconds")]
    pub(super) timestamp: Timestamp,
    pub(super) uuid: &'a str,
    pub(super) level: &'static str,
    #[serde(flatten)]
    pub(super) metadata: M,
}

impl<'a, M> SystemLine<'a, M> {
    pub(super) fn new(
        envelope: LineEnvelope<'a>,
        stamp: LineStamp<'a>,
        subtype: &'static str,
        content: &'a str,
        metadata: M,
    ) -> Self {
        Self {
            parent_uuid: None,
            logical_parent_uuid: None,
            opening: envelope.into(),
            kind: "system",
            subtype,
            content,
            is_meta: false,
            timestamp: stamp.timestamp,
            uuid: stamp.uuid,
            level: "info",
            metadata,
        }
    }
}
