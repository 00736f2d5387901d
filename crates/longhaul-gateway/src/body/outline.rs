//! Where the parts of a request body lie.

use std::borrow::Cow;
use std::ops::Range;

use longhaul_core::json::text;

/// The role of a message, as given in the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BodyRole {
    /// The user, and in the Messages API also tool results.
    User,
    /// The model.
    Assistant,
    /// Instructions inside the conversation: `system`, and `developer` in chat completions.
    System,
    /// Any other role: `tool` in chat completions, and future roles.
    Other,
}

impl BodyRole {
    /// The role with this name.
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
    /// The whole element, from brace to brace.
    pub span: Range<usize>,
    /// The role of the message.
    pub role: BodyRole,
    /// The content; `None` if the element has no content.
    pub content: Option<Range<usize>>,
}

/// The members of the body that matter besides the messages. A span covers only the value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BodyMembers {
    /// The value of `model`, quotes included.
    pub model: Range<usize>,
    /// The value of `system`.
    pub system: Option<Range<usize>>,
    /// The value of `tools`.
    pub tools: Option<Range<usize>>,
    /// The value of `metadata`.
    pub metadata: Option<Range<usize>>,
    /// `cache_control` of the whole request: automatic caching.
    pub automatic: Option<Range<usize>>,
    /// The value of `context_management`: what the provider is to clear itself.
    pub context_management: Option<Range<usize>>,
    /// Whether `stream` is true.
    pub streams: bool,
    /// Whether the request belongs to a thread that the server stores (N8): its messages are not the whole history.
    pub threaded: bool,
}

/// A body and where its parts lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyOutline {
    /// The members besides the messages.
    pub members: BodyMembers,
    /// Members with the spans of a resumed reading: all that come before the messages.
    pub before: BodyMembers,
    /// How many elements of `messages` lie before the first of [`BodyOutline::elements`]: those that were known.
    pub known: usize,
    /// The elements after the known ones.
    pub elements: Vec<OutlineElement>,
    /// The whole list, from bracket to bracket.
    pub list: Range<usize>,
}

impl BodyMembers {
    fn moved(&self, to: &impl Fn(usize) -> usize) -> Self {
        let span = |span: &Range<usize>| to(span.start)..to(span.end);
        let optional = |place: &Option<Range<usize>>| place.as_ref().map(span);
        Self {
            model: span(&self.model),
            system: optional(&self.system),
            tools: optional(&self.tools),
            metadata: optional(&self.metadata),
            automatic: optional(&self.automatic),
            context_management: optional(&self.context_management),
            ..*self
        }
    }
}

impl BodyOutline {
    /// The outline of a body in which each position has moved to another.
    pub(crate) fn moved(&self, to: impl Fn(usize) -> usize) -> Self {
        let span = |span: &Range<usize>| to(span.start)..to(span.end);
        let elements = self.elements.iter().map(|element| OutlineElement {
            span: span(&element.span),
            role: element.role,
            content: element.content.as_ref().map(span),
        });
        Self {
            members: self.members.moved(&to),
            before: self.before.moved(&to),
            known: self.known,
            elements: elements.collect(),
            list: span(&self.list),
        }
    }

    /// The requested model.
    pub fn model<'b>(&self, body: &'b [u8]) -> Cow<'b, str> {
        let quoted = body.get(self.members.model.clone()).unwrap_or_default();
        text(quoted).unwrap_or_default()
    }

    /// How many elements `messages` has.
    pub fn len(&self) -> usize {
        self.known + self.elements.len()
    }

    /// Whether `messages` is empty. A conversation always has messages.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
