//! The world: calls go in, replies come out, time passes when it is told to.
//!
//! A call does not move the clock: two calls without an [`advance`](World::advance) between them overlap, and neither
//! reads what the other writes. [`exchange`](World::exchange) is a call waited for to its end.

mod admit;
mod booking;
mod catalogue;
mod compacting;
mod exchange;
mod finish;
mod readings;
mod sampling;
mod settled;

use longhaul_core::models::ModelTable;
use serde_json::Value;

use crate::books::Books;
use crate::cache::diagnosis::Diagnoses;
use crate::cache::{Cache, Scope};
use crate::call::{ApiError, Call, Millis};
use crate::faults::Fault;
use crate::model::Model;
use crate::model::misbehave::Misbehaviour;
use crate::reply::{Ids, Reply};
use crate::thinking::{Account, Secret};
use crate::threads::{Policy, Threads};
use crate::tokens::Counter;

use readings::Readings;

/// How a world is made.
pub struct Options {
    /// Where all chance comes from.
    pub seed: u64,
    /// What answers.
    pub model: Box<dyn Model>,
    /// With what thinking and summaries are signed.
    pub secret: Secret,
    /// Whether bound thinking is enforced where that depends on the account.
    pub account: Account,
    /// What is done with server-held threads.
    pub threads: Policy,
    /// The models that are served.
    pub models: ModelTable,
    /// How fast replies come, in virtual time.
    pub pace: Pace,
    /// How many calls the books keep with their verdicts.
    pub kept_calls: usize,
}

impl Options {
    /// A world with this seed in which this model answers, and the usual for the rest.
    pub fn new(seed: u64, model: Box<dyn Model>) -> Self {
        Self {
            seed,
            model,
            secret: Secret::from_seed(seed),
            account: Account::default(),
            threads: Policy::default(),
            models: ModelTable::builtin(),
            pace: Pace::default(),
            kept_calls: 256,
        }
    }
}

/// How fast replies come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Milliseconds to the first byte of a reply to an empty prompt.
    pub first_byte_ms: u64,
    /// Prompt tokens outside the cache that are read in a second.
    pub prompt_per_second: u64,
    /// Tokens written in a second.
    pub output_per_second: u64,
}

impl Default for Pace {
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
    model: Box<dyn Model>,
    secret: Secret,
    account: Account,
    threads: Threads,
    models: ModelTable,
    pace: Pace,
    clock: Millis,
    ids: Ids,
    counter: Counter,
    readings: Readings,
    cache: Cache,
    diagnoses: Diagnoses,
    /// The last request of each session, to say what changed.
    sessions: Diagnoses,
    /// Calls for compaction that are to be turned away.
    no_compaction: u64,
    /// What the script says goes wrong with the delivery of the reply being made.
    fault: Option<Fault>,
    books: Books,
}

impl World {
    /// A new world at time zero.
    pub fn new(options: Options) -> Self {
        Self {
            seed: options.seed,
            model: options.model,
            secret: options.secret,
            account: options.account,
            threads: Threads::new(options.threads),
            models: options.models,
            pace: options.pace,
            clock: Millis(0),
            ids: Ids::new(options.seed),
            counter: Counter::default(),
            readings: Readings::default(),
            cache: Cache::default(),
            diagnoses: Diagnoses::default(),
            sessions: Diagnoses::default(),
            no_compaction: 0,
            fault: None,
            books: Books::new(options.kept_calls),
        }
    }

    /// `POST /v1/messages`, started now. The clock stays where it is; the reply says when it begins and ends.
    ///
    /// A refused call is in the books too: its request id is that of [`Books::last`].
    pub fn messages(&mut self, call: &Call) -> Result<Reply, ApiError> {
        booking::messages(self, call)
    }

    /// A call that is waited for: afterwards the clock stands at the end of its reply.
    pub fn exchange(&mut self, call: &Call) -> Result<Reply, ApiError> {
        let reply = self.messages(call)?;
        self.clock = self.clock.max(reply.ended);
        Ok(reply)
    }

    /// `POST /v1/messages/count_tokens`.
    pub fn count_tokens(&mut self, call: &Call) -> Result<Value, ApiError> {
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
        self.clock = Millis(self.clock.0.saturating_add(ms));
    }

    /// The time.
    pub fn now(&self) -> Millis {
        self.clock
    }

    /// The books.
    pub fn books(&self) -> &Books {
        &self.books
    }

    /// Tells the model what to do wrong from now on.
    pub fn misbehave(&mut self, more: Misbehaviour) {
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
        self.cache.evict(Some(Scope::of_key(key)))
    }
}
