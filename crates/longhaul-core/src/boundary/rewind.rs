//! Going back to an earlier point of a conversation (M5). Nothing is deleted: a line is appended whose parent is the entry
//! that the conversation goes on from, so that whoever follows the chain sees it as it was then.

use bytes::Bytes;
use serde::Serialize;

use super::line::{LineEnvelope, LineError, LineStamp, SystemLine, line};

/// Everything a rewind writes.
#[derive(Debug, Clone, Copy)]
pub struct RewindRecord<'a> {
    /// What its line carries.
    pub envelope: LineEnvelope<'a>,
    /// Its id and time.
    pub stamp: LineStamp<'a>,
    /// The entry that the conversation goes on from; none: it begins anew.
    pub parent: Option<&'a str>,
    /// The first entry that is left behind.
    pub left: &'a str,
}

impl RewindRecord<'_> {
    /// The line, line end excluded. To readers that do not know it, it is a remark for people.
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
