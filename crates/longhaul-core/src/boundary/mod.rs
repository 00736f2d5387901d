//! The lines that a compaction, a clearing or an undo appends to a transcript, in the shape in which Claude Code writes
//! them (P5, M3, rulings 11, 13 and 15).
//!
//! Lines are created here and never change afterwards. `transcript/` reads them back; other modules decide when they
//! are written. Ids and times come in as arguments.

mod clearing;
mod compaction;
mod copy;
mod line;
mod preserved;
mod rewind;
mod undo;

pub use clearing::ClearingRecord;
pub use compaction::{
    CompactionRecord, CompactionTrigger, SignedReply, SummaryAttachment, hook_context,
};
pub(crate) use copy::is_copy;
pub(crate) use line::{EnvelopeFields, line, milliseconds, usage_value};
pub use line::{LineEnvelope, LineError, LineStamp, LineThread};
pub use preserved::{KeptEntry, PreservedAnchor, PreservedPart};
pub use rewind::RewindRecord;
pub use undo::{CopiedEntry, UndoPlan, UndoRecord};
