//! Where each value came from (`--explain`).

use std::fmt;

use serde::{Serialize, Serializer};

/// A setting, its value, and where that came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExplainedSetting {
    /// The setting's key.
    pub key: &'static str,
    /// Its value as it would be written; none if unset.
    pub value: Option<String>,
    /// Where the value came from.
    pub source: SettingSource,
    /// What the setting does.
    pub doc: &'static str,
    /// The environment variables that could set it.
    pub env_names: Vec<&'static str>,
}

/// The layer that set a value. Written as in `config.toml:3`, `environment: DISABLE_COMPACT`, `flag --window`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingSource {
    /// Nothing set it.
    Default,
    /// A line of the file.
    File {
        /// The file.
        path: String,
        /// The line, counted from 1.
        line: usize,
    },
    /// An environment variable.
    Environment(&'static str),
    /// A flag.
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
