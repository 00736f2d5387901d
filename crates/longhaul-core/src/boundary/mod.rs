//! The lines that a compaction, a clearing or an undo appends to a transcript, in the shape in which Claude Code writes
//! them (P5, M3, rulings 11, 13 and 15).
//!
//! Lines are born here and never changed again. How they are read back lives in `transcript/`; when they are written is
//! decided elsewhere. Ids and times come in as arguments.

mod clearing;
mod compaction;
mod copy;
mod kept;
mod line;
mod rewind;
mod undo;

pub use clearing::Clearing;
pub use compaction::{Attached, Compaction, Signed, Trigger, hook_context};
pub use kept::{Anchor, Kept, KeptEntry};
pub use line::{Envelope, LineError, Stamp, Thread};
pub(crate) use line::{Opening, line, milliseconds, usage_value};
pub use rewind::Rewind;
pub use undo::{Later, Undo, UndoPlan};
