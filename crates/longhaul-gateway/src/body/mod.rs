//! Reads the outline of request bodies without parsing them fully: where the parts lie, not what they say.
//!
//! A body is scanned once; strings are skipped with vector code (`longhaul_core::json`). A body that is damaged, or is
//! not a request with a conversation, is passed on untouched. `branch/` decides what two messages have in common.

mod outline;
mod read;
mod walk;

pub use outline::{BodyMembers, BodyOutline, BodyRole, OutlineElement};
pub(crate) use read::LONGEST_MODEL;
pub(crate) use read::MOST_MESSAGES;
pub use read::{NotAConversation, ReadResumePoint, read, read_from};
