//! Results for calls that were never answered (Z2), as an entry: everything that is sent must be on disk first (M7).

use bytes::Bytes;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;

/// The text that the model gets for such a call.
const UNANSWERED: &str = include_str!("../normalize/fragments/unanswered.txt");

/// The identity of a new entry. Ids and time come from the caller.
#[derive(Debug, Clone, Copy)]
pub struct NewEntryStamp<'a> {
    /// The session's id.
    pub session_id: &'a str,
    /// The entry's own uuid.
    pub uuid: &'a str,
    /// The uuid of the previous entry, which is the newest one of the conversation.
    pub parent: Option<&'a str>,
    /// The time at which the entry is written.
    pub timestamp: Timestamp,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SyntheticLine<'a> {
    parent_uuid: Option<&'a str>,
    is_sidechain: bool,
    session_id: &'a str,
    r#type: &'static str,
    message: SyntheticMessage,
    uuid: &'a str,
    timestamp: Timestamp,
}

#[derive(Serialize)]
struct SyntheticMessage {
    role: &'static str,
    content: Vec<SyntheticResult>,
}

#[derive(Serialize)]
struct SyntheticResult {
    r#type: &'static str,
    tool_use_id: Box<RawValue>,
    content: &'static str,
    is_error: bool,
}

/// Returns one user entry that answers these calls, given as the content of their ids' JSON strings.
pub(super) fn results(
    calls: &[Bytes],
    birth: NewEntryStamp<'_>,
) -> Result<Bytes, serde_json::Error> {
    let result = |call: &Bytes| {
        let id = crate::json::enclose(call);
        Ok(SyntheticResult {
            r#type: "tool_result",
            tool_use_id: serde_json::from_slice(&id)?,
            content: UNANSWERED.trim_ascii(),
            is_error: true,
        })
    };
    let content: Result<_, serde_json::Error> = calls.iter().map(result).collect();
    let line = SyntheticLine {
        parent_uuid: birth.parent,
        is_sidechain: false,
        session_id: birth.session_id,
        r#type: "user",
        message: SyntheticMessage {
            role: "user",
            content: content?,
        },
        uuid: birth.uuid,
        timestamp: birth.timestamp,
    };
    serde_json::to_vec(&line).map(Bytes::from)
}
