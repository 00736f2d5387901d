//! Keeps conversations on disk: JSONL transcripts in the shape and places Claude Code uses (M3).
//!
//! - [`lines`] reads forward, [`tail`] backwards, [`load`](mod@load) a whole file to keep it byte for byte;
//! - [`append`] adds entries so that an acknowledged one is never lost;
//! - [`layout`] knows where sessions are, [`ownership`] which program may change them, [`fork`](mod@fork) copies
//!   another program's sessions, [`lease`] keeps two processes from working on one session, [`purge`] deletes our
//!   sessions, [`copy`] makes any other copy;
//! - [`archive`] finds content that left the model's view;
//! - [`notes`] keeps an agent's notes next to the conversation;
//! - [`resume`](mod@resume) resumes a conversation from the tail of its file.
//!
//! ```no_run
//! use std::path::Path;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Reads only the tail it needs, however large the file is.
//! let resumed = longhaul_store::resume(Path::new("session.jsonl"))?;
//! let context = resumed.ledger.context();
//! println!("{} entries in view, {} tokens", resumed.entries.len(), context.tokens());
//! # Ok(())
//! # }
//! ```
//!
//! Everything here is synchronous and makes no decisions about a conversation: `longhaul_core` knows what entries mean.
//! Logs (`tracing`, debug level) hold counts, offsets and paths, never the content of an entry.

#![warn(clippy::missing_errors_doc)]

pub mod append;
mod append_lock;
pub mod archive;
pub mod copy;
mod error;
pub mod fork;
mod identity;
pub mod layout;
pub mod lease;
pub mod lines;
pub mod load;
mod newest_model;
pub mod notes;
pub mod ownership;
mod private;
pub mod purge;
mod real_path;
pub mod resume;
pub mod tail;

pub use append::{AppendError, AppendReceipt, Durability, ParentLink, TranscriptWriter};
pub use error::ReadError;
pub use fork::{ForkError, fork};
pub use identity::FileIdentity;
pub use layout::{Env, Home, HomeOwner, SessionId};
pub use lease::{Lease, LeaseError, LeaseHolder, SessionInUse};
pub use lines::{LineEnding, LineReader, RawLine};
pub use load::{
    LoadedContent, LoadedLine, LoadedTranscript, load, load_from, load_lines, write_back,
};
pub use newest_model::newest_model;
pub use notes::{NotesError, NotesFolder, NotesLock};
pub use ownership::{Force, OwnershipRefusal, may_change_in_place};
pub use private::{
    create_file as create_private_file, create_folders as create_private_folders, keep_private,
};
pub use real_path::real_path;
pub use resume::{ResumedConversation, ResumedRequestPrefix, resume, resume_lines};
pub use tail::{TailLine, TailReader};
