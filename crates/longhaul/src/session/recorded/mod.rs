//! A recording: a transcript that is compacted or inspected, without continuing the conversation.
//!
//! Another program may have written it, so it is taken as it is: its author is read from its lines, no prefix entry is
//! added where it has none (M7), and files are only read again below the folder that it was recorded in. To continue a
//! conversation, use [`Session::builder`]; to take a compaction back, [`crate::undo()`].

mod folder;
mod identity;
mod in_memory;
mod pivot;
mod request_prefix;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use longhaul_core::config::Config;
use longhaul_core::engine::{
    CompactRequest, Engine, EngineConfig, EngineResume, LiveEntry, PrefixRecording, SummaryModel,
    UuidSequence,
};
use longhaul_core::models::{ModelSpec, ModelTable};
use longhaul_core::prompt::RequestPrefix;
use longhaul_core::summary::message::CompactionMode;
use longhaul_core::window::WindowStatus;
use longhaul_provider::{CancellationToken, Error, ErrorClass, Reply};
use longhaul_store::{Env, ReadError, ResumedConversation, load, newest_model, resume};

use super::cancellation::Cancellation;
use super::effect_runner::{EffectRunner, HookSessionInfo};
use super::open::{facts, leased, random_seed, window};
use super::open_error::OpenError;
use super::running_effects::RunningEffects;
use super::{CompactError, CompactOutcome, Observer, Session};
use crate::clock::SystemClock;
use crate::hooks::HookSet;
use crate::model::{Boxed, Model, OnStream};
use crate::storage::{FileStorage, MemoryStorage, Storage};
use folder::RecordedFolder;
pub(crate) use identity::identity;
pub use in_memory::InMemoryConversation;
pub use pivot::PivotError;

/// The model name for a recording that names none: nothing is known about such a model.
pub(crate) const NO_MODEL: &str = "unknown";

/// A transcript as it was recorded.
#[derive(Debug)]
pub struct RecordedTranscript {
    path: PathBuf,
    /// The end of the file when it was read.
    end: u64,
    resumed: ResumedConversation,
    /// The model of the newest reply in the file, where no reply is in view.
    earlier_model: Option<String>,
}

/// The model that is asked for a summary.
pub struct SummaryProvider {
    /// The client that answers requests.
    pub model: Arc<dyn Model>,
    /// The model's id; with none, the model that the conversation was held with.
    pub id: Option<String>,
}

/// Where a compaction's lines go.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum CompactionTarget {
    /// Nowhere: nothing is written.
    Nowhere,
    /// They are appended to the recording.
    Appended {
        /// The archive that entries go to before they leave the view.
        archive: PathBuf,
        /// The path under which the recording will be found, if that is not the path it was read from.
        known_as: PathBuf,
    },
}

/// The options for working on a recording.
pub struct RecordingOptions {
    /// Settings: switches, thresholds.
    pub config: Config,
    /// The known models.
    pub models: ModelTable,
    /// The model that is asked for summaries, if any.
    pub asked: Option<SummaryProvider>,
    /// Where lines go.
    pub keep: CompactionTarget,
    /// The observer of the session.
    pub observer: Arc<dyn Observer>,
    /// The user's folders, to read what memory files say about compactions (F4); with none, no memory files are read.
    pub env: Option<Env>,
}

impl RecordedTranscript {
    /// Reads a transcript: of a long one only the end that is still in view, and the rest once if none of its
    /// compactions carries what the user said before.
    ///
    /// # Errors
    /// Fails if the transcript cannot be read.
    pub fn read(path: &Path) -> Result<Self, OpenError> {
        let size = std::fs::metadata(path).map(|metadata| metadata.len());
        let end = size.map_err(|source| ReadError {
            path: path.to_owned(),
            source,
        })?;
        let resumed = resume(path)?;
        let mut replies = resumed.entries.iter().map(|entry| entry.facets());
        // After a compaction of everything no reply is in view, but the file still names the model.
        let told = resumed.request_prefix.is_some()
            || replies.any(|facets| facets.is_reply() && facets.model.is_present());
        let earlier_model = if told || resumed.entries.is_empty() {
            None
        } else {
            newest_model(path)?
        };
        Ok(Self {
            path: path.to_owned(),
            end,
            resumed,
            earlier_model,
        })
    }

    /// Whether no entry is in view.
    pub fn is_empty(&self) -> bool {
        self.resumed.entries.is_empty()
    }

    /// Damaged lines in the part that was read; they are ignored.
    pub fn damaged(&self) -> usize {
        self.resumed.damaged
    }

    /// The model that the conversation was held with: that of its request prefix, otherwise that of the newest reply.
    pub fn model(&self) -> Option<String> {
        let head = self
            .request_prefix()
            .and_then(|head| Some(head.model()?.into_owned()));
        head.or_else(|| {
            let entries = self.resumed.entries.iter().rev().map(|entry| entry.view());
            let mut replies = entries.filter(|entry| entry.facets.is_reply());
            replies.find_map(|entry| {
                let model = entry.facets.model;
                model.is_present().then(|| entry.text(model).into_owned())
            })
        })
        .or_else(|| self.earlier_model.clone())
    }

    /// The recorded request prefix, if there is one.
    fn request_prefix(&self) -> Option<RequestPrefix> {
        Some(self.resumed.replay()?.ok()?.prefix)
    }

    /// Opens the recording for a compaction. To continue the conversation, use [`Session::builder`] with a prompt and a
    /// model.
    ///
    /// # Errors
    /// Fails if the target cannot be written, if the settings cannot be used, and if the window is too small.
    pub fn open(self, around: RecordingOptions) -> Result<RecordedSession, OpenError> {
        let own_model = self.model().or_else(|| around.config.model.clone());
        let own_model = own_model.unwrap_or_else(|| NO_MODEL.to_owned());
        let spec = around.models.resolve(&own_model).spec;
        let own_head = self.request_prefix();
        let (model, summary_model) = asked(around.asked, &own_model, own_head.is_some(), |id| {
            ModelSpec::clone(&around.models.resolve(id).spec)
        });
        let facts = facts(&self.resumed, &around.config, || Ok(load(&self.path)?))?;
        let mut ids = UuidSequence::new(random_seed());
        let identity = identity(&self.resumed.entries, &self.path, &mut ids);
        let lease = match &around.keep {
            CompactionTarget::Appended { known_as, .. } if *known_as == self.path => {
                leased(&self.path)?
            }
            _ => None,
        };
        let (storage, known_as): (Arc<dyn Storage>, _) = match around.keep {
            CompactionTarget::Nowhere => (Arc::new(MemoryStorage::new()), self.path.clone()),
            CompactionTarget::Appended { archive, known_as } => {
                let file = FileStorage::open(&self.path)?;
                let file = file.with_archive_of(archive, known_as.clone())?;
                (Arc::new(file.only_after(self.end)), known_as)
            }
        };
        let (heads, head, assembly) = match own_head {
            Some(head) => (PrefixRecording::Written, head, self.resumed.assembly()),
            None => (
                PrefixRecording::Unknown,
                request_prefix::bare(&self.resumed.entries, &spec)?,
                None,
            ),
        };
        let cwd = PathBuf::from(&identity.cwd);
        let about = HookSessionInfo {
            session_id: identity.session_id.clone(),
            transcript: known_as.clone(),
            cwd: cwd.clone(),
            ..HookSessionInfo::default()
        };
        let window = window(&around.config, &spec)?;
        let base = EngineConfig::new(identity, ModelSpec::clone(&spec), window, &around.config);
        let config = EngineConfig {
            mode: CompactionMode::Manual,
            transcript: Some(known_as.display().to_string()),
            prefixes: heads,
            summary_model,
            ..base
        };
        let resume = EngineResume {
            preserved: self.resumed.preserved,
            assembly,
            next_head: None,
            facts: Some(facts),
            entries: placed(self.resumed.entries, self.resumed.offsets),
        };
        let hands = EffectRunner {
            model,
            lost: Arc::default(),
            spec,
            workspace: Arc::new(RecordedFolder::at(&cwd, around.env.as_ref())),
            hooks: Arc::new(HookSet::new()),
            observer: around.observer,
            session_info: Arc::new(about),
            notes: None,
            patience: std::time::Duration::ZERO,
        };
        let engine = Engine::new(config, ids, head, resume).without_lost_replies();
        let clock = Arc::new(SystemClock);
        let cancel = Cancellation::of_session();
        let running = RunningEffects::new(storage, self.end, lease);
        let session = Session::new(engine, hands, running, clock, cancel);
        Ok(RecordedSession::of(session))
    }
}

/// An open recorded conversation. Unlike a [`Session`] it cannot add messages or take turns: it has no prompt to continue
/// with, and usually no place to write replies to.
pub struct RecordedSession(Session);

impl RecordedSession {
    fn of(session: Session) -> Self {
        Self(session)
    }

    /// Compacts the conversation.
    ///
    /// # Errors
    /// Fails if there is nothing to compact, if no summary can be had, and if it cannot be written. The conversation is
    /// then as it was.
    pub async fn compact(
        &mut self,
        request: CompactRequest,
    ) -> Result<CompactOutcome, CompactError> {
        self.0.compact(request).await
    }

    /// Ends the current compaction, or the next one before it begins, when the token is cancelled.
    pub fn canceller(&self) -> CancellationToken {
        self.0.canceller()
    }

    /// Records that a file was read in another way than by a call of `Read`: it may be restored to the window.
    pub fn note_read(&mut self, path: PathBuf, at: Timestamp) {
        self.0.engine_mut().read_files_mut().read(path, at);
    }

    /// The current state of the window.
    pub fn status(&self) -> WindowStatus {
        self.0.status()
    }

    /// The engine: the conversation, its facts, its rendering.
    pub fn engine(&self) -> &Engine {
        self.0.engine()
    }
}

fn placed(entries: Vec<longhaul_core::message::Entry>, offsets: Vec<u64>) -> Vec<LiveEntry> {
    let placed = entries.into_iter().zip(offsets);
    placed
        .map(|(entry, offset)| LiveEntry {
            entry,
            offset: Some(offset),
        })
        .collect()
}

/// The client, and the model to ask if it is not the conversation's own model with its own request prefix.
fn asked(
    asked: Option<SummaryProvider>,
    own: &str,
    has_head: bool,
    spec: impl Fn(&str) -> ModelSpec,
) -> (Arc<dyn Model>, Option<SummaryModel>) {
    let Some(asked) = asked else {
        return (Arc::new(AbsentModel), None);
    };
    let id = asked.id.unwrap_or_else(|| own.to_owned());
    let other = (!has_head || id != own).then(|| SummaryModel {
        spec: spec(&id),
        id,
    });
    (asked.model, other)
}

/// Stands in where there is no model.
#[derive(Debug, Clone, Copy, Default)]
struct AbsentModel;

impl Model for AbsentModel {
    fn send<'a>(
        &'a self,
        _: longhaul_core::engine::ModelRequest,
        _: OnStream<'a>,
        _: CancellationToken,
    ) -> Boxed<'a, Result<Reply, Error>> {
        let error = Error::new(ErrorClass::Invalid, "there is no model to ask");
        Box::pin(async { Err(error) })
    }
}
