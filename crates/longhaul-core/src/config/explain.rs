//! Where each value came from (`--explain`).

use std::fmt;

use serde::{Serialize, Serializer};

/// A setting, its value, and where that came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// The setting's key.
    pub key: &'static str,
    /// Its value as it would be written; none if unset.
    pub value: Option<String>,
    /// Where the value came from.
    pub source: Source,
    /// What the setting does.
    pub doc: &'static str,
    /// The environment variables that could set it.
    pub env_names: Vec<&'static str>,
}

/// The layer that set a value. Written as in `config.toml:3`, `environment: DISABLE_COMPACT`, `flag --window`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
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

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Default => f.write_str("default"),
            Source::File { path, line } => write!(f, "{path}:{line}"),
            Source::Environment(name) => write!(f, "environment: {name}"),
            Source::Flag(flag) => write!(f, "flag {flag}"),
        }
    }
}

impl Serialize for Source {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
