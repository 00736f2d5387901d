//! The world: calls go in, replies come out, time passes when it is told to.
//!
//! A call does not move the clock: two calls without an [`advance`](World::advance) between them overlap, and neither
//! reads what the other writes. [`exchange`](World::exchange) is a call waited for to its end.

mod admit;
mod catalogue;
mod checked_messages;
mod compacting;
mod exchange;
mod finish;
mod read_bodies;
mod sampling;
mod usage_logging;

use longhaul_core::models::ModelTable;
use serde_json::Value;

use crate::cache::diagnosis::DiagnosisHistory;
use crate::cache::{CacheAccount, SimPromptCache};
use crate::call::{ApiCall, ApiError, VirtualMillis};
use crate::faults::InjectedFault;
use crate::model::ReplyModel;
use crate::model::misbehave::Misbehavior;
use crate::reply::{ApiIds, ApiReply};
use crate::thinking::{AccountAge, SigningSecret};
use crate::threads::{ThreadPolicy, Threads};
use crate::tokens::TokenCounter;
use crate::usage_log::SimUsageLog;

use read_bodies::ReadBodies;

/// How a world is made.
pub struct WorldOptions {
    /// Where all chance comes from.
    pub seed: u64,
    /// What answers.
    pub model: Box<dyn ReplyModel>,
    /// With what thinking and summaries are signed.
    pub secret: SigningSecret,
    /// Whether bound thinking is enforced where that depends on the account.
    pub account: AccountAge,
    /// What is done with server-held threads.
    pub threads: ThreadPolicy,
    /// The models that are served.
    pub models: ModelTable,
    /// How fast replies come, in virtual time.
    pub pace: ReplySpeed,
    /// How many calls the books keep with their verdicts.
    pub kept_calls: usize,
}

impl WorldOptions {
    /// A world with this seed in which this model answers, and the usual for the rest.
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

/// How fast replies come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplySpeed {
    /// Milliseconds to the first byte of a reply to an empty prompt.
    pub first_byte_ms: u64,
    /// Prompt tokens outside the cache that are read in a second.
    pub prompt_per_second: u64,
    /// Tokens written in a second.
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
    /// The last request of each session, to say what changed.
    sessions: DiagnosisHistory,
    /// Calls for compaction that are to be turned away.
    no_compaction: u64,
    /// What the script says goes wrong with the delivery of the reply being made.
    fault: Option<InjectedFault>,
    books: SimUsageLog,
}

impl World {
    /// A new world at time zero.
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
            fault: None,
            books: SimUsageLog::new(options.kept_calls),
        }
    }

    /// `POST /v1/messages`, started now. The clock stays where it is; the reply says when it begins and ends.
    ///
    /// A refused call is in the books too: its request id is that of [`Books::last`].
    pub fn messages(&mut self, call: &ApiCall) -> Result<ApiReply, ApiError> {
        usage_logging::messages(self, call)
    }

    /// A call that is waited for: afterwards the clock stands at the end of its reply.
    pub fn exchange(&mut self, call: &ApiCall) -> Result<ApiReply, ApiError> {
        let reply = self.messages(call)?;
        self.clock = self.clock.max(reply.ended);
        Ok(reply)
    }

    /// `POST /v1/messages/count_tokens`.
    pub fn count_tokens(&mut self, call: &ApiCall) -> Result<Value, ApiError> {
        admit::count_tokens(self, call)
    }

    /// `GET /v1/models`.
    pub fn models(&self) -> Value {
        catalogue::list(&self.models)
    }

    /// `GET /v1/models/{id}`; none: there is no such model.
    pub fn model(&self, id: &str) -> Option<Value> {
        catalogue::one(&self.models, id)
    }

    /// Lets time pass.
    pub fn advance(&mut self, ms: u64) {
        self.clock = VirtualMillis(self.clock.0.saturating_add(ms));
    }

    /// The time.
    pub fn now(&self) -> VirtualMillis {
        self.clock
    }

    /// The books.
    pub fn books(&self) -> &SimUsageLog {
        &self.books
    }

    /// Tells the model what to do wrong from now on.
    pub fn misbehave(&mut self, more: Misbehavior) {
        self.model.misbehave(more);
    }

    /// Turns the next so many calls for compaction away, as a provider under load may.
    pub fn refuse_compactions(&mut self, calls: u64) {
        self.no_compaction = calls;
    }

    /// Throws every cache entry out, as a provider under load may. Says how many there were.
    pub fn evict(&mut self) -> usize {
        self.cache.evict(None)
    }

    /// Throws out the cache entries of one key.
    pub fn evict_key(&mut self, key: &str) -> usize {
        self.cache.evict(Some(CacheAccount::of_key(key)))
    }
}
