//! An archived item: a part of an entry, with its origin.

use jiff::Timestamp;
use longhaul_core::tokens::Estimate;

/// What kind of text an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ArchiveItemKind {
    /// The output of a tool.
    ToolResult,
    /// The input of a tool call.
    ToolCall,
    /// A message that the user wrote, or the host in the user's name.
    UserMessage,
    /// A message that the model wrote.
    AssistantMessage,
    /// The model's reasoning, where it is readable.
    Thinking,
    /// The summary that replaced an earlier part of the conversation.
    Summary,
    /// Content that the host added next to a message.
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

    /// The name of the kind, as stored and as programs see it.
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

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Whether the model still sees an item, and if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ViewPresence {
    /// It is in the live view.
    Live,
    /// A marker replaced the tool result.
    Cleared,
    /// A compaction replaced the item with a summary.
    Summarized,
    /// The item belongs to a turn that was taken back.
    Abandoned,
    /// The item belongs to a sub-agent's conversation, which the main one never saw.
    Sidechain,
}

impl ViewPresence {
    const ALL: [Self; 5] = [
        Self::Live,
        Self::Cleared,
        Self::Summarized,
        Self::Abandoned,
        Self::Sidechain,
    ];

    /// The name of the presence, as stored and as programs see it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Cleared => "cleared",
            Self::Summarized => "summarised",
            Self::Abandoned => "abandoned",
            Self::Sidechain => "sidechain",
        }
    }

    /// The presence with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|presence| presence.name() == name)
    }
}

/// A part of an entry, ready to be archived. [`ItemReader`](super::ItemReader) makes items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveItem {
    /// The uuid of the entry.
    pub uuid: String,
    /// The part of the entry: the position of its first block.
    pub part: u32,
    /// What kind of text it is.
    pub kind: ArchiveItemKind,
    /// The id of the call, for a call and its result.
    pub tool_use_id: Option<String>,
    /// The name of the tool, for a call and its result.
    pub tool: Option<String>,
    /// The file or folder that the call or attachment is about.
    pub path: Option<String>,
    /// The id of the session.
    pub session: Option<String>,
    /// When the entry was written.
    pub timestamp: Option<Timestamp>,
    /// The estimated size in the context window.
    pub tokens: Estimate,
    /// Whether the model still sees the item; for archived items, why not.
    pub presence: ViewPresence,
    /// The text of the item.
    pub text: String,
}
