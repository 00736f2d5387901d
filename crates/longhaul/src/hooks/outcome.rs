//! What hooks answered, put together. How an answer is read is in `interpret.rs`.

use std::fmt;
use std::io;
use std::time::Duration;

use serde_json::Value;

use super::name::HookEventName;

/// What all hooks of one event answered, in the order in which they are configured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookResponse {
    /// The thing is not to happen; the first hook that says so is heard. Set for a denied tool call too.
    pub blocked: Option<HookReason>,
    /// The turn is to end after this; the text is for the user.
    pub stop: Option<HookReason>,
    /// For the model, where the event happened. After a compaction these are the hook results (F10).
    pub context: Vec<String>,
    /// For the model, with the request for a summary.
    pub instructions: Vec<String>,
    /// For the user.
    pub messages: Vec<String>,
    /// For the user: what went wrong. None of it is a reason to stop.
    pub errors: Vec<HookError>,
    /// Whether a tool may run; of several answers the strictest.
    pub permission: Option<HookPermission>,
    /// Arguments in place of those the tool was called with; the last answer.
    pub updated_input: Option<Value>,
    /// A result in place of the one the tool gave; the last answer.
    pub updated_output: Option<Value>,
    /// A prompt to begin the session with; the last answer.
    pub initial_user_message: Option<String>,
    /// A title for the session; the last answer.
    pub session_title: Option<String>,
    /// Some hooks were ended early because the call was cancelled.
    pub cancelled: bool,
}

/// Who said no, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookReason {
    /// The hook, by the place where it is configured.
    pub hook: String,
    /// Its words.
    pub text: String,
}

/// Whether a tool may run. The later variant is the stricter one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookPermission {
    /// Without asking.
    Allow,
    /// If the user agrees.
    Ask,
    /// Not now; whoever runs the agent decides later.
    Defer,
    /// No.
    Deny,
}

/// What went wrong with one hook.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("hook {hook}: {failure}")]
pub struct HookError {
    /// The hook, by the place where it is configured.
    pub hook: String,
    /// What went wrong.
    pub failure: HookFailure,
}

/// What went wrong. Nothing here repeats what a hook was given: its input, its environment or its command line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HookFailure {
    /// It ended with a code other than 0 and 2.
    Exit {
        /// The code.
        code: i32,
        /// The first line it wrote to stderr.
        stderr: String,
    },
    /// A signal ended it.
    Signal(i32),
    /// It took longer than this and was killed.
    TimedOut(Duration),
    /// It could not be started.
    NotStarted(io::ErrorKind),
    /// Its output begins as JSON and is none; it was not used.
    NotJson {
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
    },
    /// A field of its JSON was not used; the sentence says which and why.
    Unused(&'static str),
    /// A hook written in Rust panicked.
    Panicked,
    /// Its long output could not be written to a file; only the beginning was kept.
    NotKept(io::ErrorKind),
}

impl fmt::Display for HookFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HookFailure::Exit { code, stderr } if stderr.is_empty() => {
                write!(f, "ended with code {code}")
            }
            HookFailure::Exit { code, stderr } => write!(f, "ended with code {code}: {stderr}"),
            HookFailure::Signal(signal) => write!(f, "was ended by signal {signal}"),
            HookFailure::TimedOut(limit) => write!(
                f,
                "took longer than {limit:?} and was killed; set its `timeout` if it needs more"
            ),
            HookFailure::NotStarted(kind) => write!(f, "could not be started: {kind}"),
            HookFailure::NotJson { line, column } => write!(
                f,
                "printed something that begins as JSON and is none at line {line}, column {column}; it was not used"
            ),
            HookFailure::Unused(what) => f.write_str(what),
            HookFailure::Panicked => f.write_str("panicked"),
            HookFailure::NotKept(kind) => {
                write!(f, "its long output could not be kept in a file: {kind}")
            }
        }
    }
}

impl HookResponse {
    /// Adds what a later hook answered.
    pub(crate) fn absorb(&mut self, later: HookResponse) {
        self.blocked = self.blocked.take().or(later.blocked);
        self.stop = self.stop.take().or(later.stop);
        self.context.extend(later.context);
        self.instructions.extend(later.instructions);
        self.messages.extend(later.messages);
        self.errors.extend(later.errors);
        self.permission = self.permission.max(later.permission);
        self.updated_input = later.updated_input.or(self.updated_input.take());
        self.updated_output = later.updated_output.or(self.updated_output.take());
        self.initial_user_message = later
            .initial_user_message
            .or(self.initial_user_message.take());
        self.session_title = later.session_title.or(self.session_title.take());
        self.cancelled |= later.cancelled;
    }

    /// All answers as one, in this order.
    pub(crate) fn merged(answers: impl IntoIterator<Item = HookResponse>) -> HookResponse {
        answers
            .into_iter()
            .fold(HookResponse::default(), |mut all, answer| {
                all.absorb(answer);
                all
            })
    }

    /// Only what went wrong.
    pub(super) fn failed(hook: &str, failure: HookFailure) -> HookResponse {
        let mut outcome = HookResponse::default();
        outcome.fail(hook, failure);
        outcome
    }

    /// Notes what went wrong.
    pub(super) fn fail(&mut self, hook: &str, failure: HookFailure) {
        self.errors.push(HookError {
            hook: hook.to_owned(),
            failure,
        });
    }

    /// Every text in it that somebody will read, errors apart, which are short.
    pub(super) fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let reasons = self.blocked.iter_mut().chain(&mut self.stop);
        self.context
            .iter_mut()
            .chain(&mut self.instructions)
            .chain(&mut self.messages)
            .chain(&mut self.initial_user_message)
            .chain(&mut self.session_title)
            .chain(reasons.map(|reason| &mut reason.text))
    }

    /// Takes out what an answer to this event cannot do; the user still gets to read why it was tried.
    pub(super) fn within(mut self, event: HookEventName) -> HookResponse {
        if !event.can_block()
            && let Some(reason) = self.blocked.take()
        {
            self.messages.push(reason.text);
        }
        if !event.can_stop_the_turn() {
            self.stop = None;
        }
        if !event.takes_context() {
            self.context.clear();
        }
        if event != HookEventName::PreCompact {
            self.instructions.clear();
        }
        self
    }
}
