//! What a compaction guarantees whatever a model wrote (X1, Y4, ruling 14): the user's messages and rules word for word,
//! files touched, open todos with what the user has said against them since, the last error.
//!
//! [`Facts`] are gathered entry by entry, so that a turn costs what it adds, and stored on every boundary, so that the
//! next compaction needs no earlier bytes. [`audit`] holds a summary against them and writes what is missing. Which entries
//! are the session's is [`session_rows`]; what a compaction lost is told by [`crate::report`].

mod answered;
pub(crate) mod appendix;
mod audit;
mod branches;
pub(crate) mod budget;
pub(crate) mod call;
mod called_off;
mod cancelled;
mod char_boundary;
pub(crate) mod excerpt;
mod failure;
mod file;
mod gather;
mod held;
mod host_texts;
mod message;
mod order;
pub(crate) mod page;
mod quotation;
mod repeated;
mod results;
mod rule;
mod sentence;
mod session;
mod shorten;
mod stored;
mod todo;
mod visible;
mod vocabulary;
mod wording;
mod words;

pub(crate) use audit::audit_words_first;
pub use audit::{Audited, Seen, audit};
pub use branches::left_branches;
pub use budget::{Budget, Item, Share, Standing, fit};
pub use called_off::CalledOff;
pub use cancelled::{Cancelled, CancelledKind};
pub use failure::{ErrorSource, LastError};
pub use file::{FileAction, FileTool, TouchedFile};
pub use gather::Facts;
pub use host_texts::{HostText, HostTexts};
pub use message::{Cut, UserMessage};
pub use rule::{Rule, RuleKind};
pub use session::session_rows;
pub use shorten::shorten;
pub use todo::Todo;
pub use visible::visible_texts;
pub use vocabulary::Vocabulary;
pub use wording::{BuiltinWords, ChosenWords, SentenceWords, Wording, WordingError};
