//! The kinds of change that may break the cache, each with the words that name it.

use bytes::Bytes;

use super::speaker::MessageSpeaker;
use crate::message::BlockKind;
use crate::prompt::Ttl;

/// A difference between two requests.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestChange {
    /// The model changed.
    Model {
        /// The model before.
        from: String,
        /// The model now.
        to: String,
    },
    /// The beta features changed.
    Betas {
        /// New beta features.
        added: Vec<String>,
        /// Removed beta features.
        removed: Vec<String>,
    },
    /// The tool definitions changed; the lists hold their names.
    Tools {
        /// New tools.
        added: Vec<String>,
        /// Removed tools.
        removed: Vec<String>,
        /// Tools with another definition.
        edited: Vec<String>,
        /// Tools at another position, if nothing else is different.
        moved: Vec<String>,
    },
    /// The provider's web search was turned on or off, which changes the system prompt.
    WebSearch(PresenceChange),
    /// `speed` changed.
    Speed {
        /// The value before.
        from: String,
        /// The value now.
        to: String,
    },
    /// Citations were turned on or off, which changes the system prompt.
    Citations(PresenceChange),
    /// The output format changed.
    Format {
        /// The format before, as JSON.
        from: Option<String>,
        /// The format now, as JSON.
        to: Option<String>,
    },
    /// The text of the system prompt changed.
    System(Vec<SystemEdit>),
    /// `tool_choice` changed.
    ToolChoice {
        /// The value before.
        from: String,
        /// The value now.
        to: String,
    },
    /// The first image was added to the messages, or the last one was removed.
    Images(PresenceChange),
    /// The thinking settings changed.
    Thinking {
        /// The settings before.
        from: Option<String>,
        /// The settings now.
        to: Option<String>,
    },
    /// The effort changed.
    Effort {
        /// The effort before.
        from: String,
        /// The effort now.
        to: String,
    },
    /// A new turn of the user makes the model drop earlier thinking from the prompt.
    ThinkingDropped {
        /// The first message that lost thinking.
        message: u32,
    },
    /// A message that was sent before is different now.
    Message(MessageEdit),
    /// The last breakpoint is too far after the written part for the provider to look back to it.
    OutOfReach {
        /// Positions from the written part to the next breakpoint.
        distance: usize,
    },
    /// No breakpoint covers the cached part any more.
    Unmarked,
    /// A field of the body with unknown effect changed.
    Extra {
        /// The name of the field.
        name: String,
        /// The value before, as JSON.
        from: Option<String>,
        /// The value now, as JSON.
        to: Option<String>,
    },
    /// The requested lifetime changed.
    Ttl {
        /// The lifetime before.
        from: Ttl,
        /// The lifetime now.
        to: Ttl,
    },
    /// The requested scope changed.
    Scope {
        /// The scope before.
        from: Option<String>,
        /// The scope now.
        to: Option<String>,
    },
    /// One of the host's modes changed.
    Flag {
        /// The name of the mode.
        name: String,
        /// The value before.
        from: Option<String>,
        /// The value now.
        to: Option<String>,
    },
}

/// Whether something appeared or disappeared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PresenceChange {
    /// It appeared.
    On,
    /// It disappeared.
    Off,
}

/// One part of the system prompt that is different.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemEdit {
    /// The block, counted from 0.
    pub block: usize,
    /// The section, where the host names them.
    pub section: Option<String>,
    /// Characters before. `None` if the part is new.
    pub before: Option<usize>,
    /// Characters now. `None` if the part is gone.
    pub after: Option<usize>,
}

/// One position of the messages that is different.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageEdit {
    /// The message, counted from 0 in the earlier request.
    pub message: u32,
    /// The speaker of the message.
    pub speaker: MessageSpeaker,
    /// The kind of the block: the earlier one, or the new one if it is new.
    pub block: BlockKind,
    /// Whether an image is gone.
    pub image_removed: bool,
    /// Whether the whole message is gone or new.
    pub whole: bool,
    /// The block before. `None` if it is new.
    pub before: Option<Bytes>,
    /// The block now. `None` if it is gone.
    pub after: Option<Bytes>,
}

/// How certain it is that a change breaks the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeCertainty {
    /// The change is part of the cache key.
    Key,
    /// The change is not known to be part of the key, but it is the only difference.
    Suspect,
}

impl RequestChange {
    /// How certain it is that this change breaks the cache.
    pub fn weight(&self) -> ChangeCertainty {
        match self {
            Self::Extra { .. } | Self::Ttl { .. } | Self::Scope { .. } | Self::Flag { .. } => {
                ChangeCertainty::Suspect
            }
            _ => ChangeCertainty::Key,
        }
    }

    /// Whether the change is in the messages: where a host replaces them, the host caused it.
    pub(super) fn is_in_messages(&self) -> bool {
        matches!(
            self,
            Self::Message(_)
                | Self::Images(_)
                | Self::Citations(_)
                | Self::ThinkingDropped { .. }
                | Self::OutOfReach { .. }
                | Self::Unmarked
        )
    }

    /// A short name for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Model { .. } => "model",
            Self::Betas { .. } => "betas",
            Self::Tools { .. } => "tools",
            Self::WebSearch(_) => "web_search",
            Self::Speed { .. } => "speed",
            Self::Citations(_) => "citations",
            Self::Format { .. } => "output_format",
            Self::System(_) => "system",
            Self::ToolChoice { .. } => "tool_choice",
            Self::Images(_) => "images",
            Self::Thinking { .. } => "thinking",
            Self::Effort { .. } => "effort",
            Self::ThinkingDropped { .. } => "thinking_dropped",
            Self::Message(_) => "messages",
            Self::OutOfReach { .. } => "out_of_reach",
            Self::Unmarked => "unmarked",
            Self::Extra { .. } => "extra_body",
            Self::Ttl { .. } => "ttl",
            Self::Scope { .. } => "scope",
            Self::Flag { .. } => "flag",
        }
    }
}
