//! The cache watch (D): notes what each request is made of, compares what the provider read from its cache, and says
//! why a break happened.
//!
//! `canonical` says when two parts of requests are the same (N7); `sent` is what one request is made of, read from a
//! body (`body`) or taken from our own rendering (`messages`); [`Watch`] keeps the last calls of each query `source` and
//! judges the next by its usage; `compare`, `definitions` and `edits` find what changed, [`Change`] names it (`words`),
//! [`Cause`] picks;
//! `cost` puts a price on it, `diff` shows it, [`Finding`] words it. Writing the diff to disk is the shell's.

mod body;
pub mod canonical;
mod cause;
mod change;
mod compare;
mod cost;
mod definitions;
mod diff;
mod edits;
mod expectation;
mod fields;
mod finding;
mod measure;
mod messages;
mod rewriting;
mod sent;
mod small;
mod source;
mod track;
mod watch;
mod words;

pub use body::BodyError;
pub use cause::Cause;
pub use change::{Change, Flip, MessageEdit, SystemEdit, Weight};
pub use cost::cost_of_rewriting;
pub use finding::{Finding, FindingKind};
pub(crate) use measure::DROP_TOKENS;
pub use measure::{Measure, is_drop};
pub use messages::{Position, Speaker, Traits};
pub use rewriting::Rewriting;
pub use sent::{
    Conversation, Fingerprint, Flags, Head, Mark, Marks, Section, SystemPart, ToolPart, ToolPlace,
};
pub(crate) use small::is_small_model;
pub use watch::{CallId, Verdict, Watch};
