//! The engine's fixed configuration.

use crate::boundary::{LineEnvelope, LineThread};
use crate::config::{Config, ResultReduction, SummarizerSetting};
use crate::economy::EconomyPolicy;
use crate::micro::{ClearableTools, MicroLimits, PressureOwner};
use crate::models::ModelSpec;
use crate::notes::{NotesProgress, NotesSettings};
use crate::report::OriginalsLocation;
use crate::summary::message::CompactionMode;
use crate::window::{QuerySource, Switches, WindowOwner, WindowStatus};

/// The fields that every line of the session carries.
#[derive(Debug, Clone, Default)]
pub struct SessionIdentity {
    /// The session.
    pub session_id: String,
    /// The working directory.
    pub cwd: String,
    /// The version of the program that writes the lines.
    pub version: String,
    /// The git branch that is checked out, if it is known.
    pub git_branch: Option<String>,
    /// The sub-agent's id, for a sub-agent's conversation inside another's file.
    pub agent: Option<String>,
}

impl SessionIdentity {
    /// The fields that the session's lines carry.
    pub fn envelope(&self) -> LineEnvelope<'_> {
        LineEnvelope {
            thread: self
                .agent
                .as_deref()
                .map_or(LineThread::Main, LineThread::Agent),
            cwd: &self.cwd,
            session_id: &self.session_id,
            version: &self.version,
            git_branch: self.git_branch.as_deref(),
        }
    }
}

/// Everything besides the conversation that decisions depend on.
#[derive(Debug, Clone)]
pub struct EngineConfig {
    /// The identity that the lines carry.
    pub identity: SessionIdentity,
    /// The query source of the conversation.
    pub source: QuerySource,
    /// Who owns the window.
    pub owner: WindowOwner,
    /// The kinds of compaction that the user allows.
    pub switches: Switches,
    /// The window with its thresholds; the engine tracks how much of it is used.
    pub window: WindowStatus,
    /// The model that requests go to.
    pub model: ModelSpec,
    /// Tools whose results may be cleared.
    pub clearable: ClearableTools,
    /// When results are cleared, and how many stay.
    pub micro: MicroLimits,
    /// Whether the provider supports cache edits by reference (N4).
    pub cache_edits: CacheEditSupport,
    /// Who clears old results when the window fills up.
    pub pressure: PressureOwner,
    /// Who writes summaries (N3).
    pub summarizer: SummarizerSetting,
    /// How the model is told to go on after an automatic compaction.
    pub mode: CompactionMode,
    /// The path of the transcript, for the model to look things up in.
    pub transcript: Option<String>,
    /// The name of the recall tool, if the model has it.
    pub recall_tool: Option<String>,
    /// The project's compaction instructions from its memory file (F4).
    pub compact_instructions: Option<String>,
    /// Whether request prefixes are part of the transcript.
    pub prefixes: PrefixRecording,
    /// Another model that writes summaries in place of the conversation's own, by plain requests (F7).
    pub summary_model: Option<SummaryModel>,
    /// The configuration of session notes. `None` if there is no place for them.
    pub notes: Option<NotesConfig>,
    /// When summaries are requested.
    pub preparation: SummaryTiming,
    /// How replies reach the user.
    pub delivery: ReplyDelivery,
    /// Where the originals are that have left the window.
    pub originals: OriginalsLocation,
    /// Which new results are made smaller before they are first sent (V8).
    pub reduce: ResultReduction,
    /// Which actions are decided by price from the first request on (V5). Where nothing is, thresholds alone decide.
    pub economy: EconomyPolicy,
}

impl EngineConfig {
    /// The configuration for a model and these settings, with defaults for everything else. A host overrides what it
    /// knows better.
    pub fn new(
        identity: SessionIdentity,
        model: ModelSpec,
        window: WindowStatus,
        settings: &Config,
    ) -> Self {
        Self {
            identity,
            source: QuerySource::SDK,
            owner: WindowOwner::Proactive,
            switches: settings.switches,
            window,
            model,
            clearable: settings.clearable(),
            micro: settings.micro,
            cache_edits: CacheEditSupport::Unsupported,
            pressure: PressureOwner::default(),
            summarizer: SummarizerSetting::default(),
            mode: CompactionMode::Automatic,
            transcript: None,
            recall_tool: None,
            compact_instructions: None,
            prefixes: PrefixRecording::Written,
            summary_model: None,
            notes: None,
            preparation: SummaryTiming::WhenFull,
            delivery: ReplyDelivery::default(),
            originals: OriginalsLocation::default(),
            reduce: ResultReduction::Off,
            economy: EconomyPolicy::Off,
        }
    }
}

/// How replies reach the user: a reply that the user has seen cannot be taken back (O3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReplyDelivery {
    /// Replies are shown as they arrive. A reply that ran out of room stays, and the next request is made smaller
    /// first.
    #[default]
    Streamed,
    /// Replies are shown only when they are complete. A reply that ran out of room is withheld, and the turn is tried
    /// again in a smaller window.
    Whole,
}

/// Where and when notes are taken (S).
#[derive(Debug, Clone)]
pub struct NotesConfig {
    /// When notes are taken.
    pub settings: NotesSettings,
    /// The path of the file, as the model is told.
    pub path: String,
    /// The parent's tool that edits files, if it has one.
    pub edit_tool: Option<String>,
    /// The existing notes' progress, if there are any.
    pub reach: Option<NotesProgress>,
}

/// When a summary is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SummaryTiming {
    /// The summary is requested when the window is full, and the conversation waits for it.
    WhenFull,
    /// The summary is requested before the window is full, while the conversation goes on (X5).
    #[default]
    Ahead,
}

/// Whether request prefixes are written (M7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrefixRecording {
    /// Request prefixes are written: the conversation goes on here.
    Written,
    /// Request prefixes are not written: the conversation was recorded elsewhere, and none of its turns is requested
    /// here. Summaries are requested by plain requests.
    Unwritten,
    /// Request prefixes are not written, and are not known: another program recorded the conversation. A reply's
    /// measurement there includes the prefix; the view is judged by its own estimate.
    Unknown,
}

/// A model that only writes summaries.
#[derive(Debug, Clone)]
pub struct SummaryModel {
    /// The model's id, as requests name it.
    pub id: String,
    /// The known facts about the model.
    pub spec: ModelSpec,
}

/// Whether the provider can drop results from its cache by reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheEditSupport {
    /// The provider supports cache edits.
    Supported,
    /// The provider does not support cache edits.
    Unsupported,
}
