//! How the program ends: exit codes, and for each error the message and the next step. This is the only place for both.

use std::path::PathBuf;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use longhaul::recorded::PivotError;
use longhaul::session::OpenError;
use longhaul::undo::UndoError;
use longhaul_agent::agent::AgentError;
use longhaul_agent::project_setup::ProjectSetupError;
use longhaul_agent::screen::ScreenError;
use longhaul_core::config::ConfigError;
use longhaul_core::listing::harmless_but_colored;
use longhaul_core::message::PrefixEntryError;
use longhaul_core::models::ModelFileError;
use longhaul_core::prompt::RequestNotReady;
use longhaul_core::replay::Unreplayable;
use longhaul_core::transcript::format::ForeignFormat;
use longhaul_core::window::WindowError;
use longhaul_gateway::front::{StartError, UpstreamError};
use longhaul_provider::ClientConfigError;
use longhaul_sim::faults::FaultSpecError;
use longhaul_sim::model::misbehave;
use longhaul_sim::model::script::ScriptError;
use longhaul_store::SessionInUse;
use longhaul_store::archive::ArchiveError;
use longhaul_store::copy::CopyError;
use longhaul_store::layout::{FindError, HomeError};
use longhaul_store::notes::NotesError;
use longhaul_store::ownership::OwnershipRefusal;
use longhaul_store::purge::PurgeError;

use crate::api_url::{self, RefusedUrl};
use crate::text::clean;

/// What to do about an address of an API that cannot be used.
pub(crate) const API_URL_ADVICE: &str =
    "Give the API's base URL, as in https://api.anthropic.com; keys have variables of their own.";
const NO_ENTRIES: &str = "this is not a transcript: none of its lines is an entry";

/// How a successful command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CliOutcome {
    /// No problems: exit code 0.
    Fine,
    /// Problems in the data were reported: exit code 1.
    Problems,
    /// Nothing was found: exit code 1.
    NothingFound,
    /// There was nothing to do, and the reason was printed: exit code 1.
    NothingToDo,
    /// An agent's work ended with this code.
    Worked(u8),
}

impl From<CliOutcome> for ExitCode {
    fn from(outcome: CliOutcome) -> Self {
        match outcome {
            CliOutcome::Fine => ExitCode::SUCCESS,
            CliOutcome::Worked(code) => ExitCode::from(code),
            CliOutcome::Problems | CliOutcome::NothingFound | CliOutcome::NothingToDo => {
                ExitCode::from(1)
            }
        }
    }
}

/// The exit code where another process has the session open.
const IN_USE: u8 = 3;
/// The exit codes where a program that was to be run is missing or cannot be run, as in shells.
const NO_PROGRAM: u8 = 127;
const NOT_RUN: u8 = 126;

/// Why a command failed: exit code 2, or 3 where another process has the session open.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error("cannot read {}: {source}", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("cannot read standard input: {0}")]
    Stdin(std::io::Error),
    #[error("cannot write {}: {source}", path.display())]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("cannot write to standard output: {0}")]
    Stdout(std::io::Error),
    #[error("{name}: this is {}", foreign.what)]
    Foreign {
        name: String,
        foreign: ForeignFormat,
    },
    #[error("{name}: {NO_ENTRIES}")]
    NotATranscript { name: String },
    #[error("there is no response {turn}: {}", responses(*.count))]
    NoSuchTurn { turn: i64, count: usize },
    #[error("there is no item {item}: {}", if *.count == 0 { "nothing would be sent".to_owned() } else { format!("the list ends with {count}") })]
    NoSuchItem { item: String, count: usize },
    #[error("no request can be made: {0}")]
    NoRequest(RequestNotReady),
    #[error("no request can be made: nothing names a model")]
    NoModel,
    #[error(transparent)]
    Head(#[from] PrefixEntryError),
    #[error("{name}: more than 1 GiB came, and it cannot be read again")]
    PipeTooLong { name: String },
    #[error("{}: no transcript in this folder", path.display())]
    EmptyFolder { path: PathBuf },
    #[error("{}: none of the {} here is a transcript", path.display(), crate::text::count(*.count, "file", "files"))]
    NoneReadable { path: PathBuf, count: u64 },
    #[error("{target}: no such file, and {find}")]
    NoSuchTarget { target: String, find: FindError },
    #[error("{target}: no such file or folder")]
    NoSuchFile { target: String },
    #[error("{target}: a link to {}, which does not exist", goal.display())]
    DanglingLink { target: String, goal: PathBuf },
    #[error(transparent)]
    Find(FindError),
    #[error(transparent)]
    Home(#[from] HomeError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("--set {0:?} is not KEY=VALUE")]
    BadSet(String),
    #[error("{key} does nothing in `longhaul serve`: {reason}")]
    IdleSetting { key: String, reason: &'static str },
    #[error("{}: {source}", path.display())]
    ModelFile {
        path: PathBuf,
        source: ModelFileError,
    },
    #[error(transparent)]
    Window(#[from] WindowError),
    #[error("the log filter {filter:?} cannot be used: {reason}")]
    LogFilter { filter: String, reason: String },
    #[error(transparent)]
    Purge(#[from] PurgeError),
    #[error("no sessions were selected to delete")]
    PurgeWhat,
    #[error("this would delete {}, and there is no terminal to ask on", crate::text::count(*.0, "file", "files"))]
    PurgeUnasked(u64),
    #[error("{0:?} is not an address to listen on")]
    BadAddress(String),
    #[error("cannot listen on {addr}: {}", if in_use(source) { "the address is in use".to_owned() } else { source.to_string() })]
    Listen {
        addr: String,
        source: std::io::Error,
    },
    #[error("the faults {spec:?} cannot be read: {source}")]
    Faults {
        spec: String,
        source: FaultSpecError,
    },
    #[error("the misbehavior {spec:?} cannot be read: {source}")]
    Misbehave {
        spec: String,
        source: misbehave::MisbehaviorSpecError,
    },
    #[error("{}: {source}", path.display())]
    Script { path: PathBuf, source: ScriptError },
    #[error("{0:?} is not a pace")]
    Pace(String),
    #[error("there is no model {0:?} to answer with")]
    NoSuchModel(String),
    #[error("{0}")]
    Unreplayable(Unreplayable),
    #[error("the prices of {0:?} are not known")]
    UnpricedModel(String),
    #[error("{} exists already", path.display())]
    PageExists { path: PathBuf },
    #[error("{}: this is a folder, and one session is wanted", path.display())]
    NotOneSession { path: PathBuf },
    #[error(transparent)]
    Archive(ArchiveError),
    #[error(transparent)]
    Notes(#[from] NotesError),
    #[error("cannot start: {0}")]
    Runtime(std::io::Error),
    #[error("the client does not speak MCP as expected: {0}")]
    Mcp(String),
    #[error("{target}: one transcript is compacted at a time")]
    CompactOne { target: String },
    #[error("standard input cannot be compacted: a compaction needs a file")]
    CompactStdin,
    #[error("{}: not a regular file, and a compaction needs one", path.display())]
    CompactNoFile { path: PathBuf },
    #[error("a compacted copy is not written to standard output")]
    OutputIsStdout,
    #[error(transparent)]
    InUse(SessionInUse),
    #[error(transparent)]
    MayNotChange(#[from] OwnershipRefusal),
    #[error("{}: the output would be the transcript itself", path.display())]
    OutputIsInput { path: PathBuf },
    #[error("cannot write {}: there is no folder {}", path.display(), folder.display())]
    OutputFolder { path: PathBuf, folder: PathBuf },
    #[error(transparent)]
    Copy(#[from] CopyError),
    #[error("{}", error.to_string().trim_end_matches('.'))]
    Recording { error: OpenError },
    #[error("{error}")]
    Pivot { error: PivotError },
    #[error("{message}")]
    NotCompacted { message: String },
    #[error("{0}")]
    NotUndone(UndoError),
    #[error("{}", error.to_string().trim_end_matches('.'))]
    Agent { error: AgentError },
    #[error("there is nothing to look for")]
    NothingToFind,
    #[error("there is no prompt")]
    NoPrompt,
    #[error("--resume needs the id of a session with -p")]
    NoListInPrint,
    #[error("{}: not a folder to work in: {source}", path.display())]
    Folder {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("there is no key or address to reach {0}")]
    NoKeyForModel(String),
    #[error(transparent)]
    Workplace(#[from] ProjectSetupError),
    #[error(transparent)]
    Screen(ScreenError),
    #[error("there is no key or address to reach a model")]
    NoKey,
    #[error(transparent)]
    Upstream(#[from] RefusedUrl),
    #[error("the variable {0} holds no token for clients")]
    NoClientToken(String),
    #[error("{0:?} is not a store")]
    NotAStore(String),
    #[error("{0}")]
    Rule(longhaul_gateway::policy::PolicyRuleError),
    #[error("{}: {source}", path.display())]
    Rules {
        path: PathBuf,
        source: longhaul_gateway::policy::PolicyFileError,
    },
    #[error(transparent)]
    Books(#[from] longhaul_gateway::store::StoreError),
    #[error(transparent)]
    Tenants(#[from] longhaul_gateway::branch::TenantError),
    #[error(transparent)]
    Gateway(longhaul_gateway::front::StartError),
    #[error("{}: {reason}", path.display())]
    Agents { path: PathBuf, reason: String },
    #[error("there is no agent {name:?}; known are {known}")]
    NoSuchAgent { name: String, known: String },
    #[error("{name:?} is none of the APIs that this agent calls: {known}")]
    NoSuchApi { name: String, known: String },
    #[error("{program} is not installed, or not on the PATH")]
    AgentMissing {
        program: String,
        install: Option<String>,
    },
    #[error("{} cannot be run: {source}", program.display())]
    AgentNotRun {
        program: PathBuf,
        source: std::io::Error,
    },
    #[error("a value of --env is not NAME=URL")]
    BadWrapEnv,
    #[error("the variable {name} cannot be added to: {reason}")]
    NotMerged { name: String, reason: String },
    #[error("{0:?} is not a time to look back to")]
    BadSince(String),
    #[error("there is no usage log {} yet", path.display())]
    NoUsageLog { path: PathBuf },
    #[error("a store in memory keeps nothing to look at")]
    NothingKept,
    #[error("the provider cannot be asked: {0}")]
    Provider(ClientConfigError),
}

impl From<ClientConfigError> for CliError {
    fn from(error: ClientConfigError) -> Self {
        // An address is refused in the same words everywhere.
        match (&error, api_url::refused_in_environment()) {
            (ClientConfigError::BaseUrl(_), Some(refused)) => Self::Upstream(refused),
            _ => Self::Provider(error),
        }
    }
}

impl From<ArchiveError> for CliError {
    fn from(error: ArchiveError) -> Self {
        match error {
            ArchiveError::Transcript(read) => Self::Read {
                path: read.path,
                source: read.source,
            },
            other => Self::Archive(other),
        }
    }
}

/// The number of responses, as the end of a sentence.
fn responses(count: usize) -> String {
    match count {
        0 => "this conversation has none".to_owned(),
        1 => "this conversation has one".to_owned(),
        count => {
            format!("this conversation has {count}, counted from 1 or, with a minus, from the end")
        }
    }
}

fn in_use(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::AddrInUse
}

impl CliError {
    /// The problem of a file, for output that already names the file.
    pub(crate) fn without_name(&self) -> String {
        match self {
            Self::Read { source, .. } => format!("cannot be read: {source}"),
            Self::Foreign { foreign, .. } => format!("this is {}", foreign.what),
            Self::NotATranscript { .. } => NO_ENTRIES.to_owned(),
            _ => self.to_string(),
        }
    }

    /// What the user can do about it.
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Agent { error } if error.in_use().is_some() => {
                "--fork-session continues in a copy of it; --wait waits until it is free."
            }
            _ if self.in_use().is_some() => {
                "--output FILE writes a copy; or try again when that process has ended."
            }
            Self::Read { path, source } => match source.kind() {
                std::io::ErrorKind::PermissionDenied => "Check that you may read it.",
                std::io::ErrorKind::NotFound => "Check the path.",
                _ if path.is_symlink() => {
                    "It is a link that leads back to itself or nowhere: remove it, or name the file itself."
                }
                _ => return None,
            },
            Self::DanglingLink { .. } => "Remove the link, or name the file itself.",
            Self::OutputFolder { .. } => "Create the folder first, or name another file.",
            Self::CompactStdin | Self::CompactNoFile { .. } => {
                "Save the transcript to a file, and name the file."
            }
            Self::OutputIsStdout => "Please name a file, as in --output small.jsonl.",
            Self::Foreign { foreign, .. } => foreign.advice,
            Self::NotATranscript { .. } | Self::NoneReadable { .. } => {
                "Longhaul reads Claude Code transcripts: JSONL, one entry per line, as under ~/.claude/projects."
            }
            Self::PipeTooLong { .. } => "Save it to a file, and name the file.",
            Self::EmptyFolder { .. } => {
                "Transcripts end in .jsonl. Claude Code keeps them in ~/.claude/projects, one folder per project."
            }
            Self::NotOneSession { .. } => {
                "Name one of its transcripts; `longhaul inspect` with the folder lists them."
            }
            Self::NoSuchTurn { .. } => "`longhaul inspect FILE --turns` lists the responses.",
            Self::NoSuchItem { .. } => "Without --full, the list shows the numbers.",
            Self::NoRequest(RequestNotReady::NothingAsked) => {
                "Give the user's next words with --say TEXT, or see the last request with --turn -1."
            }
            Self::NoRequest(RequestNotReady::Empty) => {
                "Give the user's first words with --say TEXT."
            }
            Self::NoModel => "Give one with --model, as in --model claude-sonnet-5-5.",
            Self::NoSuchFile { target } if target.ends_with(".claude/projects") => {
                "Claude Code keeps its sessions there, and has none of this user yet; CLAUDE_CONFIG_DIR names another folder."
            }
            Self::NoSuchTarget { .. } | Self::NoSuchFile { .. } => {
                "Give a transcript, a folder, or a session id; `longhaul inspect ~/.claude/projects` lists sessions."
            }
            Self::Config(_) | Self::BadSet(_) => "`longhaul config --explain` lists all settings.",
            Self::IdleSetting { .. } => {
                "Leave it out; docs/gateway.md lists the settings that act in the gateway."
            }
            Self::ModelFile { .. } => {
                "A models file has a table for each model: [models.\"its-id\"] with window, max_output, prices = { input, output }."
            }
            Self::LogFilter { .. } => "Try `debug`, or `longhaul_store=trace`.",
            Self::PurgeWhat => {
                "Give --older-than DAYS, --session ID or --all, or set retention.days."
            }
            Self::BadAddress(_) => {
                "Write ADDR:PORT, as in 127.0.0.1:7411 or [::1]:7411; port 0 picks a free one."
            }
            Self::Listen { source, .. } if in_use(source) => {
                "Another program listens there, maybe another one of these. Give --listen 127.0.0.1:0 to use a free port."
            }
            Self::Listen { source, .. }
                if source.kind() == std::io::ErrorKind::PermissionDenied =>
            {
                "Ports below 1024 are for the administrator. Give --listen 127.0.0.1:0 to use a free port."
            }
            Self::Listen { .. } => {
                "Check that this machine has the address; 127.0.0.1 always works."
            }
            Self::Faults { .. } => "docs/simulator.md lists the faults and how to write them.",
            Self::Misbehave { .. } => "docs/simulator.md lists what a model can do wrong.",
            Self::Script { .. } => "docs/simulator.md says what a script looks like.",
            Self::Provider(ClientConfigError::BaseUrl(_)) => {
                "Set ANTHROPIC_BASE_URL to an address such as https://api.anthropic.com, or unset it."
            }
            Self::Provider(ClientConfigError::Key) => {
                "Look for spaces and line breaks in ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN."
            }
            Self::Upstream(_) => API_URL_ADVICE,
            Self::NoClientToken(_) => {
                "Set it to a long random text; clients then send that as x-longhaul-token."
            }
            Self::Gateway(StartError::Upstream(UpstreamError::Certificates(_))) => {
                "--upstream-ca takes a file of certificates that begin with -----BEGIN CERTIFICATE-----."
            }
            Self::NotAStore(_) => {
                "Write `sqlite:PATH`, `postgres://USER@HOST/DATABASE` or `memory`."
            }
            Self::Rules { .. } => "docs/gateway.md says what a file of rules looks like.",
            Self::Books(_) => {
                "Check that the store can be reached. --store sqlite:PATH keeps the usage log elsewhere, --store memory keeps none."
            }
            Self::Agents { .. } => "docs/wrap.md says what a file of agents looks like.",
            Self::NoSuchAgent { .. } => {
                "Any other is run with the variable that it takes its API's address from: longhaul wrap --env NAME=URL -- COMMAND."
            }
            Self::NoSuchApi { .. } => {
                "Write --upstream URL for all of them, or --upstream API=URL."
            }
            Self::AgentMissing { install, .. } => match install {
                Some(install) => return Some(format!("Install it: {install}")),
                None => "Check the name, or give the path of the program.",
            },
            Self::BadWrapEnv => {
                "Write the variable and the API's own address, as in --env OPENAI_BASE_URL=https://api.openai.com/v1; --upstream sim puts a simulated model in its place."
            }
            Self::NotMerged { .. } => "It must be unset, or hold a JSON object.",
            Self::BadSince(_) => "Write 30d, 12h or 4w, a date as 2026-11-01, or `all`.",
            Self::NoUsageLog { .. } => {
                "`longhaul serve` and `longhaul wrap` write it; --store names another one."
            }
            Self::NothingKept => "Name a file or a server, as in --store sqlite:PATH.",
            Self::Mcp(_) => {
                "Start it from an MCP client, as in `claude mcp add longhaul -- longhaul mcp`."
            }
            Self::Pace(_) => "Write `fast`, `20ms`, or `300ms/20ms`.",
            Self::NoSuchModel(_) => {
                "Name one of Claude's models, as in --model claude-sonnet-5-5; --set models.file=FILE adds others."
            }
            Self::CompactOne { .. } => {
                "Give a transcript or a session id; `longhaul inspect` lists the sessions of a folder."
            }
            Self::MayNotChange(
                OwnershipRefusal::OtherProgram { .. } | OwnershipRefusal::ModifiedRecently { .. },
            ) => "--output FILE writes a copy and leaves this one alone.",
            Self::OutputIsInput { .. } => "Leave --output out to change it in place.",
            Self::Copy(CopyError::Exists { .. }) | Self::PageExists { .. } => {
                "Add --force to replace it."
            }
            Self::UnpricedModel(_) => {
                "Name a known model, as in --model claude-sonnet-5-5; --models FILE adds others with their prices."
            }
            Self::Pivot { .. } => {
                "Ids are the `uuid` fields of the transcript's lines; `longhaul show` lists what is in view."
            }
            Self::NotUndone(UndoError::TooLarge { .. }) => {
                "Compact the conversation again instead; `longhaul recall` finds what the old one held."
            }
            Self::NoListInPrint => {
                "Start without -p to choose from a list, or use --continue for the newest."
            }
            Self::NothingToFind => "Give words to look for, or an id (--id) or a file (--path).",
            Self::NoPrompt => "Give it after -p, or pipe it in: longhaul chat -p 'What is this?'.",
            Self::Agent {
                error: AgentError::Open(OpenError::Window(_)),
            } => "Give a larger --window, or none: then it is the model's own.",
            Self::Agent {
                error: AgentError::Open(_),
            } => {
                "Sessions are kept under LONGHAUL_HOME: see that it is a folder you may write to, or name another."
            }
            Self::Agent {
                error: AgentError::Find(_),
            } => "Without --resume a new session begins; --continue continues the newest one.",
            Self::NoKeyForModel(_) => {
                "Set ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL; without --model a simulated model answers."
            }
            Self::NoKey => {
                "Set ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL, or give --local in place of --model."
            }
            Self::PurgeUnasked(_) => "Add --yes to delete, or --dry-run to see what would go.",
            _ => return None,
        };
        Some(hint.to_owned())
    }

    /// Prints a warning in place of the error: the work itself is done, and only its report could not be printed. A
    /// reader that has left wants to read neither.
    pub(crate) fn warn_after(&self, done: &str) {
        if let Self::Stdout(error) = self {
            if error.kind() != std::io::ErrorKind::BrokenPipe {
                warn(&format!("{done}; its report could not be printed: {error}"));
            }
        } else {
            warn(&format!("{done}; its report could not be printed: {self}"));
        }
    }

    /// Prints the error on stderr.
    pub(crate) fn report(&self) -> ExitCode {
        // The reader of the pipe has ended, as `head` does: nobody reads the message.
        if let Self::Stdout(error) = self
            && error.kind() == std::io::ErrorKind::BrokenPipe
        {
            return ExitCode::SUCCESS;
        }
        let red = Style::new().fg_color(Some(AnsiColor::Red.into())).bold();
        // The message may hold file names, and those may hold anything.
        tell(&format!("{red}error{red:#}: {}", clean(&self.to_string())));
        if let Some(hint) = self.hint() {
            tell(&format!("  {hint}"));
        }
        match self {
            _ if self.in_use().is_some() => ExitCode::from(IN_USE),
            Self::AgentMissing { .. } => ExitCode::from(NO_PROGRAM),
            Self::AgentNotRun { .. } => ExitCode::from(NOT_RUN),
            _ => ExitCode::from(2),
        }
    }

    /// The process that has the session open, if that is the reason.
    fn in_use(&self) -> Option<&SessionInUse> {
        match self {
            Self::InUse(in_use) => Some(in_use),
            Self::Agent { error } => error.in_use(),
            Self::Recording {
                error: OpenError::InUse(in_use),
            } => Some(in_use),
            _ => None,
        }
    }
}

/// Prints a line on stderr. If even that fails there is nothing left to do.
pub(crate) fn tell(line: &str) {
    use std::io::Write;
    let _ = writeln!(anstream::stderr(), "{}", harmless_but_colored(line));
}

/// Prints a warning on stderr.
pub(crate) fn warn(line: &str) {
    let yellow = Style::new().fg_color(Some(AnsiColor::Yellow.into())).bold();
    tell(&format!("{yellow}warning{yellow:#}: {}", clean(line)));
}
