//! What the engine asks the shell to do. Every effect has an id; its outcome comes back under that id, in any order.

use std::path::PathBuf;

use bytes::Bytes;

use super::event::Event;
use crate::message::Entry;
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
        request: Outgoing,
    },
    /// Ask a model for a summary.
    Summarize {
        /// Its id.
        id: EffectId,
        /// The request.
        request: Outgoing,
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
        call: HookCall,
    },
    /// Stop working on this effect. Its outcome is no longer awaited.
    Cancel {
        /// The effect.
        id: EffectId,
    },
    /// Tell whoever wants to know.
    Notify(Event),
}

/// A request to a model.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// Who asks.
    pub source: QuerySource,
    /// The body, in slices.
    pub body: Vec<Bytes>,
    /// Beta features to ask for.
    pub betas: Vec<String>,
}

/// Hooks that a compaction runs (K1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookCall {
    /// Before it: may add instructions or block.
    PreCompact {
        /// `manual` or `auto`.
        trigger: &'static str,
        /// What the user asked for.
        instructions: Option<String>,
    },
    /// A session starts anew behind a summary.
    SessionStart,
    /// After it.
    PostCompact {
        /// `manual` or `auto`.
        trigger: &'static str,
        /// The summary.
        summary: String,
    },
}
