//! Problems of a settings file. None of them keeps the other hooks from running.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Something in a settings file that was ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookNotice {
    /// The file.
    pub file: PathBuf,
    /// The position in the file, such as `hooks.PreCompact[0].matcher`; empty for the file as a whole.
    pub place: String,
    /// What was ignored.
    pub kind: HookNoticeKind,
}

/// What was ignored, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HookNoticeKind {
    /// The file exists and cannot be read.
    Unreadable(io::ErrorKind),
    /// The file is not JSON from here on; none of its hooks run.
    NotJson {
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
    },
    /// A value of this kind was expected.
    Expected(&'static str),
    /// There is no event of this name here.
    UnknownEvent(String),
    /// The hook is of a type that is not run here.
    UnsupportedType(String),
    /// The matcher is not a valid regular expression; its hooks do not run.
    BadMatcher,
    /// The field has no effect here; the sentence says what happens instead.
    Unsupported(&'static str),
    /// All hooks are switched off by `disableAllHooks` in this file.
    AllDisabled,
}

impl fmt::Display for HookNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let HookNoticeKind::NotJson { line, column } = self.kind {
            write!(f, ":{line}:{column}")?;
        }
        if !self.place.is_empty() {
            write!(f, ", {}", self.place)?;
        }
        f.write_str(": ")?;
        match &self.kind {
            HookNoticeKind::Unreadable(kind) => {
                write!(f, "cannot be read ({kind}); its hooks do not run")
            }
            HookNoticeKind::NotJson { .. } => {
                f.write_str("is not valid JSON here; correct it, until then its hooks do not run")
            }
            HookNoticeKind::Expected(what) => write!(f, "should be {what}; ignored"),
            HookNoticeKind::UnknownEvent(name) => {
                write!(f, "there is no event `{name}` here; its hooks do not run")
            }
            HookNoticeKind::UnsupportedType(kind) => {
                write!(f, "hooks of type `{kind}` are not run here, only `command`")
            }
            HookNoticeKind::BadMatcher => f.write_str(
                "is no regular expression that can be used (look-around is not supported); its hooks do not run",
            ),
            HookNoticeKind::Unsupported(instead) => f.write_str(instead),
            HookNoticeKind::AllDisabled => f.write_str("switches all hooks off"),
        }
    }
}
