//! The world: calls go in, replies come out, and time passes only on request.
//!
//! A call does not move the clock: two calls without an [`advance`](World::advance) between them overlap, and neither
//! reads what the other writes. [`exchange`](World::exchange) makes a call and waits for its end.

mod admit;
mod catalog;
mod checked_messages;
mod compacting;
mod exchange;
mod finish;
mod named_call;
mod read_bodies;
mod rule_check;
mod sampling;
mod searching;
mod usage_logging;

use std::collections::VecDeque;

use longhaul_core::models::ModelTable;
use serde_json::Value;

use crate::cache::diagnosis::DiagnosisHistory;
use crate::cache::{CacheAccount, KeptCacheEntry, SimPromptCache};
use crate::call::{ApiCall, ApiError, VirtualMillis};
use crate::faults::InjectedFault;
use crate::model::ReplyModel;
use crate::model::misbehave::Misbehavior;
use crate::reply::{ApiIds, ApiReply};
use crate::server_tools::SearchError;
use crate::thinking::{AccountAge, SigningSecret};
use crate::threads::{ThreadPolicy, Threads};
use crate::tokens::TokenCounter;
use crate::usage_log::SimUsageLog;

use read_bodies::ReadBodies;

/// The options of a world.
pub struct WorldOptions {
    /// The seed of all randomness.
    pub seed: u64,
    /// The model that answers.
    pub model: Box<dyn ReplyModel>,
    /// The secret that signs thinking and summaries.
    pub secret: SigningSecret,
    /// Whether bound thinking is enforced where that depends on the account.
    pub account: AccountAge,
    /// How server-held threads are handled.
    pub threads: ThreadPolicy,
    /// The models that are served.
    pub models: ModelTable,
    /// How fast replies are, in virtual time.
    pub pace: ReplySpeed,
    /// How many calls the usage log keeps with their verdicts.
    pub kept_calls: usize,
}

impl WorldOptions {
    /// Options for a world with this seed and this model, and defaults for the rest.
    pub fn new(seed: u64, model: Box<dyn ReplyModel>) -> Self {
        Self {
            seed,
            model,
            secret: SigningSecret::from_seed(seed),
            account: AccountAge::default(),
            threads: ThreadPolicy::default(),
            models: ModelTable::builtin(),
            pace: ReplySpeed::default(),
            kept_calls: 256,
        }
    }
}

/// How fast replies are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplySpeed {
    /// The milliseconds before the first byte of a reply to an empty prompt.
    pub first_byte_ms: u64,
    /// The number of uncached prompt tokens read per second.
    pub prompt_per_second: u64,
    /// The number of tokens written per second.
    pub output_per_second: u64,
}

impl Default for ReplySpeed {
    fn default() -> Self {
        Self {
            first_byte_ms: 400,
            prompt_per_second: 50_000,
            output_per_second: 80,
        }
    }
}

/// The offline world.
pub struct World {
    seed: u64,
    model: Box<dyn ReplyModel>,
    secret: SigningSecret,
    account: AccountAge,
    threads: Threads,
    models: ModelTable,
    pace: ReplySpeed,
    clock: VirtualMillis,
    ids: ApiIds,
    counter: TokenCounter,
    readings: ReadBodies,
    cache: SimPromptCache,
    diagnoses: DiagnosisHistory,
    /// The last request of each session, for reporting what changed.
    sessions: DiagnosisHistory,
    /// The number of compaction calls still to be refused.
    no_compaction: u64,
    /// The errors that the next searches of the web end with.
    search_errors: VecDeque<SearchError>,
    /// The fault that the script names for the delivery of the reply being made.
    fault: Option<InjectedFault>,
    books: SimUsageLog,
}

impl World {
    /// Creates a world at time zero.
    pub fn new(options: WorldOptions) -> Self {
        Self {
            seed: options.seed,
            model: options.model,
            secret: options.secret,
            account: options.account,
            threads: Threads::new(options.threads),
            models: options.models,
            pace: options.pace,
            clock: VirtualMillis(0),
            ids: ApiIds::new(options.seed),
            counter: TokenCounter::default(),
            readings: ReadBodies::default(),
            cache: SimPromptCache::default(),
            diagnoses: DiagnosisHistory::default(),
            sessions: DiagnosisHistory::default(),
            no_compaction: 0,
            search_errors: VecDeque::new(),
            fault: None,
            books: SimUsageLog::new(options.kept_calls),
        }
    }

    /// Handles `POST /v1/messages`, started now. The clock does not move; the reply says when it begins and ends.
    ///
    /// A refused call is in the usage log too: its request id is that of [`SimUsageLog::last`].
    pub fn messages(&mut self, call: &ApiCall) -> Result<ApiReply, ApiError> {
        usage_logging::messages(self, call)
    }

    /// Makes a call and waits for it: afterwards the clock is at the end of its reply.
    pub fn exchange(&mut self, call: &ApiCall) -> Result<ApiReply, ApiError> {
        let reply = self.messages(call)?;
        self.clock = self.clock.max(reply.ended);
        Ok(reply)
    }

    /// Handles `POST /v1/messages/count_tokens`.
    pub fn count_tokens(&mut self, call: &ApiCall) -> Result<Value, ApiError> {
        admit::count_tokens(self, call)
    }

    /// Handles `GET /v1/models`.
    pub fn models(&self) -> Value {
        catalog::list(&self.models)
    }

    /// Handles `GET /v1/models/{id}`; `None` if there is no such model.
    pub fn model(&self, id: &str) -> Option<Value> {
        catalog::one(&self.models, id)
    }

    /// Advances the time.
    pub fn advance(&mut self, ms: u64) {
        self.clock = VirtualMillis(self.clock.0.saturating_add(ms));
    }

    /// The current virtual time.
    pub fn now(&self) -> VirtualMillis {
        self.clock
    }

    /// The usage log.
    pub fn usage_log(&self) -> &SimUsageLog {
        &self.books
    }

    /// Adds misbehavior of the model for future calls.
    pub fn misbehave(&mut self, more: Misbehavior) {
        self.model.misbehave(more);
    }

    /// Refuses this many of the next compaction calls, as a provider under load may.
    pub fn refuse_compactions(&mut self, calls: u64) {
        self.no_compaction = calls;
    }

    /// Lets this many of the next searches of the web fail, as they do under load.
    pub fn fail_searches(&mut self, searches: usize, error: SearchError) {
        self.search_errors
            .extend(std::iter::repeat_n(error, searches));
    }

    fn next_search_error(&mut self) -> Option<SearchError> {
        self.search_errors.pop_front()
    }

    /// The cache entries that can be read now, for another process: the most recently used first, at most this many.
    pub fn kept_cache(&self, most: usize) -> Vec<KeptCacheEntry> {
        self.cache.kept(self.clock, most)
    }

    /// Takes in the cache entries of another process, which were kept this many milliseconds ago. What has expired is
    /// left out; so is what was used before this world began, so [`advance`](World::advance) comes first.
    pub fn take_in_cache(&mut self, kept: &[KeptCacheEntry], ago_ms: u64) {
        self.cache.take_in(kept, ago_ms, self.clock);
    }

    /// Evicts every cache entry, as a provider under load may, and returns how many there were.
    pub fn evict(&mut self) -> usize {
        self.cache.evict(None)
    }

    /// Evicts the cache entries of one key, and returns how many there were.
    pub(crate) fn evict_key(&mut self, key: &str) -> usize {
        self.cache.evict(Some(CacheAccount::of_key(key)))
    }
}
