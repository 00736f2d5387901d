//! Quotes foreign text inside a text that the engine writes.
//!
//! The engine's texts for a model have headings, tags and notices that the model trusts because the engine wrote them.
//! Everything else in such a text is quoted, so that it cannot pass for one of them:
//!
//! - text of tools, files, hooks and models: each line begins with a quote sign (`lines.rs`);
//! - a path, a title, an item of a list: one line, as a JSON string if it has several (`inline.rs`);
//! - the user's own words: unchanged between two delimiters that do not occur in them (`fence.rs`), because they must
//!   be found word for word;
//! - a host's own words: unchanged, except that they cannot end the element they are in;
//! - a summary that a model wrote: unchanged, except for lines that look like the engine's (`claims.rs`).
//!
//! The table of headings, tags and notices is made from the fragments themselves ([`markers`]).

mod claims;
mod fence;
mod inline;
mod lines;
pub mod markers;
mod tags;

pub use claims::without_claims;
pub(crate) use fence::{QuoteFence, fenced};
pub use inline::inline;
pub(crate) use lines::is_break;
pub use lines::{quoted, unquoted};
pub(crate) use tags::hosts_words;
