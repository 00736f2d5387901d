//! One line of a loaded transcript.

use bytes::Bytes;
use longhaul_core::message::{Entry, LineDamage, LineScanner};

use crate::lines::LineEnding;

/// A line, its position in the file, and its content.
#[derive(Debug, Clone)]
pub struct LoadedLine {
    /// The number of the line in the file, from 1.
    pub number: u64,
    /// The offset of its first byte in the file.
    pub offset: u64,
    /// How the line ends.
    pub ending: LineEnding,
    /// The content of the line.
    pub content: LoadedContent,
}

/// The content of a line.
#[derive(Debug, Clone)]
pub enum LoadedContent {
    /// An intact entry.
    Entry(Entry),
    /// The line is empty or white space only, which is not a problem; it is kept.
    Blank(Bytes),
    /// The line is not an entry; it is kept and reported.
    Damaged {
        /// The bytes of the line.
        bytes: Bytes,
        /// The problem with it.
        damage: LineDamage,
    },
}

impl LoadedContent {
    /// Reads a line, without its line end.
    pub(super) fn read(scanner: &mut LineScanner, bytes: Bytes) -> Self {
        match scanner.scan(&bytes) {
            Ok(facets) => Self::Entry(Entry::noted(bytes, facets)),
            // Only a line that fails can be blank, so intact lines are not checked for it.
            Err(_) if bytes.trim_ascii().is_empty() => Self::Blank(bytes),
            Err(damage) => Self::Damaged { bytes, damage },
        }
    }
}

impl LoadedLine {
    /// The line without its end.
    pub fn bytes(&self) -> &Bytes {
        match &self.content {
            LoadedContent::Entry(entry) => entry.bytes(),
            LoadedContent::Blank(bytes) | LoadedContent::Damaged { bytes, .. } => bytes,
        }
    }

    /// The offset of the next line in the file.
    pub fn end_offset(&self) -> u64 {
        self.offset + self.bytes().len() as u64 + self.ending.bytes().len() as u64
    }

    /// The entry, if the line is intact.
    pub fn entry(&self) -> Option<&Entry> {
        match &self.content {
            LoadedContent::Entry(entry) => Some(entry),
            LoadedContent::Blank(_) | LoadedContent::Damaged { .. } => None,
        }
    }

    /// The problem with the line, if there is one.
    pub fn damage(&self) -> Option<LineDamage> {
        match &self.content {
            LoadedContent::Damaged { damage, .. } => Some(*damage),
            LoadedContent::Entry(_) | LoadedContent::Blank(_) => None,
        }
    }
}
