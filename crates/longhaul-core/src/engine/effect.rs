//! The effects that the engine asks the caller to perform. Every effect has an id; its outcome comes back under that
//! id, in any order.

use std::path::PathBuf;

use bytes::Bytes;
use serde_json::Value;

use super::effect_id::EffectId;
use super::event::Event;
use super::result::CallResult;
use crate::boundary::CompactionTrigger;
use crate::message::Entry;
use crate::notes::{NotesCaps, NotesProgress};
use crate::prompt::ConversationFork;
use crate::rehydrate::ReadFile;
use crate::window::QuerySource;

/// Something for the caller to do.
#[derive(Debug)]
pub enum Effect {
    /// Append these lines to the transcript, in this order and as one unit, and report when they are safe on disk.
    Persist {
        /// The id of the effect.
        id: EffectId,
        /// The lines, without line ends.
        lines: Vec<Bytes>,
    },
    /// Put these entries into the archive, and report when they are safe (X2). They are about to leave the window.
    Archive {
        /// The id of the effect.
        id: EffectId,
        /// The entries with the results, and those with the calls they answer.
        entries: Vec<Entry>,
        /// For a clearing: the results that go. `None` if whole entries go.
        results: Option<Vec<String>>,
    },
    /// Ask the model for the conversation's next turn.
    Send {
        /// The id of the effect.
        id: EffectId,
        /// The request.
        request: ModelRequest,
    },
    /// Ask a model for a summary.
    Summarize {
        /// The id of the effect.
        id: EffectId,
        /// The request.
        request: ModelRequest,
        /// Whether a turn waits for the summary.
        urgency: Urgency,
    },
    /// Have a forked agent update the session's notes in the background (S3).
    TakeNotes {
        /// The id of the effect.
        id: EffectId,
        /// The details of the run.
        run: Box<NotesRun>,
    },
    /// Read the session's notes and their progress.
    ReadNotes {
        /// The id of the effect.
        id: EffectId,
    },
    /// Gather the context to restore after a compaction (R), and the request prefix for the requests from then on.
    Gather {
        /// The id of the effect.
        id: EffectId,
        /// The files to read again, the newest first.
        files: Vec<ReadFile>,
        /// The files that the kept part read, which must not be restored. Neither must the plan file, memory files and
        /// the like; the host may know better paths for these.
        kept: Vec<PathBuf>,
    },
    /// Run the hooks for an event of a compaction.
    RunHooks {
        /// The id of the effect.
        id: EffectId,
        /// The hooks to run.
        call: CompactionHook,
        /// Whether a turn waits for the hooks.
        urgency: Urgency,
    },
    /// Stop working on this effect. Its outcome is no longer awaited.
    Cancel {
        /// The effect to cancel.
        id: EffectId,
    },
    /// Report an event to the host.
    Notify(Event),
    /// The host's call is over, with this result.
    Finish(CallResult),
}

/// Whether anyone waits for an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// A turn or a compaction waits.
    Awaited,
    /// Nobody waits: the effect is performed in the background while the conversation goes on.
    Background,
}

/// One run of the agent that takes notes. The caller reads the file, asks with
/// [`NotesPrompt`](crate::notes::NotesPrompt), judges calls with [`NotesGuard`](crate::notes::NotesGuard), writes the
/// file and then `reach`.
#[derive(Debug, Clone)]
pub struct NotesRun {
    /// The conversation after which the agent asks.
    pub fork: ConversationFork,
    /// The beta features of the request.
    pub betas: Vec<String>,
    /// The parent's tool that edits files. `None` if the model answers with the changed sections.
    pub edit_tool: Option<String>,
    /// How large the notes may be.
    pub caps: NotesCaps,
    /// The progress of the notes when this run is done.
    pub reach: NotesProgress,
}

/// A request to a model.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// The query source of the request.
    pub source: QuerySource,
    /// The body, in slices.
    pub body: Vec<Bytes>,
    /// The beta features of the request.
    pub betas: Vec<String>,
    /// Whether anyone waits for the answer: the user can stop only what they wait for.
    pub urgency: Urgency,
}

impl ModelRequest {
    /// Parses the body, for models that look into requests. What is sent is [`ModelRequest::body`] itself, byte for
    /// byte.
    ///
    /// # Errors
    /// Fails if the body is not JSON, which is a bug.
    pub fn body_value(&self) -> Result<Value, serde_json::Error> {
        serde_json::from_slice(&self.body.concat())
    }
}

/// Hooks that a compaction runs (K1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompactionHook {
    /// Hooks before a compaction: they may add instructions or block it.
    PreCompact {
        /// Who triggered the compaction.
        trigger: CompactionTrigger,
        /// The user's instructions.
        instructions: Option<String>,
    },
    /// Hooks for a session that starts again after a summary.
    SessionStart,
    /// Hooks after a compaction.
    PostCompact {
        /// Who triggered the compaction.
        trigger: CompactionTrigger,
        /// The summary.
        summary: String,
    },
}
