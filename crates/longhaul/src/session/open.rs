//! Opens a session that a builder describes: a new one, or one that is resumed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_core::config::Config;
use longhaul_core::engine::{
    Engine, EngineConfig, EngineResume, LiveEntry, NotesConfig, ReplyDelivery, SessionIdentity,
    SummaryModel, SummaryTiming, UuidSequence,
};
use longhaul_core::facts::Facts;
use longhaul_core::message::{Entry, Subtype};
use longhaul_core::micro::PressureOwner;
use longhaul_core::models::ModelSpec;
use longhaul_core::prompt::{RequestAssembly, RequestPrefix};
use longhaul_core::summary::message::CompactionMode;
use longhaul_core::transcript::{ResolvedConversation, TranscriptTable};
use longhaul_core::window::{
    AutoCompact, QuerySource, SwitchVerdict, SwitchableAction, WindowError, WindowInput,
    WindowStatus,
};
use longhaul_store::{
    Lease, LeaseError, LoadedContent, LoadedTranscript, ResumedConversation, SessionInUse,
};

use super::builder::{OptionalToolFn, ResumedPrefix, SessionBuilder};
use super::cancellation::Cancellation;
use super::effect_runner::{EffectRunner, HookSessionInfo};
use super::lost_replies::{AccountedModel, LostReplies};
use super::open_error::OpenError;
use super::options::SessionOptions;
use super::running_effects::RunningEffects;
use super::storage_place::StoragePlace;
use super::{Session, SilentObserver};
use crate::notes::{self, NotesLocation};
use crate::storage::StorageError;
use crate::workspace::FileWorkspace;

impl SessionBuilder {
    /// Opens the session. The storage is read on this thread; in async code that must not block, use
    /// [`open_async`](Self::open_async).
    ///
    /// # Errors
    /// Fails if the builder lacks a model or a prompt, if another process has the session open, if the storage or the
    /// archive cannot be used, and if settings or prompt cannot be used. The message says what to change.
    pub fn open(self) -> Result<Session, OpenError> {
        let model = self.model.ok_or(OpenError::Missing("a model"))?;
        let prompt = self.prompt.ok_or(OpenError::Missing("a prompt"))?;
        let SessionOptions {
            config: settings,
            models,
            hooks,
            clock,
            durability,
            cache_edits,
            cache_breaks,
            patience,
        } = self.options;
        let spec = models.resolve(&prompt.model).spec;
        let wanted = prompt.request_prefix(&spec)?;
        // The conversation's own model reads the cache, so it gets no separate request.
        let other = settings.summary_model.clone();
        let summary_model = (other.filter(|id| *id != prompt.model)).map(|id| SummaryModel {
            spec: ModelSpec::clone(&models.resolve(&id).spec),
            id,
        });

        let place = StoragePlace::of(self.storage, self.transcript, self.archive)?;
        // Taken before the transcript is read: lines that another process appends afterwards would be left on a branch.
        let lease = match place.transcript() {
            Some(path) if self.agent.is_none() => leased(path)?,
            _ => None,
        };
        let stored = place.read()?;
        let (resume, head) = match &stored.resumed {
            Some(resumed) => {
                let whole = || place.read_whole();
                let (resumed_prefix, optional) =
                    (self.resumed_prefix, self.optional_tools.as_ref());
                let may_keep = |before: &RequestPrefix, wanted: &RequestPrefix| {
                    resumed_prefix == ResumedPrefix::KeepUntilCompaction
                        && before.model() == wanted.model()
                        && needed_tools(before, optional) == needed_tools(wanted, optional)
                };
                resumed_with_prefix(resumed, whole, wanted, may_keep, &settings)?
            }
            None => {
                let resume = EngineResume {
                    facts: Some(Facts::new(Arc::new(settings.vocabulary()?))),
                    ..EngineResume::default()
                };
                (resume, wanted)
            }
        };
        let transcript = place.transcript().map(Path::to_owned);
        let running = RunningEffects::new(place.open(durability)?, stored.end, lease);
        let seed = self.seed.unwrap_or_else(random_seed);
        let mut ids = UuidSequence::new(seed);
        let session_id = self
            .session_id
            .or_else(|| transcript.as_deref().and_then(name_of))
            .or_else(|| stored.session_id())
            .unwrap_or_else(|| ids.next_uuid());
        let source = self.source.unwrap_or(QuerySource::SDK);
        let takes_notes = source.is_main()
            && settings.switches.decide(SwitchableAction::Notes) == SwitchVerdict::Allowed;
        let notes_at = transcript.as_deref().filter(|_| takes_notes);
        let notes_at = notes_at.and_then(NotesLocation::of_transcript);
        let edit_tool = notes::edit_tool(&prompt.tools);
        let cwd = self.cwd.unwrap_or_default();
        let transcript = transcript.unwrap_or_default();
        let shown = (!transcript.as_os_str().is_empty()).then(|| transcript.display().to_string());
        let identity = SessionIdentity {
            session_id: session_id.clone(),
            cwd: cwd.display().to_string(),
            version: self
                .version
                .unwrap_or_else(|| env!("CARGO_PKG_VERSION").to_owned()),
            git_branch: self.git_branch,
            agent: self.agent,
        };
        let window = window(&settings, &spec)?;
        let base = EngineConfig::new(identity, ModelSpec::clone(&spec), window, &settings);
        let config = EngineConfig {
            source,
            owner: settings.owner(),
            clearable: self.clearable.unwrap_or(base.clearable),
            cache_edits,
            pressure: if settings.native_clearing {
                PressureOwner::Providers
            } else {
                PressureOwner::Ours
            },
            summarizer: settings.summarizer,
            mode: if self.autonomous {
                CompactionMode::Autonomous
            } else {
                CompactionMode::Automatic
            },
            transcript: shown,
            recall_tool: self.recall_tool,
            compact_instructions: self.compact_instructions,
            summary_model,
            notes: notes_at.as_ref().map(|place| NotesConfig {
                settings: settings.notes,
                path: place.shown(),
                edit_tool,
                reach: place.reach(),
            }),
            preparation: if settings.background {
                SummaryTiming::Ahead
            } else {
                SummaryTiming::WhenFull
            },
            delivery: self.delivery.unwrap_or(match self.observer {
                Some(_) => ReplyDelivery::Streamed,
                None => ReplyDelivery::Whole,
            }),
            reduce: settings.reduce,
            economy: settings.economy,
            ..base
        };
        let lost = Arc::new(LostReplies::default());
        let hands = EffectRunner {
            model: Arc::new(AccountedModel::new(model, lost.clone())),
            lost,
            spec,
            workspace: self.workspace.unwrap_or_else(|| Arc::new(FileWorkspace)),
            hooks,
            observer: self.observer.unwrap_or_else(|| Arc::new(SilentObserver)),
            session_info: Arc::new(HookSessionInfo {
                session_id,
                transcript,
                cwd,
                overflow: self.hook_overflow,
                cache_breaks: (settings.cache_diff_dir.map(PathBuf::from)).or(cache_breaks),
            }),
            notes: notes_at.map(Arc::new),
            patience,
        };
        let mut engine = Engine::new(config, ids, head, resume);
        if settings.watch_small_models {
            engine = engine.watching_small_models();
        }
        let cancel = self.cancellation.unwrap_or_else(Cancellation::of_session);
        Ok(Session::new(engine, hands, running, clock, cancel))
    }

    /// Opens the session on a thread where blocking is allowed, so that reading a long transcript or a slow storage
    /// stops no other task of the runtime.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub async fn open_async(self) -> Result<Session, OpenError> {
        let opened = tokio::task::spawn_blocking(move || self.open()).await;
        opened.unwrap_or_else(|error| {
            let message = format!("the session could not be opened: {error}");
            Err(StorageError::Other(message).into())
        })
    }
}

/// The lease of a session. Where no lock is possible, the session is opened without one, because appends say more
/// clearly what is wrong with the folder.
pub(super) fn leased(transcript: &Path) -> Result<Option<Arc<Lease>>, SessionInUse> {
    match Lease::take(transcript) {
        Ok(lease) => Ok(Some(lease)),
        Err(LeaseError::InUse(in_use)) => Err(in_use),
        Err(error) => {
            if is_of_the_folder(&error) {
                tracing::debug!(%error, "the session is not locked against other processes");
            } else {
                tracing::warn!(%error, "the session is not locked against other processes");
            }
            Ok(None)
        }
    }
}

/// Whether nothing can be written in the folder of a session at all, which the first append reports.
fn is_of_the_folder(error: &LeaseError) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem};
    let LeaseError::NotTaken { source, .. } = error else {
        return false;
    };
    matches!(
        source.kind(),
        NotFound | PermissionDenied | NotADirectory | ReadOnlyFilesystem
    )
}

/// The thresholds of a model's window under the user's settings.
///
/// # Errors
/// Fails if the window of the model, or its cap in the settings, is too small to work in.
pub fn window(config: &Config, spec: &ModelSpec) -> Result<WindowStatus, WindowError> {
    let mut settings = config.window_settings();
    if config.switches.decide(SwitchableAction::Automatic) != SwitchVerdict::Allowed {
        settings.auto_compact = AutoCompact::Off;
    }
    WindowStatus::new(&WindowInput {
        window: spec.window,
        max_output: spec.max_output,
        used: 0,
        settings,
    })
}

/// The names of the tools that a prefix must have.
fn needed_tools(prefix: &RequestPrefix, is_optional: Option<&OptionalToolFn>) -> Vec<String> {
    let mut names = prefix.tool_names();
    names.retain(|name| !is_optional.is_some_and(|is_optional| is_optional(name)));
    names
}

/// A resumed conversation, and its request prefix: that of its last request, to the byte (Y2), unless the model or the
/// tools have changed.
fn resumed_with_prefix(
    resumed: &ResumedConversation,
    whole: impl FnOnce() -> Result<LoadedTranscript, OpenError>,
    wanted: RequestPrefix,
    may_keep: impl Fn(&RequestPrefix, &RequestPrefix) -> bool,
    config: &Config,
) -> Result<(EngineResume, RequestPrefix), OpenError> {
    let assembly = resumed.assembly();
    let before = assembly.as_ref().map(RequestAssembly::prefix);
    let (head, next_head) = match before.filter(|before| may_keep(before, &wanted)) {
        Some(before) => (before.clone(), Some(wanted)),
        None => (wanted, None),
    };
    let entries: Vec<LiveEntry> = resumed
        .entries
        .iter()
        .zip(&resumed.offsets)
        .map(|(entry, offset)| LiveEntry {
            entry: entry.clone(),
            offset: Some(*offset),
        })
        .collect();
    let resume = EngineResume {
        preserved: resumed.preserved.clone(),
        assembly,
        next_head,
        facts: Some(facts(resumed, config, whole)?),
        entries,
    };
    Ok((resume, head))
}

/// The facts of a resumed session, gathered from the view and its boundary. Where the boundary carries none, another
/// program wrote it, so the whole transcript is read, once.
pub(super) fn facts(
    resumed: &ResumedConversation,
    config: &Config,
    whole: impl FnOnce() -> Result<LoadedTranscript, OpenError>,
) -> Result<Facts, OpenError> {
    let vocabulary = Arc::new(config.vocabulary()?);
    let boundary = resumed.entries.first().map(Entry::view);
    let boundary = boundary.filter(|entry| entry.facets.subtype == Subtype::CompactBoundary);
    let is_told = boundary
        .is_none_or(|boundary| Facts::from_boundary(vocabulary.clone(), boundary).is_some());
    if is_told {
        return Ok(Facts::new(vocabulary));
    }
    let mut table = TranscriptTable::default();
    let mut entries = Vec::new();
    for line in whole()?.into_lines() {
        if let LoadedContent::Entry(entry) = line.content {
            table.push(line.number, line.offset, entry.view());
            entries.push(entry);
        }
    }
    let conversation = ResolvedConversation::resolve(&table, &mut Vec::new());
    let rows = longhaul_core::facts::session_rows(&table, &conversation);
    let views = rows.iter().map(|row| entries[*row as usize].view());
    Ok(Facts::scan(vocabulary, views))
}

fn name_of(path: &Path) -> Option<String> {
    Some(path.file_stem()?.to_string_lossy().into_owned())
}

/// An id for a new session.
pub fn new_session_id() -> String {
    UuidSequence::new(random_seed()).next_uuid()
}

/// A seed that no other session has.
pub(crate) fn random_seed() -> u128 {
    use std::hash::{BuildHasher, Hasher};
    // The standard library seeds its maps from the system; two of them make 128 bits.
    let word = || {
        std::collections::hash_map::RandomState::new()
            .build_hasher()
            .finish()
    };
    u128::from(word()) << 64 | u128::from(word())
}
