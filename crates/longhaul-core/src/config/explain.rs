//! Where each value came from (`--explain`).

use std::fmt;

use serde::{Serialize, Serializer};

/// A setting, its value, and where the value came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ExplainedSetting {
    /// The setting's key.
    pub key: &'static str,
    /// The value as it would be written; `None` if it is unset.
    pub value: Option<String>,
    /// Where the value came from.
    pub source: SettingSource,
    /// What the setting does.
    pub doc: &'static str,
    /// The environment variables that could set it.
    pub env_names: Vec<&'static str>,
}

/// The layer that set a value. It is written like `config.toml:3`, `environment: DISABLE_COMPACT`, `flag --window`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingSource {
    /// The value is the default.
    Default,
    /// The value comes from a line of the file.
    File {
        /// The file.
        path: String,
        /// The line, counted from 1.
        line: usize,
    },
    /// The value comes from this environment variable.
    Environment(&'static str),
    /// The value comes from this flag.
    Flag(String),
}

impl fmt::Display for SettingSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingSource::Default => f.write_str("default"),
            SettingSource::File { path, line } => write!(f, "{path}:{line}"),
            SettingSource::Environment(name) => write!(f, "environment: {name}"),
            SettingSource::Flag(flag) => write!(f, "flag {flag}"),
        }
    }
}

impl Serialize for SettingSource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
