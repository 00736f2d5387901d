//! Words of others inside a text that the engine writes.
//!
//! What the engine writes for a model has headings, tags and notices that the model trusts because the engine wrote them.
//! Everything else that stands in such a text is quoted, so that it cannot pass for one of them:
//!
//! - text of tools, files, hooks and models: each of its lines begins with a mark (`lines.rs`);
//! - a path, a title, an item of a list: one line, as a JSON string if it has several (`inline.rs`);
//! - the user's own words: as they are, between two marks that do not occur in them (`fence.rs`), because they are to be
//!   found word for word;
//! - what a host says in words of its own: as it is, but unable to end the element it stands in;
//! - a summary that a model wrote: as it is, but for lines that look like the engine's (`claims.rs`).
//!
//! Which headings, tags and notices there are is a table made from the fragments themselves ([`markers`]).

mod claims;
mod fence;
mod inline;
mod lines;
pub mod markers;
mod tags;

pub use claims::without_claims;
pub use fence::{QuoteFence, fenced};
pub use inline::inline;
pub(crate) use lines::is_break;
pub use lines::{quoted, unquoted};
pub(crate) use tags::hosts_words;
