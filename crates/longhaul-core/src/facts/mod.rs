//! The facts that a compaction preserves whatever a model wrote (X1, Y4, ruling 14): the user's messages and rules word
//! for word, touched files, open todos with what the user has said against them since, the last error.
//!
//! [`Facts`] are gathered entry by entry, so that a turn costs only what it adds, and stored on every boundary, so that
//! the next compaction needs no earlier bytes. [`audit`] checks a summary against them and writes what is missing.
//! [`session_rows`] finds the session's entries; [`crate::report`] describes what a compaction lost.

pub(crate) mod appendix;
mod audit;
mod branches;
pub(crate) mod budget;
pub(crate) mod call;
mod called_off;
mod cancelled;
mod char_boundary;
pub(crate) mod excerpt;
mod facts_in_view;
mod failure;
mod file;
mod gather;
mod host_texts;
mod message;
mod order;
pub(crate) mod page;
mod phrase_matcher;
mod quotation;
mod quoted_words;
mod repeated;
mod results;
mod rule;
mod rule_kind;
mod sentence;
mod session;
mod shorten;
mod stored;
mod text_search;
mod todo;
mod user_answers;
mod user_cancellation;
mod visible;
mod vocabulary;

pub use audit::{AuditedSummary, audit};
pub(crate) use audit::{audit_naming_files, audit_words_first};
pub use branches::left_branches;
pub use budget::{BudgetItem, BudgetShare, FactsBudget, ItemProtection, fit};
pub use cancelled::{CancelledAction, CancelledActionKind};
pub use facts_in_view::AuditInput;
pub use failure::{ErrorSource, LastError};
pub use file::{FileAction, FileTool, TouchedFile};
pub use gather::Facts;
pub use host_texts::{HostText, HostTexts};
pub use message::{TextGap, UserMessage};
pub use phrase_matcher::{
    BuiltinWords, ChosenWords, PhraseListError, PhraseMatcher, SentenceWords,
};
pub use rule::UserRule;
pub use rule_kind::RuleKind;
pub use session::session_rows;
pub use shorten::shorten;
pub use todo::TodoFact;
pub use user_cancellation::UserCancellation;
pub use visible::visible_texts;
pub use vocabulary::Vocabulary;
