//! One line of a transcript that is kept.

use bytes::Bytes;
use longhaul_core::message::{Damage, Entry, Scanner};

use crate::lines::Ending;

/// A line, where it lies in the file, and what it holds.
#[derive(Debug, Clone)]
pub struct Line {
    /// Its number in the file, from 1.
    pub number: u64,
    /// Where its first byte lies in the file.
    pub offset: u64,
    /// Its end.
    pub ending: Ending,
    /// What it holds.
    pub content: Content,
}

/// What a line holds.
#[derive(Debug, Clone)]
pub enum Content {
    /// An intact entry.
    Entry(Entry),
    /// Nothing, or white space only: not a problem, and kept.
    Blank(Bytes),
    /// Something that is no entry: kept, and reported.
    Damaged {
        /// The line.
        bytes: Bytes,
        /// What is wrong with it.
        damage: Damage,
    },
}

impl Content {
    /// Reads a line, its end excluded.
    pub(super) fn read(scanner: &mut Scanner, bytes: Bytes) -> Self {
        match scanner.scan(&bytes) {
            Ok(facets) => Self::Entry(Entry::noted(bytes, facets)),
            // Only a line that fails can be blank, so intact ones are not looked at for it.
            Err(_) if bytes.trim_ascii().is_empty() => Self::Blank(bytes),
            Err(damage) => Self::Damaged { bytes, damage },
        }
    }
}

impl Line {
    /// The line without its end.
    pub fn bytes(&self) -> &Bytes {
        match &self.content {
            Content::Entry(entry) => entry.bytes(),
            Content::Blank(bytes) | Content::Damaged { bytes, .. } => bytes,
        }
    }

    /// Where the next line begins in the file.
    pub fn end_offset(&self) -> u64 {
        self.offset + self.bytes().len() as u64 + self.ending.bytes().len() as u64
    }

    /// The entry, if the line is intact.
    pub fn entry(&self) -> Option<&Entry> {
        match &self.content {
            Content::Entry(entry) => Some(entry),
            Content::Blank(_) | Content::Damaged { .. } => None,
        }
    }

    /// What is wrong with the line, if anything.
    pub fn damage(&self) -> Option<Damage> {
        match &self.content {
            Content::Damaged { damage, .. } => Some(*damage),
            Content::Entry(_) | Content::Blank(_) => None,
        }
    }
}
