//! Taking a compaction back (ruling 13, X6).
//!
//! Nothing is deleted. The appended line's parent is the last entry of the conversation that the compaction had
//! replaced, so a reader that follows the chain sees the old conversation. Turns that came after the compaction are
//! children of its summary and cannot be linked again for other readers, so they are written again after that line. The
//! line names the boundary it takes back, whose preserved segment then no longer counts. An undo always takes back the
//! compaction that the live view begins with: a second undo takes back the one before.

use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;

use super::copy::{CopyIds, copied};
use super::line::{LineEnvelope, LineError, LineStamp, SystemLine, line};
use super::preserved::shapes_the_view;
use crate::hash::Set;
use crate::message::{EntryKind, EntryView};
use crate::tokens::Estimate;
use crate::transcript::{LiveView, ResolvedConversation, TranscriptTable};

/// The plan of an undo.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct UndoPlan {
    /// The row of the boundary that is taken back.
    pub boundary: u32,
    /// The row that the conversation goes on from.
    pub parent: u32,
    /// The view that the compaction had replaced.
    pub old: LiveView,
    /// The rows of the turns since the compaction, in order.
    pub later: Vec<u32>,
}

impl UndoPlan {
    /// Plans to take back the newest compaction in the live view. Returns none if there is no compaction, or nothing
    /// lies before it.
    pub fn of(table: &TranscriptTable, conversation: &ResolvedConversation) -> Option<Self> {
        let rows = table.rows();
        let view = conversation.view();
        let boundary = view.boundary?;
        let note = table.boundary(boundary)?;
        let old = conversation.view_before(table, note);
        let named = old.rows.iter().copied().find(|row| {
            note.logical_parent.is_some() && rows[*row as usize].uuid == note.logical_parent
        });
        let parent = named.or(old.rows.last().copied())?;
        let before: Set<u32> = old.rows.iter().copied().collect();
        let mut later: Vec<u32> = view
            .rows
            .iter()
            .copied()
            .filter(|row| *row != boundary && !before.contains(row))
            .collect();
        // The summary and its attachments belong to the compaction.
        let summary = later
            .iter()
            .position(|row| rows[*row as usize].flags.compact_summary);
        if let Some(summary) = summary {
            let end = later[summary + 1..]
                .iter()
                .position(|row| rows[*row as usize].kind != EntryKind::Attachment)
                .map_or(later.len(), |behind| summary + 1 + behind);
            later.drain(summary..end);
            // Some programs write attachments before the summary; a summary that the provider signed is there, too.
            let of_compaction = |row: &u32| {
                let row_of = &rows[*row as usize];
                let on_boundary = row_of.parent == rows[boundary as usize].uuid;
                row_of.kind == EntryKind::Attachment
                    || row_of.kind == EntryKind::Assistant && on_boundary
            };
            if later[..summary].iter().all(of_compaction) {
                later.drain(..summary);
            }
        }
        Some(Self {
            boundary,
            parent,
            old,
            later,
        })
    }

    /// The weight of the conversation after the undo, to compare with the threshold before anything is written.
    pub fn weight(&self, table: &TranscriptTable) -> Estimate {
        let rows = self.old.rows.iter().chain(&self.later);
        rows.map(|row| &table.rows()[*row as usize])
            .filter(|row| row.is_sent())
            .map(|row| table.weight(row))
            .sum()
    }
}

/// A turn that is written again.
#[derive(Debug, Clone, Copy)]
pub struct CopiedEntry<'a> {
    /// The entry.
    pub entry: EntryView<'a>,
    /// The uuid of its copy.
    pub uuid: &'a str,
}

/// Everything that an undo writes.
#[derive(Debug, Clone, Copy)]
pub struct UndoRecord<'a> {
    /// The fields that all lines carry.
    pub envelope: LineEnvelope<'a>,
    /// The line's id and time.
    pub stamp: LineStamp<'a>,
    /// The boundary that is taken back.
    pub boundary: &'a str,
    /// The last entry of the old conversation.
    pub parent: &'a str,
    /// The turns since the compaction, in order.
    pub later: &'a [CopiedEntry<'a>],
    /// Reasoning up to and including this entry is not sent again (N2): the last copy, for a model that binds reasoning
    /// to what came before it.
    pub thinking_stripped_through: Option<&'a str>,
    /// The loss report (Y3).
    pub report: Option<&'a Value>,
}

impl UndoRecord<'_> {
    /// Returns the lines in the order in which they are appended, without line ends. Entries that the model does not
    /// see and that do not change what it sees are not written again.
    ///
    /// # Errors
    /// Fails if a part cannot be written as JSON, or if an entry that has to be written again lacks a field.
    pub fn lines(&self) -> Result<Vec<Bytes>, LineError> {
        let copies: Vec<&CopiedEntry<'_>> = self
            .later
            .iter()
            .filter(|later| shapes_the_view(later.entry))
            .collect();
        let undo_metadata = UndoMetadata {
            boundary_uuid: self.boundary,
            copied: copies.len(),
            thinking_stripped_through: self.thinking_stripped_through,
            report: self.report,
        };
        let mut lines = vec![line(&SystemLine {
            parent_uuid: Some(self.parent),
            ..SystemLine::new(
                self.envelope,
                self.stamp,
                "compact_undo",
                "Compaction undone",
                UndoFields { undo_metadata },
            )
        })?];
        let message_suffix = format!("~{}", self.stamp.uuid);
        let mut parent = self.stamp.uuid;
        for later in copies {
            let ids = CopyIds {
                uuid: later.uuid,
                parent,
                message_suffix: &message_suffix,
            };
            lines.push(copied(later.entry.line, &ids)?);
            parent = later.uuid;
        }
        Ok(lines)
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct UndoFields<'a> {
    undo_metadata: UndoMetadata<'a>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct UndoMetadata<'a> {
    boundary_uuid: &'a str,
    copied: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_stripped_through: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<&'a Value>,
}
