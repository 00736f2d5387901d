//! A session: the engine with a model, a transcript, a workspace and hooks around it.
//!
//! The engine decides; `calls.rs` performs its effects and feeds their outcomes back. An agent's loop is:
//! [`Session::say`], [`Session::turn`], run the tools, [`Session::results`], and so on. Compaction happens by itself in
//! between; notes are taken and summaries are prepared in the background, and [`Session::drive_background`] drives that
//! while the host waits for something else.

mod builder;
mod calls;
mod cancellation;
mod effect_runner;
mod lost_replies;
mod model_calls;
mod observe;
pub(crate) mod open;
mod open_error;
mod options;
pub mod recorded;
mod retry_wait;
mod running_effects;
mod storage_place;

use std::sync::Arc;

use longhaul_core::economy::EconomyPolicy;
use longhaul_core::engine::{
    CallFailure, CallResult, CompactFailure, CompactionSuccess, EffectFailure, Engine, EngineInput,
    PreviewedSummary,
};
use longhaul_core::models::EffortLevel;
use longhaul_core::prompt::{ParameterError, ThinkingChoice};
use longhaul_core::window::WindowStatus;
use longhaul_provider::{CancellationToken, Reply};

pub use builder::SessionBuilder;
pub use cancellation::Cancellation;
pub use model_calls::summary_reply;
pub use observe::{Observer, SilentObserver};
pub use open::{new_session_id, window};
pub use open_error::OpenError;
pub use options::SessionOptions;
pub use retry_wait::RetryWait;

use crate::clock::Clock;
use crate::prompt::Prompt;
use effect_runner::EffectRunner;
use running_effects::RunningEffects;

/// A conversation that goes on without end.
pub struct Session {
    engine: Engine,
    effect_runner: EffectRunner,
    running: RunningEffects,
    clock: Arc<dyn Clock>,
    cancel: Cancellation,
    /// Whether the engine was told that this call is cancelled.
    cancel_told: bool,
    /// Whether a call is running; if it was dropped, this is still set when the next one begins.
    called: bool,
    compactions: u64,
    /// The newest reply, until its turn is over.
    reply: Option<Reply>,
    /// The result of the call, until the host gets it.
    result: Option<CallResult>,
}

/// Why a turn gave no reply. The conversation is as it was before.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The window is full and compaction cannot act (O5).
    #[error("{0}")]
    Refused(String),
    /// The model did not answer. [`EffectFailure::kind`] says why, [`EffectFailure::retry_after`] when to try again.
    #[error("{}", .0.message)]
    Failed(EffectFailure),
    /// Something could not be written. Nothing is lost: the write is tried again with the next turn.
    #[error("the transcript cannot be written, and nothing is sent before it is: {0}")]
    NotKept(String),
}

impl From<CallFailure> for TurnError {
    fn from(failure: CallFailure) -> Self {
        match failure {
            CallFailure::Refused(message) => Self::Refused(message),
            CallFailure::NotAnswered(failed) => Self::Failed(failed),
            CallFailure::NotPersisted(message) => Self::NotKept(message),
            CallFailure::NotCompacted(_, message) => Self::Failed(EffectFailure::other(message)),
        }
    }
}

/// The result of a manual compaction.
#[derive(Debug)]
pub enum CompactOutcome {
    /// The conversation was compacted.
    Done(Box<CompactionSuccess>),
    /// The summary waits for approval; nothing was changed.
    Preview(Box<PreviewedSummary>),
}

/// Why a manual compaction did nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct CompactError {
    /// The kind of failure.
    pub kind: CompactFailure,
    /// The message for people.
    pub message: String,
}

impl Session {
    fn new(
        engine: Engine,
        hands: EffectRunner,
        running: RunningEffects,
        clock: Arc<dyn Clock>,
        cancel: Cancellation,
    ) -> Self {
        Self {
            engine,
            effect_runner: hands,
            running,
            clock,
            cancel,
            cancel_told: false,
            called: false,
            compactions: 0,
            reply: None,
            result: None,
        }
    }

    /// Returns a builder for a session.
    pub fn builder() -> SessionBuilder {
        SessionBuilder::default()
    }

    /// Uses another system prompt, other tools or another user context from the next request on. This breaks the
    /// provider's cache, and the cache watch says so. The model stays the one that the session was opened with.
    ///
    /// # Errors
    ///
    /// If the prompt asks for something that the model does not accept.
    pub fn set_prompt(&mut self, prompt: &Prompt) -> Result<(), ParameterError> {
        let head = prompt.request_prefix(&self.effect_runner.spec)?;
        self.engine
            .handle(EngineInput::Head(Box::new(head)), self.clock.now());
        Ok(())
    }

    /// Lets the model think in another way from the next request on, and returns sentences about settings that the model
    /// does not take. The provider's cache begins anew with that request, because these settings are part of its key;
    /// the transcript records a prefix with other settings, and the cache watch names the change (B5, D2).
    ///
    /// # Errors
    /// Fails if a thinking budget does not fit the length of a reply; nothing is changed.
    pub fn set_thinking(
        &mut self,
        think: ThinkingChoice,
        effort: Option<EffortLevel>,
    ) -> Result<Vec<String>, ParameterError> {
        let spec = &self.effect_runner.spec;
        let switch = self.engine.prefix().with_thinking(spec, think, effort)?;
        self.engine
            .handle(EngineInput::Thinking { think, effort }, self.clock.now());
        Ok(switch.notices)
    }

    /// Names a mode of the host that may change during the session, such as `fast`, `auto` or `overage` (D1): if the
    /// cache breaks when it does, the cache watch says so. With none, the mode is removed.
    pub fn set_mode(&mut self, name: impl Into<String>, value: Option<String>) {
        let name = name.into();
        self.engine
            .handle(EngineInput::Mode { name, value }, self.clock.now());
    }

    /// Decides these actions by price from the next request on (V5). What sending the conversation again has cost so far
    /// counts, whatever the policy was.
    pub fn set_economy(&mut self, policy: EconomyPolicy) {
        self.engine
            .handle(EngineInput::Economy(policy), self.clock.now());
    }

    /// Which actions are to be decided by price. Where the prices of the model are not known, none is.
    pub fn economy(&self) -> EconomyPolicy {
        self.engine.economy()
    }

    /// Cancelling this token ends whatever a call is waiting for: a request or a compaction. The conversation stays
    /// valid, and background work continues. Cancelled between two calls, the token ends the next turn or compaction
    /// before it begins. A token is good until it has ended a call; then this returns a fresh one, unless the host
    /// supplied a [`Cancellation`] of its own, which it renews itself.
    pub fn canceller(&self) -> CancellationToken {
        self.cancel.token()
    }

    /// The current state of the window.
    pub fn status(&self) -> WindowStatus {
        self.engine.status()
    }

    /// The engine: the conversation, its facts, its rendering.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The engine, for recording files that were read in another way than by a call of `Read`.
    pub fn engine_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }

    /// How often the conversation was compacted since the session was opened.
    pub fn compactions(&self) -> u64 {
        self.compactions
    }
}
