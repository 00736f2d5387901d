//! Entries: one line of a transcript each, kept as the bytes they were read or born with (M1, M2).
//!
//! [`Scanner`] passes over a line once and notes where the parts lie that decisions need: kind, ids,
//! flags, content blocks with their sizes, usage. [`Entry`] is those notes together with the bytes. Nothing here
//! knows of other entries; how entries form a conversation lives in `transcript/`.

mod attachment;
mod block;
mod entry;
mod facets;
mod head;
mod id;
mod kind;
pub mod scan;
mod sent;
mod span;
mod usage;

pub use block::{Block, BlockKind};
pub use entry::Entry;
pub use facets::{Facets, Flags, View};
pub use head::{Head, HeadError};
pub use id::Id;
pub use kind::{EntryKind, Subtype};
pub use scan::{Damage, Scanner};
pub use sent::Sent;
pub use span::Span;
pub use usage::{Iteration, IterationKind, Usage};
