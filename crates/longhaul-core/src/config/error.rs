//! The problems of a configuration: errors where a value was meant for us, notices where it may not have been.

use std::fmt;

use serde::Serialize;

use super::explain::SettingSource;
use crate::window::WindowError;

/// Why a configuration was rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file is not valid TOML.
    #[error("{path}:{line}: {message}")]
    Syntax {
        /// The file.
        path: String,
        /// The line, counted from 1.
        line: usize,
        /// The parser's message.
        message: String,
    },
    /// The file has a key that is not a setting.
    #[error("{path}:{line}: `{key}` is not a setting{}", meant(*.hint))]
    UnknownKey {
        /// The file.
        path: String,
        /// The line, counted from 1.
        line: usize,
        /// The key, dotted.
        key: String,
        /// The setting that may be meant.
        hint: Option<&'static str>,
    },
    /// The file has a value that a setting does not take.
    #[error("{path}:{line}: `{key}` takes {accepted}, not {found}")]
    WrongValue {
        /// The file.
        path: String,
        /// The line, counted from 1.
        line: usize,
        /// The setting.
        key: &'static str,
        /// The value in the file.
        found: String,
        /// The accepted values.
        accepted: &'static str,
    },
    /// A flag sets a key that is not a setting.
    #[error("`{key}` is not a setting{}", meant(*.hint))]
    UnknownFlag {
        /// The key.
        key: String,
        /// The setting that may be meant.
        hint: Option<&'static str>,
    },
    /// A flag has a value that its setting does not take.
    #[error("{flag} takes {accepted}, not {value:?}")]
    FlagValue {
        /// The flag.
        flag: String,
        /// The given value.
        value: String,
        /// The accepted values.
        accepted: &'static str,
    },
    /// The settings leave a window that is too small to work in.
    #[error("{origin}: {error}")]
    Window {
        /// Where the setting came from.
        origin: SettingSource,
        /// What is wrong with the window.
        error: WindowError,
    },
}

/// A value that was set but is not used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ConfigNotice {
    /// A variable whose value does not parse completely.
    IgnoredValue {
        /// The variable.
        variable: &'static str,
        /// The variable's value.
        value: String,
        /// The accepted values.
        accepted: &'static str,
    },
    /// A setting that another one makes meaningless.
    Meaningless {
        /// The setting.
        key: &'static str,
        /// Why it does nothing.
        reason: &'static str,
    },
    /// A variable that looks like a misspelling of one of ours. Its value is left out, because it may be anything.
    UnknownVariable {
        /// The variable.
        variable: String,
        /// The variable that may be meant.
        hint: &'static str,
    },
}

impl fmt::Display for ConfigNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigNotice::IgnoredValue {
                variable,
                value,
                accepted,
            } => write!(
                f,
                "{variable} is ignored: it takes {accepted}, not {value:?}"
            ),
            ConfigNotice::Meaningless { key, reason } => {
                write!(f, "{key} is ignored: {reason}")
            }
            ConfigNotice::UnknownVariable { variable, hint } => {
                write!(f, "{variable} is not known; did you mean {hint}?")
            }
        }
    }
}

fn meant(hint: Option<&'static str>) -> String {
    hint.map_or_else(String::new, |hint| format!("; did you mean `{hint}`?"))
}
