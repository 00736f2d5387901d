//! Reads a transcript line by line for a replay. Only sizes are kept, so a file of any length takes little memory.

use super::sizes::estimate;
use crate::economy::{ResultSubject, subject};
use crate::hash::Map;
use crate::message::{BlockKind, EntryKind, Id, LineScanner};
use crate::transcript::TranscriptTable;

/// A transcript that is being read.
#[derive(Debug, Default)]
pub struct SessionRecordingReader {
    scanner: LineScanner,
    pub(super) table: TranscriptTable,
    /// The size of each block, in the order of the table's rows and their blocks.
    pub(super) sizes: Vec<u64>,
    /// What each call is about.
    pub(super) subjects: Map<Id, ResultSubject>,
    pub(super) damaged: u64,
}

impl SessionRecordingReader {
    /// Creates a reader that has read nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes one line, without its line end.
    pub fn line(&mut self, number: u64, offset: u64, bytes: &[u8]) {
        if bytes.trim_ascii().is_empty() {
            return;
        }
        let Ok(facets) = self.scanner.scan(bytes) else {
            self.damaged += 1;
            return;
        };
        let entry = facets.view(bytes);
        self.table.push(number, offset, entry);
        for (index, block) in facets.blocks.iter().enumerate() {
            if block.inner {
                continue;
            }
            self.sizes
                .push(estimate(entry, block, &facets.blocks[index + 1..]));
            if block.kind == BlockKind::ToolUse
                && let Some(call) = entry.block_id(block)
                && let Some(subject) = subject(entry, block)
            {
                self.subjects.insert(call, subject);
            }
        }
    }

    /// Whether this cannot be a transcript: there are lines, but none is an entry.
    pub fn is_no_transcript(&self) -> bool {
        let mut rows = self.table.rows().iter();
        let any_entry = rows.any(|row| row.kind != EntryKind::Other || row.uuid.is_some());
        (self.damaged > 0 || !self.table.rows().is_empty()) && !any_entry
    }

    /// Whether there is no line at all.
    pub fn is_empty(&self) -> bool {
        self.damaged == 0 && self.table.rows().is_empty()
    }
}
