//! What an agent reports while it works. A screen shows it, print mode writes it, a test collects it.

use std::path::PathBuf;

use longhaul::session::RetryWait;
use longhaul_core::engine::Event;
use longhaul_core::message::Usage;
use longhaul_core::money::Usd;
use longhaul_core::window::WindowLevel;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::effort::EffortSetting;
use crate::simulated_model::ModelBackend;
use crate::tool::{ToolAccess, ToolCallOutput};

/// An event of an agent.
#[derive(Debug)]
pub enum AgentEvent {
    /// The next piece of the model's text.
    Text(String),
    /// The next piece of the model's thinking.
    Thinking(String),
    /// Something else of the reply has come: a piece of a call, or a sign that the server is alive.
    Arriving,
    /// The reply starts over: what arrived of it so far is void.
    Restarted,
    /// A request failed and is sent again after a wait. What had arrived of its reply is void.
    Retrying(RetryWait),
    /// A whole reply has arrived and is on disk: the message as the provider wrote it.
    Replied(Value),
    /// A call has started.
    ToolStarted {
        /// The id of the call.
        id: String,
        /// The name of the tool.
        name: String,
        /// The call in one line.
        line: String,
        /// The input of the call.
        input: Value,
    },
    /// A running call shows its progress.
    ToolProgress {
        /// The id of the call.
        id: String,
        /// The progress text, which replaces the one before.
        text: String,
    },
    /// A call has ended.
    ToolEnded {
        /// The id of the call.
        id: String,
        /// The result of the call.
        output: ToolCallOutput,
    },
    /// The user is asked. The work waits for the answer; dropping the question means no.
    Asks(ApprovalRequest),
    /// A call is not run because nobody allowed it: a rule or a hook forbids it, or the question got no answer.
    Denied(DeniedCall),
    /// The todo list has changed to this.
    Todos(Vec<TodoItem>),
    /// An event of the session's engine: clearing, compaction, cache breaks.
    Engine(Event),
    /// A summary is being written: this many characters have arrived.
    Summarizing(usize),
    /// The status has changed.
    Glance(AgentStatus),
    /// A notice for people, in a sentence.
    Notice(String),
    /// Hooks run, and not only for a moment.
    HookRuns(RunningHook),
    /// The hooks with this number have ended.
    HookEnded(u64),
    /// A hook wants the session to begin with this prompt.
    InitialPrompt(String),
    /// The commands and resources that can be typed have changed: a server has come up.
    OfferChanged,
    /// The words of a guide, such as the tour's.
    Guide(String),
    /// The work on a prompt has ended.
    Ended(PromptOutcome),
}

/// Hooks that run for an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningHook {
    /// Which run it is.
    pub number: u64,
    /// The event, such as `PreToolUse`.
    pub event: &'static str,
    /// The id of the call that it is about, if it is about one.
    pub call: Option<String>,
    /// The commands that run, as far as they are known.
    pub commands: Vec<String>,
}

impl RunningHook {
    /// The hook in words: its event, and the first line of its commands.
    pub(crate) fn words(&self) -> String {
        let commands = self.commands.iter();
        let commands: Vec<&str> = commands.filter_map(|it| it.lines().next()).collect();
        match commands.is_empty() {
            true => format!("{} hook", self.event),
            false => format!("{} hook ({})", self.event, commands.join(", ")),
        }
    }
}

/// How the work on a prompt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptOutcome {
    /// The model has answered.
    Done,
    /// The user stopped it. The conversation is valid.
    Cancelled,
    /// The window is full and nothing may be done about it; the text says what to do.
    Refused(String),
    /// The work failed; the text says why and what to do.
    Failed(String),
    /// The limit on replies was reached after this many.
    TurnsUsedUp(u32),
    /// The session has reached its maximum cost.
    BudgetUsedUp {
        /// What the session has cost.
        cost: Usd,
        /// The most that it may cost.
        limit: Usd,
    },
}

/// The state of an agent, for a status line.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentStatus {
    /// The model in use.
    pub model: String,
    /// Who answers in its name.
    pub backend: ModelBackend,
    /// The number of tokens in the window.
    pub used: u64,
    /// Where compaction begins, or where the window ends.
    pub limit: u64,
    /// The approximate tokens of the request prefix, which are part of every request.
    pub prefix: u64,
    /// The percentage of the limit that is left.
    pub percent_left: u64,
    /// How near the limit is.
    pub level: WindowLevel,
    /// The cost of the session, including sub-agents and summaries; `None` if the prices are not known.
    pub cost: Option<Usd>,
    /// The tokens used.
    pub usage: Usage,
    /// The share of the prompt that came from the cache, 0 to 1; none before the first reply.
    pub cache_hit_rate: Option<f64>,
    /// Which calls may run without asking.
    pub mode: ApprovalMode,
    /// How hard the model thinks.
    pub effort: EffortSetting,
}

/// Which calls may run without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ApprovalMode {
    /// Reading inside the workspace; everything else is asked for.
    #[default]
    Default,
    /// Reading and writing inside the workspace.
    AcceptEdits,
    /// Nothing is changed: the model makes a plan.
    Plan,
    /// Everything. The name is Claude Code's.
    BypassPermissions,
    /// Whatever would be asked for is refused, because nobody is there to answer.
    DontAsk,
}

/// The name of the tool whose call submits a plan.
pub(crate) const EXIT_PLAN_MODE: &str = "ExitPlanMode";

/// A call that needs the user's consent.
#[derive(Debug)]
pub struct ApprovalRequest {
    /// The id of the call.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The call in one line.
    pub line: String,
    /// What the call would touch.
    pub access: ToolAccess,
    /// What people want to see before they agree: a diff, the whole command.
    pub detail: String,
    /// Why the user is asked.
    pub reason: String,
    /// The sub-agent that made the call, if one did: its kind and its task.
    pub asker: Option<String>,
    /// A rule that would allow similar calls from now on, in the syntax of settings: `Bash(cargo test:*)`.
    pub rule: Option<String>,
    /// Receives the answer.
    pub answer: oneshot::Sender<ApprovalAnswer>,
}

/// A call that nobody allowed.
#[derive(Debug, Clone, PartialEq)]
pub struct DeniedCall {
    /// The id of the call.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The call in one line.
    pub line: String,
    /// The input of the call.
    pub input: Value,
    /// Why the call was denied.
    pub reason: String,
}

/// The user's answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalAnswer {
    /// Yes, this once.
    Once,
    /// Yes, from now on in this session, by the rule of the question.
    Session,
    /// Yes, from now on in this project: the rule is written to its settings.
    Project,
    /// Not yet: the model goes on planning. Only a plan is answered this way.
    KeepPlanning,
    /// The answers to the model's questions, one for each. Only such a call is answered this way.
    Answers(Vec<String>),
    /// No, and maybe what the model should do instead.
    No(Option<String>),
}

/// An item of the todo list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TodoItem {
    /// What is to be done.
    pub content: String,
    /// The status of the item.
    pub status: TodoStatus,
    /// The text to show while it is being done: `Running the tests`.
    #[serde(default)]
    pub active_form: String,
}

/// The status of a todo item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// It has not been started.
    Pending,
    /// It is in progress.
    InProgress,
    /// It is done.
    Completed,
}

/// A sub-agent, for `task_status` and the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubAgent {
    /// The sub-agent's id.
    pub id: String,
    /// The sub-agent's kind.
    pub kind: String,
    /// Its task, in a few words.
    pub description: String,
    /// The sub-agent's own transcript.
    pub transcript: PathBuf,
}
