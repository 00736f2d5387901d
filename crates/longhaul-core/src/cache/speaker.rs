//! Who speaks in a message of a request, by the names that the API gives the roles.

use crate::normalize::MessageRole;

/// The speaker of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MessageSpeaker {
    /// The user, tools and the host.
    User,
    /// The model.
    Assistant,
    /// Instructions inside the conversation.
    System,
}

impl MessageSpeaker {
    /// The speaker for the name of a role. The API refuses unknown roles; here they count as the user's.
    pub fn of(role: &str) -> Self {
        match role {
            "assistant" => Self::Assistant,
            "system" => Self::System,
            _ => Self::User,
        }
    }

    /// The name of the role.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
        }
    }
}

impl From<MessageRole> for MessageSpeaker {
    fn from(role: MessageRole) -> Self {
        match role {
            MessageRole::User => Self::User,
            MessageRole::Assistant => Self::Assistant,
        }
    }
}
