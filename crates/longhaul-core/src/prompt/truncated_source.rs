//! What a source of the user context lost because it did not fit.

use std::path::PathBuf;

use crate::tokens::Estimate;

/// A source that did not fit whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TruncatedSource {
    /// The path of the file.
    pub path: PathBuf,
    /// The part that is shown.
    pub kept: Estimate,
    /// The part that is missing.
    pub missing: Estimate,
}
