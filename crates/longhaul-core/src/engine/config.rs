//! What an engine is told once.

use crate::boundary::{LineEnvelope, LineThread};
use crate::config::{Config, SummarizerSetting};
use crate::micro::{ClearableTools, MicroLimits, PressureOwner};
use crate::models::ModelSpec;
use crate::notes::{NotesProgress, NotesSettings};
use crate::report::OriginalsLocation;
use crate::summary::message::CompactionMode;
use crate::window::{QuerySource, Switches, WindowOwner, WindowStatus};

/// Who writes: what every line of the session carries.
#[derive(Debug, Clone, Default)]
pub struct SessionIdentity {
    /// The session.
    pub session_id: String,
    /// The folder it works in.
    pub cwd: String,
    /// The version of the program that writes.
    pub version: String,
    /// The branch that is checked out, if it is known.
    pub git_branch: Option<String>,
    /// For a sub-agent's conversation inside another's file: its id.
    pub agent: Option<String>,
}

impl SessionIdentity {
    /// What its lines carry.
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

/// What decisions depend on beside the conversation.
#[derive(Debug, Clone)]
pub struct EngineConfig {
    /// Who writes.
    pub identity: SessionIdentity,
    /// Who asks.
    pub source: QuerySource,
    /// Who owns the window.
    pub owner: WindowOwner,
    /// What the user switched off.
    pub switches: Switches,
    /// The window with its thresholds; what is used of it is the engine's business.
    pub window: WindowStatus,
    /// The model that requests go to.
    pub model: ModelSpec,
    /// Tools whose results may be cleared.
    pub clearable: ClearableTools,
    /// When they are cleared, and how many stay.
    pub micro: MicroLimits,
    /// Whether the provider takes cache edits by reference (N4).
    pub cache_edits: CacheEditSupport,
    /// Who clears old results when the window fills up.
    pub pressure: PressureOwner,
    /// Who sums up (N3).
    pub summariser: SummarizerSetting,
    /// How the model is told to go on after an automatic compaction.
    pub mode: CompactionMode,
    /// The path of the transcript, for the model to look things up in.
    pub transcript: Option<String>,
    /// The name of the recall tool, if the model has it.
    pub recall_tool: Option<String>,
    /// What the project's memory file says about compactions (F4).
    pub compact_instructions: Option<String>,
    /// Whether heads of requests are part of the transcript.
    pub heads: PrefixRecording,
    /// Another model than the conversation's own that is asked for summaries, by plain requests (F7).
    pub summary_model: Option<SummaryModel>,
    /// Session notes; none if there is no place for them.
    pub notes: Option<NotesConfig>,
    /// When summaries are asked for.
    pub preparation: SummaryTiming,
    /// How replies reach the user.
    pub delivery: ReplyDelivery,
    /// Who has what has left the window.
    pub originals: OriginalsLocation,
}

impl EngineConfig {
    /// A conversation with a model under these settings, of which nothing else is known. A host sets what it knows better.
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
            summariser: SummarizerSetting::default(),
            mode: CompactionMode::Automatic,
            transcript: None,
            recall_tool: None,
            compact_instructions: None,
            heads: PrefixRecording::Written,
            summary_model: None,
            notes: None,
            preparation: SummaryTiming::WhenFull,
            delivery: ReplyDelivery::default(),
            originals: OriginalsLocation::default(),
        }
    }
}

/// How replies reach the user: what has been seen cannot be taken back (O3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReplyDelivery {
    /// As they come. A reply that ran out of room stands, and the next request is made smaller first.
    #[default]
    Streamed,
    /// Only when they are whole. A reply that ran out of room is withheld, and the turn tried again in a smaller window.
    Whole,
}

/// Where and when notes are taken (S).
#[derive(Debug, Clone)]
pub struct NotesConfig {
    /// When.
    pub settings: NotesSettings,
    /// The file, as the model is told.
    pub path: String,
    /// The parent's tool that edits files, if it has one.
    pub edit_tool: Option<String>,
    /// How far they reach, where there are some.
    pub reach: Option<NotesProgress>,
}

/// When a summary is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SummaryTiming {
    /// When the window is full: the conversation waits for it.
    WhenFull,
    /// Ahead of that, while the conversation goes on (X5).
    #[default]
    Ahead,
}

/// Whether heads of requests are written (M7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrefixRecording {
    /// They are: the conversation goes on here.
    Written,
    /// They are not: it was recorded elsewhere and no turn of it is asked for here. Summaries are asked for by plain
    /// requests.
    Unwritten,
    /// They are not, and nobody knows what stood before the messages: another program recorded the conversation. What a
    /// reply measured there includes it; the view is judged by its own estimate.
    Unknown,
}

/// A model for summaries alone.
#[derive(Debug, Clone)]
pub struct SummaryModel {
    /// Its id, as requests name it.
    pub id: String,
    /// What is known of it.
    pub spec: ModelSpec,
}

/// Whether the provider can drop results from its cache by reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheEditSupport {
    /// It says so.
    Supported,
    /// It does not.
    Unsupported,
}
