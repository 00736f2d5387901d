//! Keeps conversations within the window: the client sends its whole history each time, and the gateway passes it on
//! with the beginning replaced.
//!
//! A client's history is never changed, only what is sent instead of its beginning. A [`CompactedPrefix`] says: *up to
//! the message where the rolling hash has this value, these bytes replace all messages*. It is found by the hash of a
//! request's own messages, so branches that share the beginning share it, and a client that edits its history loses it.
//! Compacted prefixes are made in the background, before the threshold is reached, and are durable before they are
//! used.
//!
//! `compactor` is the interface for `front/`: what is sent for a request (`prepare`), how a request is handled that was
//! rejected for its length (`recover`), and what follows a response (`after`). A `request_context` is the request with
//! all that is known of it: its `client_messages` and the `outgoing_body` (`breakpoint_owner`: whose cache breakpoints that
//! has). Compacted prefixes are looked up and stored in
//! `compacted_prefixes` (a `loaded_prefix` is one in memory, `loaded_prefixes` are all of these; `writability`: whether
//! they can be stored), and put in place (`settle`; `derived_prefix`: one that is made from the client's messages).
//! The `branch_state` says when work is due. `work` has one worker at a time do it and chooses the part of the
//! conversation to compact (`conversation_cut`; `occasion`: why, and until when a request waits); `make` performs what the
//! core plans, and `keep` stores the result, with an `upstream_caller` where a model is needed (`own_call`: what that costs; `appended_request`: questions that are appended
//! to the client's own bytes). `weight` counts the tokens of all that.
//!
//! `conversation` is a conversation that is being compacted, `draft` the result. `entries` turns a client's messages
//! into transcript entries, `summarize` has the engine summarize them, `history_files` finds the files to restore;
//! `clear` clears old results (`cleared_results`: what is sent for them), `economy` does so by price, for which
//! `sized_history` and `message_sizes` measure the history; `reduce` makes new results smaller (`message_results` finds
//! them, `shorten` is for results without room, `reduction_records` keeps what was decided, `reduced_request` sends it);
//! `take_notes` takes a session's notes (`notes_tracker`: when they are due; `notes_mode`: whether they are wanted), and
//! `notes_summary` turns them into its summary.
//! `went` lists the results that a compaction took out of view, and `title` finds the user's first words, both for people.
//! `splice` edits JSON without touching other bytes; `element` reads a message; `thinking` removes what may not be sent
//! again. `tools` is the table of known agents' tools.
//!
//! [`CompactedPrefix`]: crate::store::CompactedPrefix

mod after;
mod appended_request;
mod branch_state;
mod breakpoint_owner;
mod clear;
mod cleared_results;
mod client_messages;
mod compacted_prefixes;
mod compactor;
mod conversation;
mod conversation_cut;
mod derived_prefix;
mod draft;
mod economy;
mod element;
pub mod entries;
pub mod history_files;
mod keep;
mod loaded_prefix;
mod loaded_prefixes;
mod make;
mod message_results;
mod message_sizes;
mod notes_mode;
mod notes_summary;
mod notes_tracker;
mod occasion;
mod outgoing_body;
mod own_call;
mod prepare;
mod recover;
mod reduce;
mod reduced_request;
mod reduction_records;
mod request_context;
mod settings;
mod settle;
mod shorten;
mod sized_history;
pub(crate) mod splice;
mod summarize;
mod take_notes;
mod thinking;
mod title;
pub mod tools;
mod upstream_caller;
mod weight;
mod went;
mod windows;
mod work;
mod writability;

use bytes::Bytes;

pub(crate) use breakpoint_owner::BreakpointOwner;
pub use clear::clear;
pub(crate) use compactor::{Compactor, CompactorStores};
pub use conversation::CompactableConversation;
pub use draft::CompactedDraft;
pub(crate) use element::{ElementParts, texts as element_texts};
pub use notes_mode::NotesMode;
pub use notes_summary::{NotesUnusable, draft_from_notes};
pub(crate) use own_call::OwnRequestBooks;
pub(crate) use recover::Told;
pub(crate) use request_context::RequestContext;
pub use settings::CompactorSettings;
pub use summarize::{DraftError, SummaryText, draft_summary, fork_message, written_summary};
pub use thinking::{has_thinking, without_breakpoints, without_thinking};
pub(crate) use upstream_caller::UpstreamCaller;
pub(crate) use went::Recallability;

/// Joins the elements of a list with commas.
fn join(elements: &[Bytes]) -> Bytes {
    elements.join(&b","[..]).into()
}
