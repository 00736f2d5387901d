//! What the archive keeps: a part of an entry, with where it came from.

use jiff::Timestamp;
use longhaul_core::tokens::Estimate;

/// What a kept text was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArchiveItemKind {
    /// What a tool answered.
    ToolResult,
    /// What a tool was asked.
    ToolCall,
    /// What the user wrote, or the host in the user's name.
    UserMessage,
    /// What the model wrote.
    AssistantMessage,
    /// The model's reasoning, where it is readable.
    Thinking,
    /// The summary that replaced an earlier part of the conversation.
    Summary,
    /// What the host added beside a message.
    Attachment,
}

impl ArchiveItemKind {
    const ALL: [Self; 7] = [
        Self::ToolResult,
        Self::ToolCall,
        Self::UserMessage,
        Self::AssistantMessage,
        Self::Thinking,
        Self::Summary,
        Self::Attachment,
    ];

    /// Its name, as stored and as programs see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ToolResult => "tool_result",
            Self::ToolCall => "tool_call",
            Self::UserMessage => "user_message",
            Self::AssistantMessage => "assistant_message",
            Self::Thinking => "thinking",
            Self::Summary => "summary",
            Self::Attachment => "attachment",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Whether the model still sees it, and if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ViewPresence {
    /// It is in the live view.
    Live,
    /// A tool result that was replaced by a marker.
    Cleared,
    /// A compaction put a summary in its place.
    Summarised,
    /// Of a turn that was taken back.
    Abandoned,
    /// Of a sub-agent's conversation: the main one never saw it.
    Sidechain,
}

impl ViewPresence {
    const ALL: [Self; 5] = [
        Self::Live,
        Self::Cleared,
        Self::Summarised,
        Self::Abandoned,
        Self::Sidechain,
    ];

    /// Its name, as stored and as programs see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Cleared => "cleared",
            Self::Summarised => "summarised",
            Self::Abandoned => "abandoned",
            Self::Sidechain => "sidechain",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|presence| presence.name() == name)
    }
}

/// A part of an entry, ready to be kept. Made by [`ItemReader`](super::ItemReader).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveItem {
    /// The entry.
    pub uuid: String,
    /// Which part of the entry: the position of its first block.
    pub part: u32,
    /// What it is.
    pub kind: ArchiveItemKind,
    /// The call, for a call and its result.
    pub tool_use_id: Option<String>,
    /// The tool, for a call and its result.
    pub tool: Option<String>,
    /// The file or folder that the call or attachment is about.
    pub path: Option<String>,
    /// The session.
    pub session: Option<String>,
    /// When the entry was written.
    pub timestamp: Option<Timestamp>,
    /// What it weighs in the window.
    pub tokens: Estimate,
    /// Whether the model still sees it; for what is archived, why not.
    pub presence: ViewPresence,
    /// The text.
    pub text: String,
}
