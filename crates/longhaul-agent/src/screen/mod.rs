//! The terminal: streaming text, tools, the prompt, the status line, the commands.
//!
//! [`run`] shows what an agent does and passes the user's requests to a [`ScreenHost`]. In a terminal that can move its
//! cursor, the finished lines go into the terminal's own scrollback and a small region below them is drawn again
//! (`full`); elsewhere there are only lines (`plain`). Keys, events and answers have the same meaning in both (`app`).

pub(crate) mod answer_lines;
mod app;
mod ascii;
mod cells;
mod choice;
mod clipboard;
pub(crate) mod command;
mod complete;
pub(crate) mod context;
mod diff_lines;
mod display;
mod editor;
pub(crate) mod event_lines;
mod figures;
mod finish;
mod finished_lines;
pub(crate) mod flow;
mod full;
mod highlight;
mod history;
mod host;
mod input;
mod live;
mod markdown;
mod markdown_table;
mod open_question;
mod pager;
mod paint;
mod picker;
mod plain;
mod preview;
mod question;
mod search;
mod status;
mod stream;
mod style;
mod system;
mod terminal;
mod text;
mod transcript;

use std::path::PathBuf;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

pub use display::{Charset, ColorSupport, DisplayMode, DisplaySettings};
pub use host::{
    CallOutcome, CommandItem, CompactionReply, CompactionRequest, CompactionStep, ContextView,
    CostLine, CostView, HookItem, HostRefusal, HostRequest, ItemStanding, MessageAuthor,
    MessageItem, ModelItem, PlannedFile, ReplySender, ResourceItem, RewindChoices, RewindPlan,
    RewindReply, RewindRequest, RewindScope, ScreenHost, SessionItem, SessionPage, ShellResult,
    TranscriptItem, TranscriptKind,
};

pub(crate) use status::mode_name;
pub use text::visible;
pub(crate) use transcript::text as transcript_text;

use crate::event::{AgentEvent, ApprovalMode};

/// How a screen is set up.
#[derive(Debug, Clone)]
pub struct ScreenOptions {
    /// What the terminal can do.
    pub display: DisplaySettings,
    /// The folder whose files are completed, and to which the history belongs.
    pub workspace: PathBuf,
    /// Where prompts are saved; if none, they are not.
    pub history: Option<PathBuf>,
    /// The command that edits a text; if none, it is edited on the screen.
    pub editor: Option<String>,
    /// Which calls may run without asking at first.
    pub mode: ApprovalMode,
    /// Lines to begin with: what this is, how to get help.
    pub greeting: Vec<String>,
    /// A prompt to begin with.
    pub prompt: Option<String>,
    /// Whether the session was resumed, so that its last exchanges are shown.
    pub resumed: bool,
}

impl ScreenOptions {
    /// The options from the process's environment, for a workspace.
    pub fn from_env(workspace: PathBuf, var: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| var(name).filter(|value| !value.trim().is_empty());
        Self {
            display: DisplaySettings::detect(&var),
            workspace,
            history: set("LONGHAUL_HOME").map(|home| PathBuf::from(home).join("history.jsonl")),
            editor: set("VISUAL").or_else(|| set("EDITOR")),
            mode: ApprovalMode::default(),
            greeting: Vec::new(),
            prompt: None,
            resumed: false,
        }
    }
}

/// Whether a person sees and types: both stdin and stdout of this process are a terminal.
pub fn is_seen() -> bool {
    use std::io::IsTerminal as _;
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Why a screen ended before the user wanted it to.
#[derive(Debug, thiserror::Error)]
pub enum ScreenError {
    /// The terminal cannot be read or drawn on.
    #[error("the terminal cannot be used ({0}); with -p a prompt is answered without one")]
    Terminal(#[from] std::io::Error),
}

/// Shows an agent until the user leaves or the terminal goes away. When this returns, with or without an error, the
/// terminal is restored and the host has finished.
pub async fn run(
    host: impl ScreenHost,
    events: UnboundedReceiver<AgentEvent>,
    options: ScreenOptions,
) -> Result<(), ScreenError> {
    let (_, typed) = unbounded_channel();
    run_typed(host, events, options, typed).await
}

/// Input that a guide types in the user's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GuideInput {
    /// The text of the prompt so far; ignored if the user has typed something else there.
    SoFar(String),
    /// The text is sent.
    Sent(String),
}

/// Shows an agent like [`run`], with a guide who types, too. In a pipe it continues until the guide is gone.
pub async fn run_typed(
    host: impl ScreenHost,
    events: UnboundedReceiver<AgentEvent>,
    options: ScreenOptions,
    typed: UnboundedReceiver<GuideInput>,
) -> Result<(), ScreenError> {
    let display = options.display;
    let (mut app, answers) = app::App::new(Box::new(host), &options);
    app.begin(&options);
    let mut sources = app::AppInputs {
        events,
        answers,
        typed,
        guided: true,
    };
    let ended = match display.manner {
        DisplayMode::Full => {
            full::run(&mut app, &mut sources, display, options.editor.as_deref()).await
        }
        DisplayMode::Lines => plain::run(&mut app, &mut sources, display).await,
    };
    finish::finish(&mut app, &mut sources.events).await;
    ended.map_err(ScreenError::from)
}
