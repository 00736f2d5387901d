//! Request bodies, read without taking them apart: where the parts lie, and nothing of what they say.
//!
//! A body is scanned once; strings are skipped with vector code (`longhaul_core::json`). What is damaged, or is no
//! request that holds a conversation, is simply that: such a body is passed on untouched. What two messages have in
//! common is decided in `line/`.

mod outline;
mod read;
mod walk;

pub use outline::{BodyMembers, BodyOutline, BodyRole, OutlineElement};
pub use read::{LONGEST_MODEL, MOST_MESSAGES, NotAConversation, ReadResumePoint, read, read_from};
