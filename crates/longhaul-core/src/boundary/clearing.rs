//! A clearing: the line that records which results are not sent any more (U2, M7).

use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;

use super::compaction::CompactionTrigger;
use super::line::{LineEnvelope, LineError, LineStamp, SystemLine, line};

/// Everything that a clearing writes.
#[derive(Debug, Clone, Copy)]
pub struct ClearingRecord<'a> {
    /// The fields that all lines carry.
    pub envelope: LineEnvelope<'a>,
    /// The line's id and time.
    pub stamp: LineStamp<'a>,
    /// The entry before the line.
    pub parent: Option<&'a str>,
    /// Who triggered the clearing.
    pub trigger: CompactionTrigger,
    /// Tokens in the window before the clearing.
    pub pre_tokens: u64,
    /// The weight of the cleared results.
    pub tokens_saved: u64,
    /// The calls whose results are cleared.
    pub tool_ids: &'a [&'a str],
    /// The attachments that are cleared (U6).
    pub attachments: &'a [&'a str],
    /// All results that requests ask the provider to drop from its cache from now on (U4). In this case nothing is
    /// cleared here, and the rendering goes on. `None` if this is a clearing: then no cache edits are requested any
    /// more.
    pub cache_edits: Option<&'a [&'a str]>,
    /// The loss report (Y3).
    pub report: Option<&'a Value>,
}

impl ClearingRecord<'_> {
    /// Returns the line without its line end.
    ///
    /// # Errors
    /// Fails if a part of the line cannot be written as JSON.
    pub fn line(&self) -> Result<Bytes, LineError> {
        self.line_with(None)
    }

    /// Returns the line of a clearing that was decided by price, with the record of the decision (V6).
    ///
    /// # Errors
    /// As for [`line`](Self::line).
    pub(crate) fn line_with(&self, economy: Option<&Value>) -> Result<Bytes, LineError> {
        let microcompact_metadata = ClearingMetadata {
            trigger: self.trigger,
            pre_tokens: self.pre_tokens,
            tokens_saved: self.tokens_saved,
            compacted_tool_ids: self.tool_ids,
            cleared_attachments: self.attachments,
            cache_edits: self.cache_edits,
            report: self.report,
            economy,
        };
        line(&SystemLine {
            parent_uuid: self.parent,
            ..SystemLine::new(
                self.envelope,
                self.stamp,
                "microcompact_boundary",
                "Context microcompacted",
                ClearingFields {
                    microcompact_metadata,
                },
            )
        })
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ClearingFields<'a> {
    microcompact_metadata: ClearingMetadata<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ClearingMetadata<'a> {
    trigger: CompactionTrigger,
    pre_tokens: u64,
    tokens_saved: u64,
    compacted_tool_ids: &'a [&'a str],
    #[serde(rename = "clearedAttachmentUUIDs")]
    cleared_attachments: &'a [&'a str],
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_edits: Option<&'a [&'a str]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    economy: Option<&'a Value>,
}
