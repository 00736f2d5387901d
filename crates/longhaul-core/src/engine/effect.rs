//! What the engine asks the shell to do. Every effect has an id; its outcome comes back under that id, in any order.

use std::path::PathBuf;

use bytes::Bytes;

use super::event::Event;
use super::result::CallResult;
use crate::boundary::CompactionTrigger;
use crate::message::Entry;
use crate::notes::{NotesCaps, NotesProgress};
use crate::prompt::ConversationFork;
use crate::rehydrate::ReadFile;
use crate::window::QuerySource;

/// Names an effect whose outcome is awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EffectId(pub u64);

/// Something to be done.
#[derive(Debug)]
pub enum Effect {
    /// Append these lines to the transcript, in this order and as one unit, and say when they are safe on disk.
    Persist {
        /// Its id.
        id: EffectId,
        /// The lines, without line ends.
        lines: Vec<Bytes>,
    },
    /// Put these into the archive, and say when they are safe (X2). They are about to leave the window.
    Archive {
        /// Its id.
        id: EffectId,
        /// The entries that hold them, and those with the calls they answer.
        entries: Vec<Entry>,
        /// For a clearing: the results that go; none: the entries go whole.
        results: Option<Vec<String>>,
    },
    /// Ask the model for the conversation's next turn.
    Send {
        /// Its id.
        id: EffectId,
        /// The request.
        request: ModelRequest,
    },
    /// Ask a model for a summary.
    Summarize {
        /// Its id.
        id: EffectId,
        /// The request.
        request: ModelRequest,
        /// Whether a turn waits for it.
        urgency: Urgency,
    },
    /// Have the session's notes brought up to date by a forked agent, in the background (S3).
    TakeNotes {
        /// Its id.
        id: EffectId,
        /// What is needed for it.
        run: Box<NotesRun>,
    },
    /// Read the session's notes and how far they reach.
    ReadNotes {
        /// Its id.
        id: EffectId,
    },
    /// Gather what goes back into the window after a compaction (R), and the head that requests shall have from then on.
    Gather {
        /// Its id.
        id: EffectId,
        /// The files to read again, the newest first.
        files: Vec<ReadFile>,
        /// The plan file, memory files and the like must not be among them; the host may know better paths of these.
        kept: Vec<PathBuf>,
    },
    /// Run the hooks for an event of a compaction.
    RunHooks {
        /// Its id.
        id: EffectId,
        /// Which.
        call: CompactionHook,
        /// Whether a turn waits for it.
        urgency: Urgency,
    },
    /// Stop working on this effect. Its outcome is no longer awaited.
    Cancel {
        /// The effect.
        id: EffectId,
    },
    /// Tell whoever wants to know.
    Notify(Event),
    /// The host's call is over: this is what it came to.
    Finish(CallResult),
}

/// Whether somebody waits for an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// A turn or a compaction does.
    Awaited,
    /// Nobody does: it is performed beside whatever else goes on, and the conversation goes on meanwhile.
    Background,
}

/// One run of the agent that takes notes. The shell reads the file, asks with [`Prompt`](crate::notes::Prompt), judges
/// calls with [`Guard`](crate::notes::Guard), writes the file and then `reach`.
#[derive(Debug, Clone)]
pub struct NotesRun {
    /// The conversation to ask behind.
    pub fork: ConversationFork,
    /// Beta features to ask for.
    pub betas: Vec<String>,
    /// The parent's tool that edits files; none: the model answers with the sections that change.
    pub edit_tool: Option<String>,
    /// How large the notes may be.
    pub caps: NotesCaps,
    /// How far they reach when this run is done.
    pub reach: NotesProgress,
}

/// A request to a model.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// Who asks.
    pub source: QuerySource,
    /// The body, in slices.
    pub body: Vec<Bytes>,
    /// Beta features to ask for.
    pub betas: Vec<String>,
    /// Whether somebody waits for the answer: what the user stops is what the user waits for.
    pub urgency: Urgency,
}

/// Hooks that a compaction runs (K1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompactionHook {
    /// Before it: may add instructions or block.
    PreCompact {
        /// Who set it off.
        trigger: CompactionTrigger,
        /// What the user asked for.
        instructions: Option<String>,
    },
    /// A session starts anew behind a summary.
    SessionStart,
    /// After it.
    PostCompact {
        /// Who set it off.
        trigger: CompactionTrigger,
        /// The summary.
        summary: String,
    },
}
