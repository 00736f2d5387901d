//! What a tool is: something that the model may call, with a definition that it reads and a result that it gets.
//!
//! Which calls may run is not decided here but in `permission`, from what a tool says about a call ([`Tool::access`]).
//! The tools themselves are in `tools`.

mod late_tools;
mod toolbox;
mod user_question;

use std::path::PathBuf;
use std::sync::Arc;

use longhaul::Boxed;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub use late_tools::{CALL_LATE_TOOL, LateInstructions, LateTools};
pub use toolbox::Toolbox;
pub use user_question::{QuestionOption, UserQuestion};

/// The field of a call's input for the user's answers to its questions, by question.
pub(crate) const ANSWERS: &str = "answers";

/// Something that the model may call.
///
/// An implementation never panics on an input, whatever it contains: for invalid input it returns a
/// [`ToolCallOutput::error`] that says what to do instead. It ends soon after its call is cancelled, leaving nothing
/// running. It asks nobody for permission: the loop has done that.
pub trait Tool: Send + Sync {
    /// The name that the model calls the tool by.
    fn name(&self) -> &str;

    /// The name, description and input schema, as they appear in requests. The bytes stay the same for a session's
    /// whole life.
    fn definition(&self) -> Value;

    /// What a call would touch.
    fn access(&self, input: &Value) -> ToolAccess;

    /// The call in one short line, for people: `src/main.rs (1-200)`, `cargo test`.
    fn line(&self, input: &Value) -> String;

    /// What people want to see before they agree, beyond the line: a diff, a plan. It is empty for most tools.
    fn detail(&self, _input: &Value) -> String {
        String::new()
    }

    /// Runs a call.
    fn run<'a>(&'a self, input: Value, call: &'a CallContext) -> Boxed<'a, ToolCallOutput>;
}

/// What a call would touch. Permissions are decided by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolAccess {
    /// Touches nothing outside of the session: todos, plan mode, recall.
    Nothing,
    /// Reads this file or files in this folder.
    Reads(PathBuf),
    /// Writes this file.
    Writes(PathBuf),
    /// Runs a shell command.
    Runs {
        /// The shell command.
        command: String,
        /// The folder that the shell is in; a relative path is relative to the workspace.
        folder: PathBuf,
    },
    /// Fetches from this host.
    Fetches(String),
    /// Searches the web: in these hosts and their subdomains, or everywhere if there are none.
    SearchesWeb(Vec<String>),
    /// Asks the user these questions: it needs their answers, whatever else may run without asking.
    AsksUser(Vec<UserQuestion>),
    /// Leaves plan mode: the user has to agree to the plan, whatever else may run without asking.
    LeavesPlanMode,
    /// Does whatever a server or a sub-agent does.
    Other,
}

impl ToolAccess {
    /// Whether calls like this may run in parallel.
    pub(crate) fn is_read_only(&self) -> bool {
        matches!(
            self,
            Self::Nothing | Self::Reads(_) | Self::Fetches(_) | Self::SearchesWeb(_)
        )
    }
}

/// What a call that runs without asking is guarded against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CallGuard {
    /// Against nothing: it runs as the user would run it.
    #[default]
    Nothing,
    /// Against a repository's configuration: git does not run the programs that it names.
    Git,
}

/// The context of one call.
#[derive(Clone)]
pub struct CallContext {
    /// The id of the call's `tool_use` block.
    pub id: String,
    /// Cancelled when the user stops the call.
    pub cancel: CancellationToken,
    /// Stops all the work that the call is a part of, when the user wants that at a question of a sub-agent.
    pub work: CancellationToken,
    /// Receives the progress of a long call.
    pub progress: Arc<dyn Fn(&str) + Send + Sync>,
    /// What the call is guarded against.
    pub guard: CallGuard,
    /// Runs calls of other tools as a part of this one; without it, there are none.
    pub nested: Option<Arc<dyn NestedCalls>>,
}

/// Runs calls as a part of another one.
pub trait NestedCalls: Send + Sync {
    /// Runs a call of this tool with this input, with its hooks, rules and questions.
    fn run<'a>(&'a self, tool: &'a str, input: Value) -> Boxed<'a, SingleCall>;

    /// Allows calls by these rules until the user's prompt is answered. Returns sentences about those that are not rules.
    fn allow_for_turn(&self, rules: &[String]) -> Vec<String>;
}

/// What became of a call that is not one of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum SingleCall {
    /// It ran to its end, whether or not it succeeded.
    Ran(ToolCallOutput),
    /// It was not allowed to run, for this reason.
    NotRun(String),
    /// The user stopped it, or refused it without saying what to do instead.
    Stopped,
}

impl CallContext {
    /// A call whose progress nobody watches.
    pub fn quiet(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            cancel: CancellationToken::new(),
            work: CancellationToken::new(),
            progress: Arc::new(|_| {}),
            guard: CallGuard::Nothing,
            nested: None,
        }
    }
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCallOutput {
    /// The content for the model: a string or a list of blocks.
    pub content: Value,
    /// Whether the call failed.
    pub is_error: bool,
    /// The result in one line for people: `214 lines`, `exit code 1`, `12 files`.
    pub line: String,
    /// What people see when they ask for details; if it is empty, they see the content.
    pub detail: String,
    /// The number of lines that a command wrote, if its output was cut.
    pub lines: Option<u64>,
}

impl ToolCallOutput {
    /// A successful result with a text.
    pub fn text(content: impl Into<String>, line: impl Into<String>) -> Self {
        Self {
            content: Value::String(content.into()),
            is_error: false,
            line: line.into(),
            detail: String::new(),
            lines: None,
        }
    }

    /// A failed result with a message for the model. People see its first sentence, which says what is wrong; what to do
    /// about it is for the model.
    pub fn error(message: impl Into<String>) -> Self {
        let message = message.into();
        let line = message.lines().next().unwrap_or_default();
        let sentence = line.split_once(". ").map_or(line, |(first, _)| first);
        Self {
            line: sentence.trim_end_matches('.').to_owned(),
            content: Value::String(message),
            is_error: true,
            detail: String::new(),
            lines: None,
        }
    }

    /// Sets the line for people.
    #[must_use]
    pub fn with_line(mut self, line: impl Into<String>) -> Self {
        self.line = line.into();
        self
    }

    /// Adds details for people.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }
}
