//! A conversation that the caller holds: its entries are in memory, and it has no transcript. It is compacted in
//! memory, and the caller takes the result from the session's view; nothing is stored.

use std::path::PathBuf;
use std::sync::Arc;

use longhaul_core::config::Config;
use longhaul_core::engine::{
    Engine, EngineConfig, EngineResume, LiveEntry, PrefixRecording, SessionIdentity, UuidSequence,
};
use longhaul_core::facts::{Facts, Vocabulary};
use longhaul_core::message::Entry;
use longhaul_core::micro::ClearableTools;
use longhaul_core::models::{ModelSpec, ModelTable};
use longhaul_core::report::OriginalsLocation;

use super::{RecordedSession, SummaryProvider, asked, request_prefix};
use crate::clock::Clock;
use crate::hooks::HookSet;
use crate::session::cancellation::Cancellation;
use crate::session::effect_runner::{EffectRunner, HookSessionInfo};
use crate::session::open::window;
use crate::session::open_error::OpenError;
use crate::session::running_effects::RunningEffects;
use crate::session::{Observer, Session};
use crate::storage::MemoryStorage;
use crate::workspace::Workspace;

/// A conversation without a transcript: summaries of it name no path and no recall tool.
pub struct InMemoryConversation {
    /// Its entries in order: those of the last compaction first, if there was one, as the engine wrote them.
    pub entries: Vec<Entry>,
    /// The model that it is held with.
    pub model: String,
    /// The session id that its lines carry.
    pub session_id: String,
    /// The seed for new ids: the same seed gives the same ids.
    pub seed: u128,
    /// Tokens of the request prefix, which the caller knows; they leave less room for the messages.
    pub before_messages: u64,
    /// The model that is asked for summaries, if any.
    pub asked: Option<SummaryProvider>,
    /// How facts are recognized.
    pub vocabulary: Arc<Vocabulary>,
    /// Tools whose results may be cleared.
    pub clearable: ClearableTools,
    /// The project's instructions for summaries.
    pub compact_instructions: Option<String>,
    /// The workspace that files are restored from.
    pub workspace: Arc<dyn Workspace>,
    /// The observer of the session.
    pub observer: Arc<dyn Observer>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
}

impl InMemoryConversation {
    /// Opens the conversation for a compaction.
    ///
    /// # Errors
    /// Fails if the settings cannot be used, or the window is too small.
    pub fn open(self, config: &Config, models: &ModelTable) -> Result<RecordedSession, OpenError> {
        let spec = models.resolve(&self.model).spec;
        let (model, summary_model) = asked(self.asked, &self.model, false, |id| {
            ModelSpec::clone(&models.resolve(id).spec)
        });
        let identity = SessionIdentity {
            session_id: self.session_id.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..SessionIdentity::default()
        };
        let window = window(config, &spec)?.without(self.before_messages);
        let engine = EngineConfig {
            clearable: self.clearable,
            compact_instructions: self.compact_instructions,
            prefixes: PrefixRecording::Unwritten,
            originals: OriginalsLocation::Client,
            summary_model,
            ..EngineConfig::new(identity, ModelSpec::clone(&spec), window, config)
        };
        let head = request_prefix::bare(&self.entries, &spec)?;
        let place = |entry| LiveEntry {
            entry,
            offset: None,
        };
        let resume = EngineResume {
            entries: self.entries.into_iter().map(place).collect(),
            facts: Some(Facts::new(self.vocabulary)),
            ..EngineResume::default()
        };
        let about = HookSessionInfo {
            session_id: self.session_id,
            transcript: PathBuf::new(),
            ..HookSessionInfo::default()
        };
        let hands = EffectRunner {
            model,
            lost: Arc::default(),
            spec,
            workspace: self.workspace,
            hooks: Arc::new(HookSet::new()),
            observer: self.observer,
            session_info: Arc::new(about),
            notes: None,
            patience: std::time::Duration::ZERO,
        };
        let engine =
            Engine::new(engine, UuidSequence::new(self.seed), head, resume).without_lost_replies();
        let running = RunningEffects::new(Arc::new(MemoryStorage::new()), 0, None);
        let cancel = Cancellation::of_session();
        let session = Session::new(engine, hands, running, self.clock, cancel);
        Ok(RecordedSession::of(session))
    }
}
