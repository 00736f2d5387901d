//! One line of a transcript that is kept.

use bytes::Bytes;
use longhaul_core::message::{Entry, LineDamage, LineScanner};

use crate::lines::LineEnding;

/// A line, where it lies in the file, and what it holds.
#[derive(Debug, Clone)]
pub struct LoadedLine {
    /// Its number in the file, from 1.
    pub number: u64,
    /// Where its first byte lies in the file.
    pub offset: u64,
    /// Its end.
    pub ending: LineEnding,
    /// What it holds.
    pub content: LoadedContent,
}

/// What a line holds.
#[derive(Debug, Clone)]
pub enum LoadedContent {
    /// An intact entry.
    Entry(Entry),
    /// Nothing, or white space only: not a problem, and kept.
    Blank(Bytes),
    /// Something that is no entry: kept, and reported.
    Damaged {
        /// The line.
        bytes: Bytes,
        /// What is wrong with it.
        damage: LineDamage,
    },
}

impl LoadedContent {
    /// Reads a line, its end excluded.
    pub(super) fn read(scanner: &mut LineScanner, bytes: Bytes) -> Self {
        match scanner.scan(&bytes) {
            Ok(facets) => Self::Entry(Entry::noted(bytes, facets)),
            // Only a line that fails can be blank, so intact ones are not looked at for it.
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

    /// Where the next line begins in the file.
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

    /// What is wrong with the line, if anything.
    pub fn damage(&self) -> Option<LineDamage> {
        match &self.content {
            LoadedContent::Damaged { damage, .. } => Some(*damage),
            LoadedContent::Entry(_) | LoadedContent::Blank(_) => None,
        }
    }
}
