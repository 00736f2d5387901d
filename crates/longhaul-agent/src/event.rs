//! What an agent tells while it works. A screen shows it, print mode writes it, a test collects it.

use std::path::PathBuf;

use longhaul_core::engine::Event;
use longhaul_core::message::Usage;
use longhaul_core::money::Usd;
use longhaul_core::window::WindowLevel;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::tool::{ToolAccess, ToolCallOutput};

/// Something that happened.
#[derive(Debug)]
pub enum AgentEvent {
    /// The model writes.
    Text(String),
    /// The model thinks.
    Thinking(String),
    /// The reply begins again: what came of it so far is void.
    Restarted,
    /// A whole reply is there and on disk: the message as the provider wrote it.
    Replied(Value),
    /// A call begins.
    ToolStarted {
        /// The call.
        id: String,
        /// The tool.
        name: String,
        /// The call in one line.
        line: String,
        /// Its input.
        input: Value,
    },
    /// A call that runs has something to show.
    ToolProgress {
        /// The call.
        id: String,
        /// What it shows; it replaces what it showed before.
        text: String,
    },
    /// A call ended.
    ToolEnded {
        /// The call.
        id: String,
        /// What came of it.
        output: ToolCallOutput,
    },
    /// The user is asked. The work waits for the answer; dropping it is a no.
    Asks(ApprovalRequest),
    /// A call is not run because nobody allowed it: a rule or a hook forbids it, or the question found no answer.
    Denied(DeniedCall),
    /// The todo list is this now.
    Todos(Vec<TodoItem>),
    /// The session's engine tells something: clearing, compaction, cache breaks.
    Engine(Event),
    /// A summary is being written: so many characters are there.
    Summarising(usize),
    /// How things stand now.
    Glance(AgentStatus),
    /// Something people should know, in a sentence.
    Notice(String),
    /// The work on a prompt ended.
    Ended(PromptOutcome),
}

/// How the work on a prompt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptOutcome {
    /// The model has answered.
    Done,
    /// The user stopped it. The conversation is valid.
    Cancelled,
    /// The window is full and nothing may be done about it; what to do is said.
    Refused(String),
    /// It failed; what to do is said.
    Failed(String),
    /// The model was asked so often, and no further.
    TurnsUsedUp(u32),
    /// The session cost as much as it may.
    BudgetUsedUp(Usd),
}

/// How things stand, for a status line.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentStatus {
    /// The model.
    pub model: String,
    /// Tokens in the window.
    pub used: u64,
    /// Where compaction begins, or the window ends.
    pub limit: u64,
    /// What is left of it.
    pub percent_left: u64,
    /// How near the limit is.
    pub level: WindowLevel,
    /// What the session has cost, sub-agents and summaries included; none if the prices are not known.
    pub cost: Option<Usd>,
    /// What was used of the model.
    pub usage: Usage,
    /// The share of the prompt that came from the cache, 0 to 1; none before the first reply.
    pub cache_hit_rate: Option<f64>,
    /// What may run unasked.
    pub mode: ApprovalMode,
}

/// What may run unasked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ApprovalMode {
    /// Reading inside the workspace; all else is asked for.
    #[default]
    Default,
    /// Writing inside the workspace, too.
    AcceptEdits,
    /// Nothing is changed: the model makes a plan.
    Plan,
    /// Everything. Named as Claude Code names it.
    BypassPermissions,
    /// What would be asked for is refused: nobody is there to answer.
    DontAsk,
}

/// A call that needs the user's consent.
#[derive(Debug)]
pub struct ApprovalRequest {
    /// The call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The call in one line.
    pub line: String,
    /// What it would touch.
    pub access: ToolAccess,
    /// What people want to see before they say yes: a diff, the whole command.
    pub detail: String,
    /// Why it is asked for.
    pub reason: String,
    /// A rule that would allow calls like this from now on, as settings write it: `Bash(cargo test:*)`.
    pub rule: Option<String>,
    /// Takes the answer.
    pub answer: oneshot::Sender<ApprovalAnswer>,
}

/// A call that nobody allowed.
#[derive(Debug, Clone, PartialEq)]
pub struct DeniedCall {
    /// The call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The call in one line.
    pub line: String,
    /// Its input.
    pub input: Value,
    /// Why.
    pub reason: String,
}

/// What the user says to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalAnswer {
    /// This once.
    Once,
    /// From now on in this session, by the rule of the question.
    Session,
    /// From now on in this project: the rule goes into its settings.
    Project,
    /// No, and what the model shall do instead.
    No(Option<String>),
}

/// A line of the todo list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TodoItem {
    /// What is to be done.
    pub content: String,
    /// How far it is.
    pub status: TodoStatus,
    /// The same while it is being done: `Running the tests`.
    #[serde(default)]
    pub active_form: String,
}

/// How far a todo is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Under way.
    InProgress,
    /// Done.
    Completed,
}

/// A sub-agent, for `task_status` and the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubAgent {
    /// Its id.
    pub id: String,
    /// Its kind.
    pub kind: String,
    /// What it was asked, in a few words.
    pub description: String,
    /// Its own transcript.
    pub transcript: PathBuf,
}
