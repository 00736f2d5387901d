//! The seam to whoever owns the conversation: what a screen asks for, and what it gets back.
//!
//! A screen never holds an agent. It asks, goes on drawing, and shows the answer when it comes; what happens meanwhile
//! arrives as [`AgentEvent`](crate::event::AgentEvent)s.

use jiff::Timestamp;
use longhaul::Boxed;
use longhaul_core::engine::{Pivot, PreviewedSummary};
use longhaul_core::inspect::Categories;
use longhaul_core::message::Usage;
use longhaul_core::money::Usd;
use longhaul_core::window::WindowStatus;
use tokio::sync::oneshot;

use crate::event::ApprovalMode;

/// Who answers a screen.
///
/// An implementer returns from [`Host::ask`] at once and answers through the ask's [`Reply`]. What changes the
/// conversation is done one at a time, in the order of the asks; what only looks is answered meanwhile, too, so that
/// the transcript can be read while the model works. A reply that is dropped counts as a refusal.
pub trait ScreenHost: Send + 'static {
    /// Takes a request.
    fn ask(&self, ask: HostRequest);

    /// Stops what is going on: a turn, a call, a compaction. Nothing happens if nothing does.
    fn cancel(&self);

    /// From now on this may run unasked.
    fn set_mode(&self, mode: ApprovalMode);

    /// The screen is going away: what runs ends, what must be kept is on disk when this returns.
    fn finish(&self) -> Boxed<'_, ()>;
}

/// Takes the answer to an ask.
pub type Reply<T> = oneshot::Sender<Result<T, HostRefusal>>;

/// Why something was not done, for people, with what to do instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct HostRefusal(pub String);

/// Something that a screen asks for.
#[derive(Debug)]
pub enum HostRequest {
    /// Work on this. Answered when the work ended, however it did; how is an event.
    Prompt(String, Reply<()>),
    /// Work on a command that the user wrote, with what was typed behind its name.
    Command {
        /// Its name, without the slash.
        name: String,
        /// The rest of the line.
        arguments: String,
        /// Answered as a prompt is.
        reply: Reply<()>,
    },
    /// Compact.
    Compact(CompactionRequest, Reply<CompactionReply>),
    /// Go back to before this message. The answer is its text, to be said better.
    Rewind(String, Reply<Option<String>>),
    /// Take the newest compaction back. The answer says what was done.
    UndoCompaction(Reply<String>),
    /// Go on with another session.
    Resume(String, Reply<()>),
    /// Begin a new session.
    Clear(Reply<()>),
    /// Ask this model from now on.
    SwitchModel(String, Reply<()>),
    /// Sessions that can be resumed, newest first.
    Sessions(Reply<Vec<SessionItem>>),
    /// Models that can be asked.
    Models(Reply<Vec<ModelItem>>),
    /// What fills the window.
    Context(Reply<Box<ContextView>>),
    /// Messages that can be gone back to, oldest first.
    Messages(Reply<Vec<MessageItem>>),
    /// The whole conversation: entries for the transcript alone are in it, meta entries are not.
    Transcript(Reply<Vec<TranscriptItem>>),
    /// What a compaction lost, in words; none: the newest.
    Report(Option<String>, Reply<String>),
    /// The session's notes.
    Notes(Reply<String>),
    /// Hooks that are set up.
    Hooks(Reply<Vec<HookItem>>),
    /// What was spent on what.
    Cost(Reply<CostView>),
    /// Commands that the user wrote.
    Commands(Reply<Vec<CommandItem>>),
}

/// How to compact.
#[derive(Debug, Clone, Default)]
pub struct CompactionRequest {
    /// What the summary shall heed.
    pub instructions: Option<String>,
    /// One side of a message alone.
    pub pivot: Option<Pivot>,
    /// Keep this many of the newest messages as they are.
    pub keep: Option<usize>,
    /// Stop when the summary is there and show it, or go through with it.
    pub step: CompactionStep,
}

/// How far a compaction goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CompactionStep {
    /// To a summary that can be looked at.
    #[default]
    Preview,
    /// To its end, with a summary that was approved.
    Approved(String),
}

/// What a compaction came to.
#[derive(Debug)]
pub enum CompactionReply {
    /// It is done; the event has told how.
    Done,
    /// A summary waits for approval.
    Preview(Box<PreviewedSummary>),
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionItem {
    /// Its id.
    pub id: String,
    /// Its title, or the first thing that was said.
    pub title: String,
    /// When something was last added.
    pub modified: Option<Timestamp>,
    /// How many messages are in it.
    pub messages: u64,
    /// The branch it was on.
    pub branch: Option<String>,
}

/// A model in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelItem {
    /// Its id.
    pub id: String,
    /// What there is to say about it: window, price.
    pub about: String,
    /// Whether it is asked now.
    pub current: bool,
}

/// What fills the window.
#[derive(Debug, Clone)]
pub struct ContextView {
    /// The model.
    pub model: String,
    /// By category.
    pub categories: Categories,
    /// The window and its limits.
    pub status: WindowStatus,
}

/// A message that can be gone back to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageItem {
    /// Its entry.
    pub uuid: String,
    /// Who said it.
    pub who: MessageAuthor,
    /// Its first line.
    pub line: String,
    /// When.
    pub at: Option<Timestamp>,
    /// Its size.
    pub tokens: u64,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageAuthor {
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// An entry of the transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptItem {
    /// What it is.
    pub kind: TranscriptKind,
    /// Its text, whole.
    pub text: String,
    /// When.
    pub at: Option<Timestamp>,
}

/// What an entry of the transcript is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TranscriptKind {
    /// The user said it.
    User,
    /// The model said it.
    Assistant,
    /// The model thought it.
    Thinking,
    /// A call; the text is its input.
    Call {
        /// The tool.
        name: String,
        /// The call in one line.
        line: String,
    },
    /// What a call came to.
    Result {
        /// Whether it failed.
        is_error: bool,
    },
    /// A compaction; the text is its report.
    Boundary,
    /// The summary that stands for what was compacted.
    Summary,
    /// Something that was put into the window beside what was said.
    Attachment(String),
    /// Something people were told.
    Notice,
}

/// A hook in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookItem {
    /// When it runs.
    pub event: String,
    /// For which of them; empty: all.
    pub matcher: String,
    /// What runs.
    pub command: String,
    /// Where it is written down.
    pub source: String,
}

/// What was spent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CostView {
    /// On what, how much.
    pub lines: Vec<CostLine>,
    /// All of it; none if a price is not known.
    pub total: Option<Usd>,
    /// The share of prompts that came from the cache, 0 to 1.
    pub cache_hit_rate: Option<f64>,
}

/// One part of what was spent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CostLine {
    /// On what: a model, sub-agents, summaries.
    pub name: String,
    /// Tokens.
    pub usage: Usage,
    /// Their price, where it is known.
    pub cost: Option<Usd>,
}

/// A command that the user wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandItem {
    /// Its name, without the slash.
    pub name: String,
    /// What it does.
    pub description: String,
}
