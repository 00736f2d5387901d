//! Entries: each is one line of a transcript, kept as the bytes it was read or created with (M1, M2).
//!
//! [`LineScanner`] passes over a line once and records where the parts are that decisions need: kind, ids, flags,
//! content blocks with their sizes, usage. [`Entry`] holds these facets together with the bytes. Nothing here knows
//! about other entries; `transcript/` forms a conversation from them.

mod attachment;
mod block;
mod entry;
mod facets;
mod flags;
mod id;
mod kind;
mod prefix_entry;
mod reduction;
pub mod scan;
mod sent;
mod span;
mod usage;

pub use block::{BlockKind, EntryBlock};
pub use entry::Entry;
pub use facets::{EntryFacets, EntryView};
pub use flags::EntryFlags;
pub use id::Id;
pub use kind::{EntryKind, Subtype};
pub use prefix_entry::{PrefixEntry, PrefixEntryError};
pub use reduction::{
    RecordedReduction, ReductionChange, ReductionRecord, ReductionStanding, SentForm,
};
pub use scan::{LineDamage, LineScanner};
pub use sent::Sent;
pub use span::ByteSpan;
pub use usage::{Iteration, IterationKind, Usage};
