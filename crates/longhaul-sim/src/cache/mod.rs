//! The prompt cache, as the provider runs it (API-FACTS §1.2).
//!
//! Entries are written only at breakpoints, one for the prefix that ends there. A read checks each breakpoint from the
//! last to the first, walking back at most twenty positions from each. An entry lives from the start of the request
//! that wrote or read it, is readable once the first response to it began, and belongs to one key. `entries` keeps
//! them, `lookup` reads, `billing` turns what was found into token classes, `verdict` says position by position what
//! became of a prompt and why, `diagnosis` names what changed since an earlier request.

mod billing;
pub mod diagnosis;
mod entries;
mod lookup;
mod verdict;

pub use billing::Billing;
pub use entries::{CacheAccount, CachedPrefix, SimPromptCache};
pub use lookup::{CacheLookup, CacheMissReason, LOOK_BACK};
pub use verdict::{CacheClass, PositionRun, PromptVerdict};

use crate::call::VirtualMillis;
use crate::prompt::LaidOutPrompt;

/// One request to the cache.
#[derive(Debug, Clone, Copy)]
pub struct CacheQuery<'a> {
    /// Whose cache.
    pub scope: CacheAccount,
    /// What is asked for.
    pub prompt: &'a LaidOutPrompt,
    /// The shortest prefix the model caches, in tokens.
    pub minimum: u64,
    /// When the request started.
    pub now: VirtualMillis,
}
