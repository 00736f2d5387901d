//! The cache-break detector (D): records each request, compares what the provider read from its cache, and says why a
//! break happened.
//!
//! `canonical` says when two parts of requests are the same (N7). `fingerprint` describes one request, read from a body
//! (`body`) or taken from our own rendering (`messages`). [`CacheBreakDetector`] keeps the last calls of each query
//! `source` and judges the next one by its usage. `compare`, `definitions` and `edits` find the changes,
//! [`RequestChange`] names them (`words`), [`CacheMissCause`] picks one, `cost` puts a price on it, `diff` shows it,
//! [`CacheFinding`] words it. The caller writes the diff to disk.

mod body;
mod breakpoint;
mod call_id;
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
mod fingerprint;
mod measure;
mod messages;
mod prefix_replacement;
mod small;
mod source;
mod speaker;
mod track;
mod verdict;
mod watch;
mod words;

pub use body::BodyError;
pub use breakpoint::{BreakpointPositions, CacheBreakpoint};
pub use call_id::WatchedCallId;
pub use cause::CacheMissCause;
pub use change::{ChangeCertainty, MessageEdit, PresenceChange, RequestChange, SystemEdit};
pub use cost::cost_of_cache_miss;
pub use finding::{CacheFinding, CacheFindingKind};
pub use fingerprint::{
    FingerprintMessages, HostModes, PrefixFingerprint, RequestFingerprint, SystemPart,
    SystemSection, ToolPart, ToolPlacement,
};
pub(crate) use measure::DROP_TOKENS;
pub use measure::{CacheMeasurement, is_drop};
pub use messages::{BlockTraits, CachePosition};
pub use prefix_replacement::PrefixReplacement;
pub(crate) use small::is_small_model;
pub use speaker::MessageSpeaker;
pub use verdict::CacheVerdict;
pub use watch::CacheBreakDetector;
