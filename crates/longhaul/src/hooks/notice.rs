//! What is wrong with a settings file. None of it keeps the other hooks from running.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Something in a settings file that was passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookNotice {
    /// The file.
    pub file: PathBuf,
    /// Where in it, as `hooks.PreCompact[0].matcher`; empty for the file as a whole.
    pub place: String,
    /// What it is.
    pub kind: HookNoticeKind,
}

/// What was passed over, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HookNoticeKind {
    /// The file is there and cannot be read.
    Unreadable(io::ErrorKind),
    /// The file is no JSON from here on; none of its hooks run.
    NotJson {
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
    },
    /// Something of this kind should be there.
    Expected(&'static str),
    /// No event of this name fires here.
    UnknownEvent(String),
    /// A hook of a type that is not run here.
    UnsupportedType(String),
    /// The matcher is no regular expression that can be used; its hooks do not run.
    BadMatcher,
    /// A field whose effect is not known here; the sentence says what happens instead.
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
            HookNoticeKind::Expected(what) => write!(f, "should be {what}; passed over"),
            HookNoticeKind::UnknownEvent(name) => {
                write!(f, "no event `{name}` fires here; its hooks do not run")
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
