//! Resolves how the lines of a file form a conversation (M, rulings 6 and 8–10).
//!
//! A [`TranscriptTable`] reduces the entries of a file, or of its tail, to the facts that decide this.
//! [`ResolvedConversation`] resolves it: parents, boundaries with what they preserved, and the live view, which is what
//! the model still sees. Damage is treated as data: it becomes [`TranscriptProblem`]s with line numbers, and every
//! intact entry takes part.

mod chain;
mod conversation;
pub mod format;
mod live_view;
mod orphans;
mod problem;
mod resume;
mod segment;
mod table;

pub use conversation::ResolvedConversation;
pub use live_view::LiveView;
pub use problem::{EndsTheFile, TranscriptProblem, TranscriptProblemKind};
pub use resume::{ResumeNeed, ResumeProbe};
pub use table::{BlockRow, BoundaryNote, TranscriptRow, TranscriptTable};
