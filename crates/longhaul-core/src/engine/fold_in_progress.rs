//! What a compaction that folds keeps until the new folds exist. `fold.rs` makes them.

use crate::collapse::{ChosenSpans, EarlierFolds, FoldSpan, Folds};

/// The spans that are being folded.
#[derive(Debug)]
pub(super) struct FoldInProgress {
    pub(super) chosen: ChosenSpans,
    pub(super) spans: Vec<FoldSpan>,
    /// The earlier folds.
    pub(super) folds: Folds,
    pub(super) earlier: EarlierFolds,
    /// All folds, once the new ones exist.
    pub(super) made: Option<Folds>,
}
