//! The error of reading a file; errors of other operations live beside them.

use std::io;
use std::path::PathBuf;

/// A file could not be read. What a file that was read holds is never an error: damaged lines are data.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}: {source}", path.display())]
pub struct ReadError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}
