//! Entries that a turn creates, as lines in Claude Code's format. They are serialized once; from then on they are
//! bytes.

use bytes::Bytes;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::boundary::{EnvelopeFields, LineEnvelope, LineError, LineStamp, line, milliseconds};
use crate::message::ReductionRecord;
use crate::prompt::ToolOutput;

/// An entry that a host adds to the conversation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum NewEntry {
    /// A message from the user.
    User {
        /// The message's content: a string or a list of blocks.
        content: Value,
        /// Who is shown the message.
        shown: EntryAudience,
    },
    /// Results of tool calls.
    ToolResults(Vec<ToolOutput>),
    /// Additional content for the model besides the conversation: a file, a todo list, a reminder.
    Attachment(Value),
}

/// Who is shown an entry. The model always sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryAudience {
    /// The user is shown the entry.
    ToUser,
    /// Nobody is shown the entry: it comes from the host.
    ToNobody,
}

impl NewEntry {
    /// A user message with a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::User {
            content: Value::String(text.into()),
            shown: EntryAudience::ToUser,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TurnLine<'a> {
    parent_uuid: Option<&'a str>,
    #[serde(flatten)]
    opening: EnvelopeFields<'a>,
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<TurnLineMessage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reduced_results: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attachment: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_meta: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
    uuid: &'a str,
    #[serde(serialize_with = "milliseconds")]
    timestamp: Timestamp,
}

#[derive(Serialize)]
#[serde(untagged)]
enum TurnLineMessage<'a> {
    User {
        role: &'static str,
        content: &'a Value,
    },
    Reply(&'a RawValue),
}

impl<'a> TurnLine<'a> {
    fn new(
        envelope: LineEnvelope<'a>,
        stamp: LineStamp<'a>,
        parent: Option<&'a str>,
        kind: &'static str,
    ) -> Self {
        Self {
            parent_uuid: parent,
            opening: envelope.into(),
            kind,
            message: None,
            reduced_results: None,
            attachment: None,
            is_meta: None,
            request_id: None,
            uuid: stamp.uuid,
            timestamp: stamp.timestamp,
        }
    }
}

/// The line of an entry that a host adds. `reductions` are those of its results that are sent in a smaller form.
pub(super) fn added(
    envelope: LineEnvelope<'_>,
    stamp: LineStamp<'_>,
    parent: Option<&str>,
    new: &NewEntry,
    reductions: &[ReductionRecord],
) -> Result<Bytes, LineError> {
    let user = |content| {
        Some(TurnLineMessage::User {
            role: "user",
            content,
        })
    };
    let results;
    let entry = match new {
        NewEntry::User { content, shown } => TurnLine {
            message: user(content),
            is_meta: (*shown == EntryAudience::ToNobody).then_some(true),
            ..TurnLine::new(envelope, stamp, parent, "user")
        },
        NewEntry::ToolResults(outputs) => {
            results = Value::Array(outputs.iter().map(ToolOutput::to_block).collect());
            TurnLine {
                message: user(&results),
                reduced_results: field(reductions),
                ..TurnLine::new(envelope, stamp, parent, "user")
            }
        }
        NewEntry::Attachment(attachment) => TurnLine {
            attachment: Some(attachment),
            ..TurnLine::new(envelope, stamp, parent, "attachment")
        },
    };
    line(&entry)
}

/// The line of a reply, with the message as the provider wrote it.
pub(super) fn reply(
    envelope: LineEnvelope<'_>,
    stamp: LineStamp<'_>,
    parent: Option<&str>,
    message: &RawValue,
    request_id: Option<&str>,
) -> Result<Bytes, LineError> {
    line(&TurnLine {
        message: Some(TurnLineMessage::Reply(message)),
        request_id,
        ..TurnLine::new(envelope, stamp, parent, "assistant")
    })
}

/// The records as a field of a line.
fn field(records: &[ReductionRecord]) -> Option<Value> {
    if records.is_empty() {
        return None;
    }
    serde_json::to_value(records).ok()
}
