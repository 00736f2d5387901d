//! The kinds of compacted prefixes, by how they were made.

use serde::{Deserialize, Serialize};

/// How a compacted prefix was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompactedPrefixKind {
    /// Old tool results were cleared.
    Cleared,
    /// The session notes are used as the summary.
    Noted,
    /// A model wrote a summary. Stores and programs have it in its older spelling.
    #[serde(rename = "summarised")]
    Summarized,
    /// Extracts from the messages are used as the summary: no model was asked, or none gave a usable answer.
    Extracted,
    /// Earlier thinking was left out, because it is bound to messages that an earlier prefix replaces (N2).
    Settled,
}

impl CompactedPrefixKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [
        Self::Cleared,
        Self::Noted,
        Self::Summarized,
        Self::Extracted,
        Self::Settled,
    ];

    /// The name of the kind in the usage log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cleared => "cleared",
            Self::Noted => "noted",
            Self::Summarized => "summarised",
            Self::Extracted => "extracted",
            Self::Settled => "settled",
        }
    }

    /// The kind with this name, if there is one.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
