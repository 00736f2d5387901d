//! Entries: one line of a transcript each, kept as the bytes they were read or born with (M1, M2).
//!
//! [`Scanner`] passes over a line once and notes where the parts lie that decisions need: kind, ids,
//! flags, content blocks with their sizes, usage. [`Entry`] is those notes together with the bytes. Nothing here
//! knows of other entries; how entries form a conversation lives in `transcript/`.

mod attachment;
mod block;
mod entry;
mod facets;
mod id;
mod kind;
mod prefix_entry;
pub mod scan;
mod sent;
mod span;
mod usage;

pub use block::{BlockKind, EntryBlock};
pub use entry::Entry;
pub use facets::{EntryFacets, EntryFlags, EntryView};
pub use id::Id;
pub use kind::{EntryKind, Subtype};
pub use prefix_entry::{PrefixEntry, PrefixEntryError};
pub use scan::{LineDamage, LineScanner};
pub use sent::Sent;
pub use span::ByteSpan;
pub use usage::{Iteration, IterationKind, Usage};
