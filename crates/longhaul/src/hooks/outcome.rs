//! The combined answer of all hooks. How a single answer is read is in `interpret.rs`.

use std::fmt;
use std::io;
use std::time::Duration;

use serde_json::Value;

use super::name::HookEventName;

/// What all hooks of one event answered, in the order in which the hooks are configured.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookResponse {
    /// A hook blocks the event; the reason is that of the first hook that does. Also set for a denied tool call.
    pub blocked: Option<HookReason>,
    /// A hook wants the turn to end after this; the text is for the user.
    pub stop: Option<HookReason>,
    /// Texts for the model, where the event happened. After a compaction these are the hook results (F10).
    pub context: Vec<String>,
    /// Instructions for the model, sent with the request for a summary.
    pub instructions: Vec<String>,
    /// Messages for the user.
    pub messages: Vec<String>,
    /// Failures of hooks, for the user. None of them is a reason to stop.
    pub errors: Vec<HookError>,
    /// Whether a tool may run; the strictest of several answers.
    pub permission: Option<HookPermission>,
    /// Arguments that replace those of the tool call; the last answer counts.
    pub updated_input: Option<Value>,
    /// A result that replaces the tool's own; the last answer counts.
    pub updated_output: Option<Value>,
    /// A prompt to begin the session with; the last answer counts.
    pub initial_user_message: Option<String>,
    /// A title for the session; the last answer counts.
    pub session_title: Option<String>,
    /// Some hooks were ended early because the call was cancelled.
    pub cancelled: bool,
}

/// Which hook blocked something, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookReason {
    /// The hook, by the place where it is configured.
    pub hook: String,
    /// The reason that it gave.
    pub text: String,
}

/// Whether a tool may run. The later variant is the stricter one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookPermission {
    /// It may run without asking.
    Allow,
    /// It may run if the user agrees.
    Ask,
    /// It does not run now; the host decides later.
    Defer,
    /// It may not run.
    Deny,
}

/// A failure of one hook.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("hook {hook}: {failure}")]
pub struct HookError {
    /// The hook, by the place where it is configured.
    pub hook: String,
    /// What went wrong.
    pub failure: HookFailure,
}

/// What went wrong. None of the variants repeats the hook's input, environment or command line.
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
    /// Its output begins like JSON and is not valid; it was not used.
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
                "took longer than {} s and was killed; set its `timeout` if it needs more",
                limit.as_secs_f64()
            ),
            HookFailure::NotStarted(kind) => write!(f, "could not be started: {kind}"),
            HookFailure::NotJson { line, column } => write!(
                f,
                "printed something that begins like JSON and is not valid at line {line}, column {column}; it was not used"
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

    /// Combines all answers, in this order.
    pub(crate) fn merged(answers: impl IntoIterator<Item = HookResponse>) -> HookResponse {
        answers
            .into_iter()
            .fold(HookResponse::default(), |mut all, answer| {
                all.absorb(answer);
                all
            })
    }

    /// A response that holds only a failure.
    pub(super) fn failed(hook: &str, failure: HookFailure) -> HookResponse {
        let mut outcome = HookResponse::default();
        outcome.fail(hook, failure);
        outcome
    }

    /// Adds a failure.
    pub(super) fn fail(&mut self, hook: &str, failure: HookFailure) {
        self.errors.push(HookError {
            hook: hook.to_owned(),
            failure,
        });
    }

    /// Every text that the user or the model will read, except errors, which are short.
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

    /// Removes what an answer to this event cannot do; the user still sees the reason that the hook gave.
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
