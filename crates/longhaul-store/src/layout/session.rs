//! The id of a session. It is the name of the session's file, so it must never lead elsewhere.

use std::fmt;
use std::path::{Path, PathBuf};

use super::is_one_name;

/// The maximum length of an id: the common limit for file names, less an extension and room for temporary names.
const LONGEST: usize = 200;

/// A session's id, or the beginning of one. It is safe as a file name: no separators, no `..`, no control characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(String);

/// A text that cannot be a session's id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a session id: it must be a plain file name of at most {LONGEST} bytes, without path separators, \"..\" or control characters"
)]
pub struct BadSessionId(pub String);

impl SessionId {
    /// Parses a text as an id, if it can be one.
    ///
    /// # Errors
    /// Fails if the text is not a plain file name of sensible length; the error says what it must be.
    pub fn parse(text: &str) -> Result<Self, BadSessionId> {
        let plain = is_one_name(text)
            && text.len() <= LONGEST
            && !text.starts_with('.')
            && !text.contains("..")
            && !text.contains([':', '*', '?', '"', '<', '>', '|'])
            && !text.chars().any(char::is_control);
        if plain {
            Ok(Self(text.to_owned()))
        } else {
            Err(BadSessionId(text.to_owned()))
        }
    }

    /// The id of the session with this transcript, taken from the file name.
    pub fn of_transcript(path: &Path) -> Option<Self> {
        if path.extension()? != super::EXTENSION {
            return None;
        }
        Self::parse(path.file_stem()?.to_str()?).ok()
    }

    /// The id as a string.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The file name of the session's transcript.
    pub fn file_name(&self) -> String {
        format!("{}.{}", self.0, super::EXTENSION)
    }

    /// Whether this is the file of a sub-agent, which older versions put next to the sessions.
    pub(super) fn is_subagent(&self) -> bool {
        self.0.starts_with("agent-")
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The folder that holds the conversations of a session's sub-agents, if it has any.
pub fn subagents_folder(transcript: &Path) -> PathBuf {
    transcript.with_extension("").join("subagents")
}
