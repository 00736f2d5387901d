//! Collapse mode (O6): old rounds are folded span by span into short summaries in the summary message, oldest first; an
//! existing fold stays word for word.
//!
//! These modules are pure. [`FoldLimits`] says when to fold, [`choose`] which spans, [`prompt`] asks the model,
//! [`read`] checks whether its answer holds the folds, [`Folds`] holds them for the conversation and the boundary, and
//! [`local`] folds without a model. `engine/` sends the requests and writes the result; the cut itself is that of a
//! partial compaction (`summary/`).

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
