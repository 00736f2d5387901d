//! The kinds of change that may break the cache, each with the words that name it.

use bytes::Bytes;

use super::messages::MessageSpeaker;
use crate::message::BlockKind;
use crate::prompt::Ttl;

/// Something that two requests differ in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestChange {
    /// Another model.
    Model {
        /// Before.
        from: String,
        /// Now.
        to: String,
    },
    /// Other beta features.
    Betas {
        /// New ones.
        added: Vec<String>,
        /// Those that are gone.
        removed: Vec<String>,
    },
    /// Other tool definitions, by name.
    Tools {
        /// New ones.
        added: Vec<String>,
        /// Those that are gone.
        removed: Vec<String>,
        /// Those with another definition.
        edited: Vec<String>,
        /// Those that stand elsewhere, if nothing else is different.
        moved: Vec<String>,
    },
    /// The provider's web search, which changes the system prompt.
    WebSearch(PresenceChange),
    /// `speed`.
    Speed {
        /// Before.
        from: String,
        /// Now.
        to: String,
    },
    /// Citations, which change the system prompt.
    Citations(PresenceChange),
    /// The output format.
    Format {
        /// Before, as JSON.
        from: Option<String>,
        /// Now.
        to: Option<String>,
    },
    /// Other text in the system prompt.
    System(Vec<SystemEdit>),
    /// `tool_choice`.
    ToolChoice {
        /// Before.
        from: String,
        /// Now.
        to: String,
    },
    /// Whether there is any picture in the messages.
    Images(PresenceChange),
    /// The thinking settings.
    Thinking {
        /// Before.
        from: Option<String>,
        /// Now.
        to: Option<String>,
    },
    /// The effort.
    Effort {
        /// Before.
        from: String,
        /// Now.
        to: String,
    },
    /// A new turn of the user makes the model drop earlier thinking from the prompt.
    ThinkingDropped {
        /// The first message that lost some.
        message: u32,
    },
    /// Something that was sent is different now.
    Message(MessageEdit),
    /// The last marker stands too far behind what was written for the provider to look back to it.
    OutOfReach {
        /// Positions from what was written to the next marker.
        distance: usize,
    },
    /// What was cached is no longer covered by a marker.
    Unmarked,
    /// A field of the body whose effect is not known.
    Extra {
        /// Its name.
        name: String,
        /// Before, as JSON.
        from: Option<String>,
        /// Now.
        to: Option<String>,
    },
    /// The lifetime asked for.
    Ttl {
        /// Before.
        from: Ttl,
        /// Now.
        to: Ttl,
    },
    /// The scope asked for.
    Scope {
        /// Before.
        from: Option<String>,
        /// Now.
        to: Option<String>,
    },
    /// One of the host's modes.
    Flag {
        /// Its name.
        name: String,
        /// Before.
        from: Option<String>,
        /// Now.
        to: Option<String>,
    },
}

/// Something that is either there or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PresenceChange {
    /// It was not there before.
    On,
    /// It is no longer there.
    Off,
}

/// One part of the system prompt that is different.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemEdit {
    /// The block, counted from 0.
    pub block: usize,
    /// The section, where the host names them.
    pub section: Option<String>,
    /// Characters before; none: it was not there.
    pub before: Option<usize>,
    /// Characters now; none: it is gone.
    pub after: Option<usize>,
}

/// One position of the messages that is different.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageEdit {
    /// The message, counted from 0, as it was counted before.
    pub message: u32,
    /// Who speaks.
    pub speaker: MessageSpeaker,
    /// What the block was, or is if it is new.
    pub block: BlockKind,
    /// Whether a picture is gone.
    pub image_removed: bool,
    /// Whether it is all of the message.
    pub whole: bool,
    /// The block as it was; none: it is new.
    pub before: Option<Bytes>,
    /// The block as it is; none: it is gone.
    pub after: Option<Bytes>,
}

/// How sure it is that a change breaks the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeCertainty {
    /// It is part of the key.
    Key,
    /// It is not known to be, yet it is all that differs.
    Suspect,
}

impl RequestChange {
    /// How sure it is that this breaks the cache.
    pub fn weight(&self) -> ChangeCertainty {
        match self {
            Self::Extra { .. } | Self::Ttl { .. } | Self::Scope { .. } | Self::Flag { .. } => {
                ChangeCertainty::Suspect
            }
            _ => ChangeCertainty::Key,
        }
    }

    /// Whether it is about what is said in messages: where a host says it in the client's place, that is the host's doing.
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
