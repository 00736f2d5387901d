//! Where the parts of a request body lie.

use std::borrow::Cow;
use std::ops::Range;

use longhaul_core::json::text;

/// Who speaks in a message, as the request says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BodyRole {
    /// The user, and in the Messages API also tools.
    User,
    /// The model.
    Assistant,
    /// Instructions inside the conversation: `system`, and what chat completions call `developer`.
    System,
    /// Any other: `tool` of chat completions, and roles to come.
    Other,
}

impl BodyRole {
    /// By the name of the role.
    pub fn of(name: &[u8]) -> Self {
        match name {
            b"user" => Self::User,
            b"assistant" => Self::Assistant,
            b"system" | b"developer" => Self::System,
            _ => Self::Other,
        }
    }
}

/// One element of `messages`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineElement {
    /// The whole of it, from brace to brace.
    pub span: Range<usize>,
    /// Who speaks.
    pub role: BodyRole,
    /// What is said; none where the element has no content.
    pub content: Option<Range<usize>>,
}

/// The members of the body that matter, beside the messages. A span covers the value alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BodyMembers {
    /// `model`, quotes included.
    pub model: Range<usize>,
    /// `system`.
    pub system: Option<Range<usize>>,
    /// `tools`.
    pub tools: Option<Range<usize>>,
    /// `metadata`.
    pub metadata: Option<Range<usize>>,
    /// `cache_control` of the whole request: automatic caching.
    pub automatic: Option<Range<usize>>,
    /// Whether `stream` is true.
    pub streams: bool,
    /// Whether the request belongs to a thread that the server holds (N8): its messages are not the whole history.
    pub threaded: bool,
}

/// A body and where its parts lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyOutline {
    /// The members beside the messages.
    pub members: BodyMembers,
    /// Members whose spans are those of a resumed reading: all that stood before the messages.
    pub before: BodyMembers,
    /// How many elements of `messages` lie before the first of [`Outline::elements`]: those that were known.
    pub known: usize,
    /// The elements behind them.
    pub elements: Vec<OutlineElement>,
    /// The whole list, from bracket to bracket.
    pub list: Range<usize>,
}

impl BodyOutline {
    /// The model asked for.
    pub fn model<'b>(&self, body: &'b [u8]) -> Cow<'b, str> {
        let quoted = body.get(self.members.model.clone()).unwrap_or_default();
        text(quoted).unwrap_or_default()
    }

    /// How many elements `messages` has.
    pub fn len(&self) -> usize {
        self.known + self.elements.len()
    }

    /// Whether it has none. A conversation always has some.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
