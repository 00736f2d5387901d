//! Collapse mode (O6): old rounds are folded span by span into short summaries that stand in the summary message, oldest
//! first; what was folded once stays word for word.
//!
//! Pure pieces only. [`Limits`] says when, [`choose`] which spans, [`prompt`] what the model is asked, [`read`] whether
//! its answer holds the folds, [`Folds`] what stands in the conversation and on the boundary, [`local`] folds with no
//! model. Asking and writing are done in `engine/`; the cut itself is that of a partial compaction (`summary/`).

mod choose;
mod fold;
mod limits;
mod local;
mod prompt;
mod read;
mod span;

pub use choose::{ChosenSpans, choose};
pub use fold::{Fold, Folds};
pub use limits::FoldLimits;
pub use local::local;
pub use prompt::{EarlierFolds, FoldPrompt, prompt};
pub use read::{FoldReply, RequestedFolds, read};
pub use span::{FoldSpan, first_foldable};
