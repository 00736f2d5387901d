//! The prompt cache, as the provider runs it (API-FACTS §1.2).
//!
//! Entries are written only at breakpoints, one for the prefix that ends there. A read checks each breakpoint from the
//! last to the first, going back at most twenty positions from each. An entry's lifetime starts with the request that
//! wrote or read it; the entry is readable once the first response to it has begun, and belongs to one key. `entries`
//! keeps the entries, `kept` carries them from one process to the next, `lookup` reads them, `commit` writes them, `billing`
//! turns a lookup into token classes, `verdict` explains position by position what happened to a prompt, and `diagnosis`
//! names what changed since an earlier request.

mod billing;
mod commit;
pub mod diagnosis;
mod entries;
mod kept;
mod lookup;
mod verdict;

pub use billing::Billing;
pub(crate) use entries::{CacheAccount, SimPromptCache};
pub use kept::KeptCacheEntry;
pub(crate) use lookup::LOOK_BACK;
pub use lookup::{CacheLookup, CacheMissReason};
pub use verdict::{CacheClass, PositionRun, PromptVerdict};

use crate::call::VirtualMillis;
use crate::prompt::LaidOutPrompt;

/// One lookup in the cache.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CacheQuery<'a> {
    /// The account of the cache.
    pub scope: CacheAccount,
    /// The prompt to look up.
    pub prompt: &'a LaidOutPrompt,
    /// The length of the shortest prefix that the model caches, in tokens.
    pub minimum: u64,
    /// The start of the request.
    pub now: VirtualMillis,
}
