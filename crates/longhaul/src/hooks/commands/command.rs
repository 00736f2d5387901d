//! One configured command. Running it is in `process.rs`.

use std::fmt;
use std::time::Duration;

/// A hook of type `command`.
#[derive(Clone, PartialEq, Eq)]
pub struct HookCommand {
    /// What the command starts.
    pub launch: HookLaunch,
    /// How long it may take.
    pub timeout: Duration,
    /// Where it is configured, in the form that messages use.
    pub label: String,
}

/// What a hook command starts.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum HookLaunch {
    /// A line for the shell.
    Line(String),
    /// A program and its arguments, without a shell.
    Program(String, Vec<String>),
}

impl HookCommand {
    /// How long a hook may take if its settings do not say.
    pub const DEFAULT_TIMEOUT: Duration = super::call::DEFAULT_TIMEOUT;

    /// How long a hook may take at the end of a session if its settings do not say: the user waits for the terminal.
    pub const END_TIMEOUT: Duration = Duration::from_secs(5);
}

// People put keys into command lines, so the command is not shown; where it is configured is enough to find it.
impl fmt::Debug for HookCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command")
            .field("label", &self.label)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for HookLaunch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HookLaunch::Line(line) => f.write_str(line),
            HookLaunch::Program(program, args) => {
                f.write_str(program)?;
                args.iter().try_for_each(|arg| write!(f, " {arg}"))
            }
        }
    }
}

impl fmt::Debug for HookLaunch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HookLaunch::Line(_) => "Line(..)",
            HookLaunch::Program(..) => "Program(..)",
        })
    }
}
