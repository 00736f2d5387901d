//! Going back to an earlier point of a conversation (M5). Nothing is deleted: the appended line's parent is the entry
//! that the conversation goes on from, so a reader that follows the chain sees the conversation as it was then.

use bytes::Bytes;
use serde::Serialize;

use super::line::{LineEnvelope, LineError, LineStamp, SystemLine, line};

/// Everything that a rewind writes.
#[derive(Debug, Clone, Copy)]
pub struct RewindRecord<'a> {
    /// The fields that all lines carry.
    pub envelope: LineEnvelope<'a>,
    /// The line's id and time.
    pub stamp: LineStamp<'a>,
    /// The entry that the conversation goes on from. `None` if the conversation starts over.
    pub parent: Option<&'a str>,
    /// The first entry that is abandoned.
    pub left: &'a str,
}

impl RewindRecord<'_> {
    /// Returns the line without its line end. Readers that do not know it treat it as a remark for people.
    ///
    /// # Errors
    /// Fails if a part of the line cannot be written as JSON.
    pub fn line(&self) -> Result<Bytes, LineError> {
        let rewind_metadata = RewindMetadata {
            left_uuid: self.left,
        };
        line(&SystemLine {
            parent_uuid: self.parent,
            ..SystemLine::new(
                self.envelope,
                self.stamp,
                "informational",
                "Conversation rewound",
                RewindFields { rewind_metadata },
            )
        })
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RewindFields<'a> {
    rewind_metadata: RewindMetadata<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RewindMetadata<'a> {
    left_uuid: &'a str,
}
