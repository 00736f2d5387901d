//! One line of a listing.

use std::borrow::Cow;

use serde::Serialize;

use crate::normalize::MessageRole;
use crate::prompt::Ttl;
use crate::tokens::Estimate;

/// A part of the prompt, by how long it stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ListingZone {
    /// The definitions of the tools.
    Tools,
    /// The system prompt.
    System,
    /// The text before the first message.
    Context,
    /// The messages up to the newest reply, which is among them: they do not change any more.
    Messages,
    /// What came behind the newest reply: new in this request.
    Tail,
}

impl ListingZone {
    /// All, in prompt order.
    pub const ALL: [Self; 5] = [
        Self::Tools,
        Self::System,
        Self::Context,
        Self::Messages,
        Self::Tail,
    ];

    /// Its name.
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

/// Something to know about an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemNote {
    /// A compaction's summary.
    Summary,
    /// That summary consists of folds (O6).
    Folds,
    /// The host tells it: an attachment, a result that came late.
    Reminder,
    /// A result whose content was cleared.
    Cleared,
    /// A picture that had to make room.
    LeftOut,
    /// Made up, because the API wants something there.
    Synthetic,
    /// What the API would not take, as text.
    Wrapped,
    /// A result that says that its call failed.
    Error,
    /// Thinking of the message that begins here is not sent.
    Stripped,
}

impl ItemNote {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::Folds => "folds",
            Self::Reminder => "reminder",
            Self::Cleared => "cleared",
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
    /// Its number in the list, from 1.
    pub number: usize,
    /// Where in the prompt it stands.
    pub zone: ListingZone,
    /// The number of its message, from 1.
    pub message: Option<usize>,
    /// Who speaks in its message.
    pub role: Option<MessageRole>,
    /// What it is: `tool`; for the system prompt `attribution`, `prefix`, `static`, `dynamic` or `custom` where that can
    /// be told; else the type of the block.
    pub kind: Cow<'static, str>,
    /// The tool that is defined, called, or answers.
    pub name: Option<String>,
    /// Its estimate (T2), not padded.
    pub tokens: u64,
    /// The lifetime of the cache mark that it bears.
    pub cache: Option<Ttl>,
    /// How many spans were folded into it, if it consists of folds.
    pub folds: Option<usize>,
    /// What else there is to know.
    pub notes: Vec<ItemNote>,
    /// Its first words, in one line that cannot steer a terminal.
    pub excerpt: String,
    #[serde(skip)]
    pub(super) weight: Estimate,
    #[serde(skip)]
    pub(super) place: ListedItemSource,
}

/// Where an item's bytes are.
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
    /// An item outside the messages, to be numbered.
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

    /// What else there is to know, for people.
    pub fn remarks(&self) -> Vec<Cow<'static, str>> {
        let remark = |note: &ItemNote| match (note, self.folds) {
            (ItemNote::Folds, Some(1)) => "folds: 1 span".into(),
            (ItemNote::Folds, Some(spans)) => format!("folds: {spans} spans").into(),
            _ => note.as_str().into(),
        };
        self.notes.iter().map(remark).collect()
    }

    /// What it is, with the tool's name.
    pub fn what(&self) -> Cow<'_, str> {
        match &self.name {
            Some(name) => format!("{} {name}", self.kind).into(),
            None => Cow::Borrowed(&self.kind),
        }
    }
}
