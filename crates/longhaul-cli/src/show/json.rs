//! The list as an object for programs. `docs/show.md` is its reference.

use longhaul_core::listing::{ListedBreakpoint, ListedItem, Listing, ListingZoneTotal};
use longhaul_core::prompt::RequestNotReady;
use serde::Serialize;

use super::request::PrefixState;
use super::{FullItems, ShowContent};

/// The object that is printed.
#[derive(Serialize)]
pub(super) struct ShowJson<'a> {
    file: Option<&'a str>,
    turn: Option<usize>,
    turns: Option<usize>,
    model: Option<&'a str>,
    head: PrefixState,
    request: RequestState,
    messages: usize,
    tokens: u64,
    padded_tokens: u64,
    tokens_before_last_mark: Option<u64>,
    zones: &'a [ListingZoneTotal],
    marks: &'a [ListedBreakpoint],
    items: Vec<ShowItem<'a>>,
}

/// Whether a request can be made.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum RequestState {
    Ready,
    NothingAsked,
    Empty,
}

#[derive(Serialize)]
struct ShowItem<'a> {
    #[serde(flatten)]
    item: &'a ListedItem,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

pub(super) fn object<'a>(
    showing: &ShowContent<'a>,
    items: &'a [ListedItem],
    full: &FullItems,
) -> ShowJson<'a> {
    let ShowContent {
        file,
        seen,
        prepared,
        listing,
    } = showing;
    let listing: &'a Listing<'a> = listing;
    let text = |item: &ListedItem| match full {
        FullItems::None => None,
        FullItems::All | FullItems::One(_) => Some(listing.text(item)),
    };
    ShowJson {
        file: *file,
        turn: seen.turn.map(|turn| turn.number),
        turns: seen.turn.map(|turn| turn.count),
        model: prepared.model.as_deref(),
        head: prepared.prefix,
        request: match &prepared.body {
            Ok(_) => RequestState::Ready,
            Err(RequestNotReady::Empty) => RequestState::Empty,
            Err(_) => RequestState::NothingAsked,
        },
        messages: prepared.messages(),
        tokens: listing.tokens,
        padded_tokens: listing.padded_tokens,
        tokens_before_last_mark: listing.tokens_before_last_breakpoint(),
        zones: &listing.zones,
        marks: &listing.marks,
        items: (items.iter())
            .map(|item| ShowItem {
                item,
                text: text(item),
            })
            .collect(),
    }
}
