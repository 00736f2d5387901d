//! One line of a listing.

use std::borrow::Cow;

use serde::Serialize;

use crate::normalize::MessageRole;
use crate::prompt::Ttl;
use crate::tokens::Estimate;

/// A part of the prompt, grouped by how long it stays unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ListingZone {
    /// The definitions of the tools.
    Tools,
    /// The system prompt.
    System,
    /// The text before the first message.
    Context,
    /// The messages up to and including the newest reply. They do not change any more.
    Messages,
    /// Everything after the newest reply, which is new in this request.
    Tail,
}

impl ListingZone {
    /// All zones, in prompt order.
    pub const ALL: [Self; 5] = [
        Self::Tools,
        Self::System,
        Self::Context,
        Self::Messages,
        Self::Tail,
    ];

    /// The zone's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::System => "system",
            Self::Context => "context",
            Self::Messages => "messages",
            Self::Tail => "tail",
        }
    }
}

/// A remark about an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ItemNote {
    /// The item is a compaction's summary.
    Summary,
    /// The item is a summary that consists of folds (O6).
    Folds,
    /// The item is written by the host: an attachment, or a result that arrived late.
    Reminder,
    /// The item is a result whose content was cleared.
    Cleared,
    /// The item is a result in a smaller form than it came in (V8).
    Reduced,
    /// The item is a picture that was left out to save space.
    LeftOut,
    /// The item was made up because the API requires something there.
    Synthetic,
    /// The item is a block that the API would not accept, sent as text.
    Wrapped,
    /// The item is a result that reports a failed call.
    Error,
    /// Thinking in the message that begins here is not sent.
    Stripped,
}

impl ItemNote {
    /// The note's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::Folds => "folds",
            Self::Reminder => "reminder",
            Self::Cleared => "cleared",
            Self::Reduced => "reduced",
            Self::LeftOut => "left out",
            Self::Synthetic => "synthetic",
            Self::Wrapped => "wrapped",
            Self::Error => "error",
            Self::Stripped => "thinking stripped",
        }
    }
}

/// A tool, a block of the system prompt, or a block of a message.
#[derive(Debug, Clone, Serialize)]
pub struct ListedItem {
    /// The item's number in the list, from 1.
    pub number: usize,
    /// The zone of the prompt that the item belongs to.
    pub zone: ListingZone,
    /// The number of the item's message, from 1.
    pub message: Option<usize>,
    /// The role of the item's message.
    pub role: Option<MessageRole>,
    /// What the item is: `tool`; for the system prompt `attribution`, `prefix`, `static`, `dynamic` or `custom` where
    /// that is known; otherwise the type of the block.
    pub kind: Cow<'static, str>,
    /// The name of the tool that is defined, called or answering.
    pub name: Option<String>,
    /// The estimated number of tokens (T2), not padded.
    pub tokens: u64,
    /// The lifetime of the item's cache breakpoint, if it has one.
    pub cache: Option<Ttl>,
    /// How many spans were folded into it, if it consists of folds.
    pub folds: Option<usize>,
    /// Remarks about the item.
    pub notes: Vec<ItemNote>,
    /// The item's first words, on one line without terminal control characters.
    pub excerpt: String,
    #[serde(skip)]
    pub(super) weight: Estimate,
    #[serde(skip)]
    pub(super) place: ListedItemSource,
}

/// Where an item's bytes come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListedItemSource {
    /// The tool at this index.
    Tool(usize),
    /// The block of the system prompt at this index.
    System(usize),
    /// The block of the rendering at this index.
    Block(usize),
}

impl ListedItem {
    /// Creates an item outside the messages. Its number is set later.
    pub(super) fn new(
        zone: ListingZone,
        kind: impl Into<Cow<'static, str>>,
        weight: Estimate,
        place: ListedItemSource,
    ) -> Self {
        Self {
            number: 0,
            zone,
            message: None,
            role: None,
            kind: kind.into(),
            name: None,
            tokens: weight.unpadded(),
            cache: None,
            folds: None,
            notes: Vec::new(),
            excerpt: String::new(),
            weight,
            place,
        }
    }

    /// The item's remarks, worded for people.
    pub fn remarks(&self) -> Vec<Cow<'static, str>> {
        let remark = |note: &ItemNote| match (note, self.folds) {
            (ItemNote::Folds, Some(1)) => "folds: 1 span".into(),
            (ItemNote::Folds, Some(spans)) => format!("folds: {spans} spans").into(),
            _ => note.as_str().into(),
        };
        self.notes.iter().map(remark).collect()
    }

    /// What the item is, with the tool's name.
    pub fn what(&self) -> Cow<'_, str> {
        match &self.name {
            Some(name) => format!("{} {name}", self.kind).into(),
            None => Cow::Borrowed(&self.kind),
        }
    }
}
