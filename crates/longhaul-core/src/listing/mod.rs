//! What the model sees, as a numbered list: tools, system prompt, user context and messages, block by block (A, B2, Z).
//!
//! For people (`longhaul show`), for programs (it serialises) and for tests: its [`Display`](std::fmt::Display) form is
//! stable and free of ids and times. It only reads; what is sent is decided in `prompt/` and `normalize/`.

mod blocks;
mod content;
mod display;
mod excerpt;
mod harmless;
mod item;
mod prefix;
mod redact;

use serde::Serialize;

use crate::collapse::Folds;
use crate::normalize::Rendering;
use crate::prompt::{MessageBreakpoints, RequestPrefix};
use crate::tokens::Estimate;

pub use excerpt::steers;
pub use harmless::{harmless, harmless_but_coloured, harmless_json};
pub use item::{ItemNote, ListedItem, ListingZone};

/// More tools than this are one line in a list for people.
const MOST_TOOLS: usize = 12;

/// What a request holds, in the order in which the model reads it.
#[derive(Debug, Serialize)]
pub struct Listing<'a> {
    /// Every tool, block of the system prompt and block of the messages.
    pub items: Vec<ListedItem>,
    /// What each zone weighs, in prompt order.
    pub zones: Vec<ListingZoneTotal>,
    /// The sum, not padded.
    pub tokens: u64,
    /// The sum, padded by a third as it is for comparing with a limit (T2).
    pub padded_tokens: u64,
    /// Where the cache marks are.
    pub marks: Vec<ListedBreakpoint>,
    #[serde(skip)]
    head: Option<&'a RequestPrefix>,
    #[serde(skip)]
    rendering: &'a Rendering,
}

/// What a zone weighs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListingZoneTotal {
    /// The zone.
    pub zone: ListingZone,
    /// How many items it has.
    pub items: usize,
    /// Their tokens; none if what stands there is not known.
    pub tokens: Option<u64>,
}

/// A cache mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ListedBreakpoint {
    /// The number of the item that bears it.
    pub item: usize,
    /// How long the provider keeps what it covers.
    pub ttl: crate::prompt::Ttl,
    /// The tokens it covers: those of the item and of all before it.
    pub tokens: u64,
}

impl<'a> Listing<'a> {
    /// Lists what a request with this head, these messages and these marks holds. Without a head, what stands before the
    /// messages is not known.
    pub fn of(
        head: Option<&'a RequestPrefix>,
        rendering: &'a Rendering,
        marks: &MessageBreakpoints,
    ) -> Self {
        let mut items = Vec::new();
        if let Some(head) = head {
            prefix::tools(head, &mut items);
            prefix::system(head, &mut items);
        }
        blocks::add(head, rendering, marks, &mut items);
        for (number, item) in (1..).zip(&mut items) {
            item.number = number;
        }
        let mut covered = Estimate::ZERO;
        let mut marks = Vec::new();
        for item in &items {
            covered += item.weight;
            marks.extend(item.cache.map(|ttl| ListedBreakpoint {
                item: item.number,
                ttl,
                tokens: covered.unpadded(),
            }));
        }
        Self {
            zones: ListingZone::ALL
                .map(|zone| ListingZoneTotal::of(zone, head, &items))
                .to_vec(),
            tokens: covered.unpadded(),
            padded_tokens: covered.padded(),
            marks,
            items,
            head,
            rendering,
        }
    }

    /// The same where the view begins behind a boundary with folds (O6): its summary says so.
    #[must_use]
    pub fn with_folds(mut self, folds: &Folds) -> Self {
        let is_summary = |item: &&mut ListedItem| item.notes.contains(&ItemNote::Summary);
        if let Some(item) = self.items.iter_mut().find(is_summary) {
            item.folds = Some(folds.spans().len());
            item.notes.push(ItemNote::Folds);
        }
        self
    }

    /// The whole text of an item; for what is no text, what it is.
    pub fn text(&self, item: &ListedItem) -> String {
        match (item.place, self.head) {
            (item::ListedItemSource::Tool(at), Some(head)) => prefix::tool_text(head, at),
            (item::ListedItemSource::System(at), Some(head)) => prefix::system_text(head, at),
            (item::ListedItemSource::Block(at), _) => blocks::text(self.rendering, at),
            (_, None) => String::new(),
        }
    }

    /// The tools, which are the first items, if there are so many that a list for people has one line for all.
    pub fn folded_tools(&self) -> Option<&[ListedItem]> {
        let items = self.items.iter();
        let count = items
            .take_while(|item| item.zone == ListingZone::Tools)
            .count();
        (count > MOST_TOOLS).then(|| &self.items[..count])
    }

    /// How much of the prompt lies before the end of the last mark.
    pub fn tokens_before_last_breakpoint(&self) -> Option<u64> {
        self.marks.last().map(|mark| mark.tokens)
    }
}

impl ListingZoneTotal {
    fn of(zone: ListingZone, head: Option<&RequestPrefix>, items: &[ListedItem]) -> Self {
        let items: Vec<&ListedItem> = items.iter().filter(|item| item.zone == zone).collect();
        let known = head.is_some() || matches!(zone, ListingZone::Messages | ListingZone::Tail);
        Self {
            zone,
            items: items.len(),
            tokens: known.then(|| items.iter().map(|item| item.tokens).sum()),
        }
    }
}
