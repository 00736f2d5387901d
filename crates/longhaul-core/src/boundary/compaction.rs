//! A compaction: its boundary, its summary, and the attachments that follow.

use bytes::Bytes;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::line::{
    EnvelopeFields, LineEnvelope, LineError, LineStamp, SystemLine, line, milliseconds,
};
use super::preserved::{PreservedMessagesFields, PreservedPart, PreservedSegmentFields};

/// Who triggered a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CompactionTrigger {
    /// The user.
    #[default]
    Manual,
    /// A threshold, or a request that was too long.
    Auto,
}

impl CompactionTrigger {
    /// The trigger's name in transcripts, hooks and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Auto => "auto",
        }
    }
}

/// An attachment that follows the summary: something restored, or a hook's output.
#[derive(Debug, Clone, Copy)]
pub struct SummaryAttachment<'a> {
    /// The attachment's id and time.
    pub stamp: LineStamp<'a>,
    /// The `attachment` value: an object with a `type`.
    pub value: &'a Value,
}

/// A summary that the provider made and signed (N3), kept as the reply it came in, byte for byte.
#[derive(Debug, Clone, Copy)]
pub struct SignedReply<'a> {
    /// The id and time of the reply's entry.
    pub stamp: LineStamp<'a>,
    /// The message, whose content is the signed block.
    pub message: &'a RawValue,
}

/// Everything that a compaction writes.
#[derive(Debug, Clone, Copy)]
pub struct CompactionRecord<'a> {
    /// The fields that all lines carry.
    pub envelope: LineEnvelope<'a>,
    /// The boundary's id and time.
    pub boundary: LineStamp<'a>,
    /// The summary's id and time.
    pub summary: LineStamp<'a>,
    /// The last entry of the conversation that is replaced.
    pub logical_parent: Option<&'a str>,
    /// Who triggered the compaction.
    pub trigger: CompactionTrigger,
    /// Tokens in the window before the compaction.
    pub pre_tokens: u64,
    /// Entries that the summary replaces.
    pub messages_summarized: u64,
    /// The user's own instructions for the summary.
    pub user_context: Option<&'a str>,
    /// Names of the tools that the model had discovered before the compaction (R5).
    pub discovered_tools: &'a [&'a str],
    /// The part of the conversation that is kept word for word.
    pub kept: Option<&'a PreservedPart>,
    /// Reasoning up to and including this entry is not sent again (N2). If the view had such an entry before and the
    /// kept part still holds it, it must be named again.
    pub thinking_stripped_through: Option<&'a str>,
    /// The facts of the session (ruling 14), stored for the next compaction.
    pub ledger: Option<&'a Value>,
    /// The loss report (ruling 15).
    pub report: Option<&'a Value>,
    /// The folds that the summary consists of (O6), stored for the next compactions.
    pub folds: Option<&'a Value>,
    /// Who wrote the summary, what that cost and how long it took.
    pub made: Option<&'a Value>,
    /// How this compaction relates to the one before it, and where the threshold was (O4).
    pub recompaction: Option<&'a Value>,
    /// How the provider counted the request prefix, where its replies report that.
    pub head_tokens: Option<&'a Value>,
    /// The provider's own summary, which comes before the summary message.
    pub signed: Option<SignedReply<'a>>,
    /// The text of the summary message.
    pub text: &'a str,
    /// The attachments that follow it, in order: restored ones, then the output of hooks (F10).
    pub attached: &'a [SummaryAttachment<'a>],
}

impl CompactionRecord<'_> {
    /// Returns the lines in the order in which they are appended, without line ends. The kept part is not written
    /// again: a reader places it after the anchor, and moves the anchor's former children after it.
    ///
    /// # Errors
    /// Fails if a part cannot be written as JSON, or if an entry that has to be written again lacks a field.
    pub fn lines(&self) -> Result<Vec<Bytes>, LineError> {
        self.lines_with(None)
    }

    /// Returns the lines of a compaction that was decided by price, with the record of the decision (V6).
    ///
    /// # Errors
    /// As for [`lines`](Self::lines).
    pub fn lines_with(&self, economy: Option<&Value>) -> Result<Vec<Bytes>, LineError> {
        let mut lines = vec![self.boundary_line(economy)?];
        if let Some(signed) = self.signed {
            lines.push(line(&SignedLine {
                parent_uuid: self.boundary.uuid,
                opening: self.envelope.into(),
                kind: "assistant",
                message: signed.message,
                uuid: signed.stamp.uuid,
                timestamp: signed.stamp.timestamp,
            })?);
        }
        lines.push(self.summary_line()?);
        let mut parent = self.summary.uuid;
        for attached in self.attached {
            lines.push(line(&AttachmentLine {
                parent_uuid: parent,
                attachment: attached.value,
                kind: "attachment",
                uuid: attached.stamp.uuid,
                timestamp: attached.stamp.timestamp,
                opening: self.envelope.into(),
            })?);
            parent = attached.stamp.uuid;
        }
        Ok(lines)
    }

    fn boundary_line(&self, economy: Option<&Value>) -> Result<Bytes, LineError> {
        let (boundary, summary) = (self.boundary.uuid, self.summary.uuid);
        let compact_metadata = CompactionMetadata {
            trigger: self.trigger,
            pre_tokens: self.pre_tokens,
            messages_summarized: self.messages_summarized,
            user_context: self.user_context,
            pre_compact_discovered_tools: self.discovered_tools,
            preserved_segment: self.kept.map(|kept| kept.segment(boundary, summary)),
            preserved_messages: self.kept.map(|kept| kept.messages(boundary, summary)),
            view_offset: self.kept.map(PreservedPart::view_offset),
            thinking_stripped_through: self.thinking_stripped_through,
            ledger: self.ledger,
            report: self.report,
            folds: self.folds,
            made: self.made,
            recompaction: self.recompaction,
            head_tokens: self.head_tokens,
            economy,
        };
        line(&SystemLine {
            logical_parent_uuid: self.logical_parent,
            ..SystemLine::new(
                self.envelope,
                self.boundary,
                "compact_boundary",
                "Conversation compacted",
                CompactionFields { compact_metadata },
            )
        })
    }

    fn summary_line(&self) -> Result<Bytes, LineError> {
        line(&SummaryLine {
            parent_uuid: self
                .signed
                .map_or(self.boundary.uuid, |signed| signed.stamp.uuid),
            opening: self.envelope.into(),
            kind: "user",
            message: SummaryLineMessage {
                role: "user",
                content: self.text,
            },
            is_visible_in_transcript_only: true,
            is_compact_summary: true,
            uuid: self.summary.uuid,
            timestamp: self.summary.timestamp,
        })
    }
}

/// The attachment that carries the output of an event's hook (K1).
pub fn hook_context(event: &str, hook: &str, said: &[&str]) -> Value {
    json!({
        "type": "hook_additional_context",
        "content": said,
        "hookName": hook,
        "hookEvent": event,
    })
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CompactionFields<'a> {
    compact_metadata: CompactionMetadata<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CompactionMetadata<'a> {
    trigger: CompactionTrigger,
    pre_tokens: u64,
    messages_summarized: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_context: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pre_compact_discovered_tools: &'a [&'a str],
    #[serde(skip_serializing_if = "Option::is_none")]
    preserved_segment: Option<PreservedSegmentFields<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preserved_messages: Option<PreservedMessagesFields<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    view_offset: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_stripped_through: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ledger: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    folds: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    made: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recompaction: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    head_tokens: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    economy: Option<&'a Value>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SignedLine<'a> {
    parent_uuid: &'a str,
    #[serde(flatten)]
    opening: EnvelopeFields<'a>,
    #[serde(rename = "type")]
    kind: &'static str,
    message: &'a RawValue,
    uuid: &'a str,
    #[serde(serialize_with = "milliseconds")]
    timestamp: Timestamp,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SummaryLine<'a> {
    parent_uuid: &'a str,
    #[serde(flatten)]
    opening: EnvelopeFields<'a>,
    #[serde(rename = "type")]
    kind: &'static str,
    message: SummaryLineMessage<'a>,
    is_visible_in_transcript_only: bool,
    is_compact_summary: bool,
    uuid: &'a str,
    #[serde(serialize_with = "milliseconds")]
    timestamp: Timestamp,
}

#[derive(Debug, Serialize)]
struct SummaryLineMessage<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct AttachmentLine<'a> {
    parent_uuid: &'a str,
    attachment: &'a Value,
    #[serde(rename = "type")]
    kind: &'static str,
    uuid: &'a str,
    #[serde(serialize_with = "milliseconds")]
    timestamp: Timestamp,
    #[serde(flatten)]
    opening: EnvelopeFields<'a>,
}
