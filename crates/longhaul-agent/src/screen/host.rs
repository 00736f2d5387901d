//! The interface to the owner of the conversation: what a screen asks for, and what it gets back.
//!
//! A screen never holds an agent. It asks, continues to draw, and shows the answer when it arrives; events arrive as
//! [`AgentEvent`](crate::event::AgentEvent)s in the meantime.

use jiff::Timestamp;
use longhaul::Boxed;
use longhaul_core::economy::EconomyPolicy;
use longhaul_core::engine::{Pivot, PreviewedSummary};
use longhaul_core::inspect::{Categories, EconomyReport};
use longhaul_core::message::Usage;
use longhaul_core::money::Usd;
use longhaul_core::tokens::calibrated::CalibratedEstimate;
use longhaul_core::window::WindowStatus;
use tokio::sync::oneshot;

use crate::effort::EffortSetting;
use crate::event::ApprovalMode;
use crate::files::{ConflictPolicy, RestorableState};
use crate::picture::Picture;
use crate::simulated_model::ModelBackend;

/// Answers the requests of a screen.
///
/// An implementation returns from [`ScreenHost::ask`] at once and answers through the request's [`ReplySender`]. Requests
/// that change the conversation are performed one at a time, in their order; read-only requests are answered in the
/// meantime, so that the transcript can be read while the model works. A reply that is dropped counts as a refusal.
pub trait ScreenHost: Send + 'static {
    /// Takes a request.
    fn ask(&self, ask: HostRequest);

    /// Stops the work in progress: a turn, a call, a compaction. Does nothing if there is none.
    fn cancel(&self);

    /// Sets which calls may run without asking from now on.
    fn set_mode(&self, mode: ApprovalMode);

    /// The user has pressed a key or sent a line, and so is there.
    fn touched(&self) {}

    /// Finishes because the screen is going away: running work ends, and everything to be kept is on disk when this
    /// returns.
    fn finish(&self) -> Boxed<'_, ()>;
}

/// Receives the answer to a request.
pub type ReplySender<T> = oneshot::Sender<Result<T, HostRefusal>>;

/// Why a request was refused, for people, with what to do instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct HostRefusal(pub String);

/// A request of a screen.
#[derive(Debug)]
pub enum HostRequest {
    /// Work on this prompt. Answered when the work has ended, in whatever way; an event says how.
    Prompt(String, ReplySender<()>),
    /// Work on this prompt with these pictures. Answered like a prompt.
    PromptWithPictures(String, Vec<Picture>, ReplySender<()>),
    /// Work on a command of the user, with the text that was typed after its name.
    Command {
        /// The command's name, without the slash.
        name: String,
        /// The rest of the line.
        arguments: String,
        /// Answered like a prompt.
        reply: ReplySender<()>,
    },
    /// Compact the conversation.
    Compact(CompactionRequest, ReplySender<CompactionReply>),
    /// Go back to the point before a message, in the conversation, in files, or in both.
    Rewind(RewindRequest, ReplySender<RewindReply>),
    /// Show what can be done at the message with this id.
    RewindPlan(String, ReplySender<RewindPlan>),
    /// Undo the newest compaction. The answer says what was done.
    UndoCompaction(ReplySender<String>),
    /// Switch to another session.
    Resume(String, ReplySender<()>),
    /// Start a new session.
    Clear(ReplySender<()>),
    /// Use this model from now on.
    SwitchModel(String, ReplySender<()>),
    /// Let the model think in this way from now on.
    SetEffort(EffortSetting, ReplySender<()>),
    /// Decide these actions by price from now on.
    SetEconomy(EconomyPolicy, ReplySender<()>),
    /// List the sessions that can be resumed, newest first.
    Sessions(ReplySender<Vec<SessionItem>>),
    /// List the models that can be used.
    Models(ReplySender<Vec<ModelItem>>),
    /// Show what fills the window.
    Context(ReplySender<Box<ContextView>>),
    /// List the messages that can be returned to, oldest first, and say whether a compaction can be undone.
    Messages(ReplySender<RewindChoices>),
    /// Show the whole conversation, including entries that are only in the transcript, but without meta entries.
    Transcript(ReplySender<Vec<TranscriptItem>>),
    /// Show what a compaction lost, in words; the newest one if none is given.
    Report(Option<String>, ReplySender<String>),
    /// Show the session's notes.
    Notes(ReplySender<String>),
    /// Run a command in the shell for the user; the model sees it with the next prompt.
    Shell(String, ReplySender<ShellResult>),
    /// Show a page about the session or its project.
    Page(SessionPage, ReplySender<String>),
    /// Write the conversation into a new file with this name; empty for a name of the host's choice. The answer says
    /// where it is.
    Export(String, ReplySender<String>),
    /// List the configured hooks.
    Hooks(ReplySender<Vec<HookItem>>),
    /// Show the costs by purpose, and what was decided by price.
    Cost(ReplySender<CostView>),
    /// List the commands of the user.
    Commands(ReplySender<Vec<CommandItem>>),
    /// List what prompts can mention of servers.
    Resources(ReplySender<Vec<ResourceItem>>),
}

/// How to compact.
#[derive(Debug, Clone, Default)]
pub struct CompactionRequest {
    /// Instructions for the summary.
    pub instructions: Option<String>,
    /// Compact only one side of a message.
    pub pivot: Option<Pivot>,
    /// Keep this many of the newest messages as they are.
    pub keep: Option<usize>,
    /// Whether to stop at the summary and show it, or to complete the compaction.
    pub step: CompactionStep,
}

/// What to take back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewindRequest {
    /// The id of the message's entry.
    pub uuid: String,
    /// What goes back.
    pub scope: RewindScope,
    /// What happens to files that a command or somebody else has changed since the last edit.
    pub conflicts: ConflictPolicy,
}

/// What goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RewindScope {
    /// The conversation; files stay as they are.
    Conversation,
    /// The files; the conversation goes on.
    Files,
    /// Both.
    Both,
}

/// What was taken back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RewindReply {
    /// The text of the message, to be rephrased, if the conversation went back.
    pub text: Option<String>,
    /// What happened to files, in a sentence, if they went back.
    pub files: Option<String>,
}

/// What can be done at a message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RewindPlan {
    /// The files that tools changed since.
    pub files: Vec<PlannedFile>,
    /// The number of commands that ran since; what they changed stays.
    pub commands: usize,
    /// Whether the conversation can be summarized from this message on.
    pub summarizes_from: bool,
    /// Whether the conversation can be summarized up to this message.
    pub summarizes_up_to: bool,
}

/// A file that a rewind would restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedFile {
    /// The path as people know it.
    pub name: String,
    /// Whether the file is as tools left it.
    pub state: RestorableState,
}

/// What a rewind can go back to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RewindChoices {
    /// The messages, oldest first.
    pub messages: Vec<MessageItem>,
    /// Whether the newest compaction can be undone.
    pub can_undo: bool,
}

/// How far a compaction goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CompactionStep {
    /// To a summary that can be reviewed.
    #[default]
    Preview,
    /// To the end, with a summary that was approved.
    Approved(String),
}

/// The outcome of a compaction request.
#[derive(Debug)]
pub enum CompactionReply {
    /// The compaction is done; the event has the details.
    Done,
    /// A summary waits for approval.
    Preview(Box<PreviewedSummary>),
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionItem {
    /// The session's id.
    pub id: String,
    /// The session's title, or its first prompt.
    pub title: String,
    /// What is to be known about the session besides; empty for most.
    pub mark: String,
    /// When something was last added.
    pub modified: Option<Timestamp>,
    /// The number of messages in it.
    pub messages: u64,
    /// The git branch it was on.
    pub branch: Option<String>,
}

/// A model in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelItem {
    /// The model's id.
    pub id: String,
    /// Its description: window, price.
    pub about: String,
    /// Whether it is the model in use.
    pub current: bool,
}

/// What fills the window.
#[derive(Debug, Clone)]
pub struct ContextView {
    /// The model in use.
    pub model: String,
    /// The tokens by category.
    pub categories: Categories,
    /// The window and its limits.
    pub status: WindowStatus,
    /// The part of the tokens in use that the provider measured; 0 if nothing in view was measured.
    pub measured: u64,
    /// Tokens that were cleared since the measurement.
    pub cleared: u64,
    /// The likely size of the window, and how far it may be off; the bound is 0 if all of it was measured.
    pub likely: CalibratedEstimate,
}

/// A message that can be returned to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageItem {
    /// The id of the message's entry.
    pub uuid: String,
    /// Who wrote the message.
    pub who: MessageAuthor,
    /// The first line of the message.
    pub line: String,
    /// When the message was written.
    pub at: Option<Timestamp>,
    /// The size of the message in tokens.
    pub tokens: u64,
}

/// The author of a message.
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
    /// The kind of the entry.
    pub kind: TranscriptKind,
    /// The whole text.
    pub text: String,
    /// When the entry was written.
    pub at: Option<Timestamp>,
    /// Whether the conversation still has it.
    pub standing: ItemStanding,
}

/// Whether an entry is still part of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ItemStanding {
    /// It is, or it was summarized.
    #[default]
    Kept,
    /// The user went back to before it.
    TakenBack,
}

/// The kind of an entry of the transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TranscriptKind {
    /// A message of the user.
    User,
    /// A command that the user ran (`!ls`), without the sign.
    Shell,
    /// The output of such a command.
    Output,
    /// A message of the model.
    Assistant,
    /// The model's thinking.
    Thinking,
    /// A call; the text is its input.
    Call {
        /// The name of the tool.
        name: String,
        /// The call in one line.
        line: String,
        /// What became of it.
        outcome: CallOutcome,
    },
    /// The result of a call.
    Result {
        /// Whether the call failed.
        is_error: bool,
    },
    /// A compaction; the text is its report.
    Boundary,
    /// The summary that replaces what was compacted.
    Summary,
    /// Something that was added to the window in addition to the messages: what it is, in one line.
    Attachment(String),
    /// A notice for people.
    Notice,
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallOutcome {
    /// It succeeded: its result in a few words, or nothing.
    Done(String),
    /// It failed, for this reason.
    Failed(String),
    /// No result was recorded: nobody knows whether it ran.
    None,
}

/// A page about a session or its project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionPage {
    /// The kinds of sub-agents.
    Agents,
    /// The MCP servers.
    Mcp,
    /// The memory files.
    Memory,
    /// The rules about what may run.
    Permissions,
    /// The session, its model and its folder.
    Status,
}

/// The outcome of a command that the user ran.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShellResult {
    /// The output; of a long one, its beginning and its end.
    pub output: String,
    /// The number of lines of all of it.
    pub lines: u64,
    /// Whether the command failed.
    pub is_error: bool,
    /// How it ended, in a few words.
    pub line: String,
}

/// A hook in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookItem {
    /// The event at which it runs.
    pub event: String,
    /// The events that it applies to; if empty, all.
    pub matcher: String,
    /// The command that runs.
    pub command: String,
    /// The file that defines it.
    pub source: String,
}

/// The costs of a session.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CostView {
    /// The parts of the costs.
    pub lines: Vec<CostLine>,
    /// The total; `None` if a price is not known.
    pub total: Option<Usd>,
    /// Who answers: the costs of the simulator are not real.
    pub backend: ModelBackend,
    /// Whether the total may be more: where a reply broke off or was stopped, not all of its output is known.
    pub at_least: bool,
    /// The share of prompts that came from the cache, 0 to 1.
    pub cache_hit_rate: Option<f64>,
    /// Which actions are decided by price.
    pub economy: EconomyPolicy,
    /// The decisions so far, oldest first: what was done, and what has become of it.
    pub decisions: Vec<EconomyReport>,
}

/// One part of the costs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CostLine {
    /// What it was for: a model, sub-agents, summaries.
    pub name: String,
    /// The tokens used.
    pub usage: Usage,
    /// The price of the tokens, if it is known.
    pub cost: Option<Usd>,
    /// Whether it may be more.
    pub at_least: bool,
}

/// A resource of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceItem {
    /// How it is mentioned, without the `@`.
    pub mention: String,
    /// What it is.
    pub name: String,
}

/// A command of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandItem {
    /// The command's name, without the slash.
    pub name: String,
    /// What the command does.
    pub description: String,
}
