//! The error of reading a file; errors of other operations are defined next to those operations.

use std::io;
use std::path::PathBuf;

/// A file could not be read. The content of a readable file is never an error: damaged lines are data.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}: {source}", path.display())]
pub struct ReadError {
    /// The path of the file.
    pub path: PathBuf,
    /// The underlying error.
    pub source: io::Error,
}
