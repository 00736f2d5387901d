//! How a file is recognized: by its content's hash, its time and its size (W1).

use std::fs::Metadata;
use std::time::SystemTime;

use longhaul_core::xxh3::xxh3_128;

/// How a file is recognized. The hash decides where there is one; files that are too long to be read completely have
/// none.
#[derive(Debug, Clone, Copy)]
pub struct FileFingerprint {
    hash: Option<u128>,
    changed: Option<SystemTime>,
    size: u64,
}

impl FileFingerprint {
    /// The fingerprint of a file that was read completely.
    pub fn of(content: &[u8], metadata: &Metadata) -> Self {
        Self {
            hash: Some(xxh3_128(content)),
            size: content.len() as u64,
            ..Self::at_a_glance(metadata)
        }
    }

    /// The fingerprint of a file that was not read completely.
    pub(crate) fn at_a_glance(metadata: &Metadata) -> Self {
        Self {
            hash: None,
            changed: metadata.modified().ok(),
            size: metadata.len(),
        }
    }

    /// Whether both fingerprints stand for the same content.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self.hash, other.hash) {
            (Some(mine), Some(theirs)) => mine == theirs,
            _ => self.is_same_at_a_glance(other),
        }
    }

    /// Whether time and size are the same.
    pub(crate) fn is_same_at_a_glance(&self, other: &Self) -> bool {
        self.changed == other.changed && self.size == other.size
    }
}
