//! Everything the model sees, as a numbered list: tools, system prompt, user context and messages, block by block (A,
//! B2, Z).
//!
//! The list is for people (`longhaul show`), for programs (it serializes) and for tests: its
//! [`Display`](std::fmt::Display) form is stable and free of ids and times. This module only reads; `prompt/` and
//! `normalize/` decide what is sent.

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
pub use harmless::{harmless, harmless_but_colored, harmless_json};
pub use item::{ItemNote, ListedItem, ListingZone};

/// If there are more tools than this, a list for people shows them on one line.
const MOST_TOOLS: usize = 12;

/// The contents of a request, in the order in which the model reads them.
#[derive(Debug, Serialize)]
pub struct Listing<'a> {
    /// Every tool, block of the system prompt and block of the messages.
    pub items: Vec<ListedItem>,
    /// The weight of each zone, in prompt order.
    pub zones: Vec<ListingZoneTotal>,
    /// The total number of tokens, not padded.
    pub tokens: u64,
    /// The total number of tokens, padded by a third for comparison with a limit (T2).
    pub padded_tokens: u64,
    /// The cache breakpoints.
    pub marks: Vec<ListedBreakpoint>,
    #[serde(skip)]
    head: Option<&'a RequestPrefix>,
    #[serde(skip)]
    rendering: &'a Rendering,
}

/// The weight of a zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListingZoneTotal {
    /// The zone.
    pub zone: ListingZone,
    /// The number of items in the zone.
    pub items: usize,
    /// The tokens of these items, or `None` if the zone's contents are not known.
    pub tokens: Option<u64>,
}

/// A cache breakpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ListedBreakpoint {
    /// The number of the item that has the breakpoint.
    pub item: usize,
    /// How long the provider keeps the cached part.
    pub ttl: crate::prompt::Ttl,
    /// The number of tokens the breakpoint covers: those of its item and of all items before it.
    pub tokens: u64,
}

impl<'a> Listing<'a> {
    /// Lists the contents of a request with this prefix, these messages and these cache breakpoints. Without a prefix,
    /// the zones before the messages are unknown.
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

    /// Notes on the summary that it consists of folds, for a view that begins after a boundary with folds (O6).
    #[must_use]
    pub fn with_folds(mut self, folds: &Folds) -> Self {
        let is_summary = |item: &&mut ListedItem| item.notes.contains(&ItemNote::Summary);
        if let Some(item) = self.items.iter_mut().find(is_summary) {
            item.folds = Some(folds.spans().len());
            item.notes.push(ItemNote::Folds);
        }
        self
    }

    /// Returns the whole text of an item, or a description if the item is not text.
    pub fn text(&self, item: &ListedItem) -> String {
        match (item.place, self.head) {
            (item::ListedItemSource::Tool(at), Some(head)) => prefix::tool_text(head, at),
            (item::ListedItemSource::System(at), Some(head)) => prefix::system_text(head, at),
            (item::ListedItemSource::Block(at), _) => blocks::text(self.rendering, at),
            (_, None) => String::new(),
        }
    }

    /// Returns the tools, which are the first items, if they are too many for a list for people to show one by one.
    pub fn folded_tools(&self) -> Option<&[ListedItem]> {
        let items = self.items.iter();
        let count = items
            .take_while(|item| item.zone == ListingZone::Tools)
            .count();
        (count > MOST_TOOLS).then(|| &self.items[..count])
    }

    /// Returns how many tokens of the prompt lie before the last cache breakpoint.
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
