//! Keeps conversations within the window: what the client sends whole each time is sent on with its beginning replaced.
//!
//! A client's history is never changed; what is changed is what stands for its beginning. A [`Rewrite`] says so: *behind
//! the message where the rolling hash has this value, these bytes stand for all messages up to it*. It is found by the hash
//! of a request's own messages, so branches that share the beginning share it, and a client that edits its history loses it.
//! Rewrites are made in the background, ahead of the threshold, and are durable before they are used.
//!
//! `care` is what the front asks: what is sent for a request (`prepare`), what becomes of one that was refused for its length
//! (`recover`), and what follows from an answer (`after`). `rewrites` (`at_hand` in memory; `keeping`: whether they can be kept)
//! are looked up and put in place (`sending`, `settle`). Each line's `standing` says when work is due, `work` takes turns at it
//! and says on which part of the `material` of a request, and `make` performs what the core plans for it and keeps what came of
//! it, `asking` the upstream where needed. `weight` says how many tokens all of that is.
//!
//! `talk` is a conversation as it is worked on, `draft` what comes of it. `entries` turns a client's messages into entries as a
//! transcript of ours has them, `summarise` has the engine summarize them, `history_files` finds the files to put back; `clear`
//! clears old results; `notes` takes a session's notes, and `noted` makes them its summary. Work on
//! bytes that leaves all others as they are is in `splice`; `thinking` takes out what may not be sent again. `tools` is
//! what is known of agents' tools.
//!
//! [`Rewrite`]: crate::store::Rewrite

mod after;
mod branch_state;
mod clear;
mod compacted_prefixes;
mod compactor;
mod conversation;
mod draft;
mod element;
pub mod entries;
pub mod history_files;
mod loaded_prefixes;
mod make;
mod notes;
mod notes_summary;
mod outgoing_body;
mod prepare;
mod recover;
mod request_context;
mod settings;
mod settle;
mod splice;
mod summarize;
mod thinking;
pub mod tools;
mod upstream_caller;
mod weight;
mod windows;
mod work;
mod writability;

use bytes::Bytes;

pub use clear::clear;
pub(crate) use compactor::{Compactor, CompactorStores};
pub use conversation::CompactableConversation;
pub use draft::CompactedDraft;
pub use notes::NotesMode;
pub use notes_summary::{NotesUnusable, draft_from_notes};
pub(crate) use outgoing_body::OutgoingRequestBody;
pub(crate) use recover::Told;
pub(crate) use request_context::{BreakpointOwner, RequestContext};
pub use settings::CompactorSettings;
pub use summarize::{DraftError, fork_message, summarize};
pub use thinking::{has_thinking, without_breakpoints, without_thinking};
pub(crate) use upstream_caller::UpstreamCaller;

/// Elements of a list, with commas between them.
fn join(elements: &[Bytes]) -> Bytes {
    elements.join(&b","[..]).into()
}
