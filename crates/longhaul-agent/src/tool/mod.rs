//! What a tool is: something the model may call, with a definition it reads and an answer it gets.
//!
//! Which calls may run is not decided here but in `permission`, from what a tool says about a call ([`Tool::access`]).
//! The tools themselves are in `tools`.

mod toolbox;

use std::path::PathBuf;
use std::sync::Arc;

use longhaul::Boxed;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub use toolbox::Toolbox;

/// Something the model may call.
///
/// An implementer never panics on an input, whatever it holds: what does not fit is an [`Output::error`] that says what to
/// do instead. It ends soon after its call is cancelled, leaving nothing running. It has asked nobody: the loop has.
pub trait Tool: Send + Sync {
    /// The name that the model calls it by.
    fn name(&self) -> &str;

    /// Name, description and input schema, as requests carry them. The same bytes for a session's whole life.
    fn definition(&self) -> Value;

    /// What a call would touch.
    fn access(&self, input: &Value) -> ToolAccess;

    /// The call in one short line, for people: `src/main.rs (1-200)`, `cargo test`.
    fn line(&self, input: &Value) -> String;

    /// What people want to see before they say yes, beyond the line: a diff, a plan. Mostly nothing.
    fn detail(&self, _input: &Value) -> String {
        String::new()
    }

    /// Runs a call.
    fn run<'a>(&'a self, input: Value, call: &'a CallContext) -> Boxed<'a, ToolCallOutput>;
}

/// What a call would touch: what permissions are judged by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolAccess {
    /// Nothing outside of the session: todos, plan mode, recall.
    Nothing,
    /// Reads this file or below this folder.
    Reads(PathBuf),
    /// Writes this file.
    Writes(PathBuf),
    /// Runs a shell command.
    Runs {
        /// The command.
        command: String,
        /// The folder that the shell stands in; what is relative is so to the workspace.
        folder: PathBuf,
    },
    /// Fetches from this host.
    Fetches(String),
    /// Whatever a server or a sub-agent does with it.
    Other,
}

impl ToolAccess {
    /// Whether calls like this may run beside each other.
    pub(crate) fn is_read_only(&self) -> bool {
        matches!(self, Self::Nothing | Self::Reads(_) | Self::Fetches(_))
    }
}

/// From what a call is guarded that runs although nobody was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CallGuard {
    /// From nothing: it runs as the user would run it.
    #[default]
    Nothing,
    /// From a repository's configuration: git does not run the programs that it names.
    Git,
}

/// One call.
#[derive(Clone)]
pub struct CallContext {
    /// The id of its `tool_use` block.
    pub id: String,
    /// Cancelled when the user stops it.
    pub cancel: CancellationToken,
    /// Hears what a long call has to show meanwhile.
    pub progress: Arc<dyn Fn(&str) + Send + Sync>,
    /// From what it is guarded.
    pub guard: CallGuard,
}

impl CallContext {
    /// A call that nobody watches.
    pub fn quiet(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            cancel: CancellationToken::new(),
            progress: Arc::new(|_| {}),
            guard: CallGuard::Nothing,
        }
    }
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCallOutput {
    /// What the model reads: a string or a list of blocks.
    pub content: Value,
    /// Whether it failed.
    pub is_error: bool,
    /// What people see of it in one line: `214 lines`, `exit code 1`, `12 files`.
    pub line: String,
    /// What people see when they look closer; empty: the content.
    pub detail: String,
}

impl ToolCallOutput {
    /// A text that worked.
    pub fn text(content: impl Into<String>, line: impl Into<String>) -> Self {
        Self {
            content: Value::String(content.into()),
            is_error: false,
            line: line.into(),
            detail: String::new(),
        }
    }

    /// A failure, told to the model.
    pub fn error(message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            line: message.lines().next().unwrap_or_default().to_owned(),
            content: Value::String(message),
            is_error: true,
            detail: String::new(),
        }
    }

    /// With more to see for people.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }
}
