//! The list as an object for programs. `docs/show.md` is its reference.

use longhaul_core::listing::{Item, Listing, Mark, ZoneSum};
use longhaul_core::prompt::NotReady;
use serde::Serialize;

use super::request::HeadState;
use super::{Full, Showing};

/// What is printed.
#[derive(Serialize)]
pub(super) struct Object<'a> {
    file: Option<&'a str>,
    turn: Option<usize>,
    turns: Option<usize>,
    model: Option<&'a str>,
    head: HeadState,
    request: RequestState,
    messages: usize,
    tokens: u64,
    padded_tokens: u64,
    tokens_before_last_mark: Option<u64>,
    zones: &'a [ZoneSum],
    marks: &'a [Mark],
    items: Vec<Line<'a>>,
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
struct Line<'a> {
    #[serde(flatten)]
    item: &'a Item,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

pub(super) fn object<'a>(showing: &Showing<'a>, items: &'a [Item], full: &Full) -> Object<'a> {
    let Showing {
        file,
        seen,
        prepared,
        listing,
    } = showing;
    let listing: &'a Listing<'a> = listing;
    let text = |item: &Item| match full {
        Full::None => None,
        Full::All | Full::One(_) => Some(listing.text(item)),
    };
    Object {
        file: *file,
        turn: seen.turn.map(|turn| turn.number),
        turns: seen.turn.map(|turn| turn.count),
        model: prepared.model.as_deref(),
        head: prepared.head,
        request: match &prepared.body {
            Ok(_) => RequestState::Ready,
            Err(NotReady::Empty) => RequestState::Empty,
            Err(_) => RequestState::NothingAsked,
        },
        messages: prepared.messages(),
        tokens: listing.tokens,
        padded_tokens: listing.padded_tokens,
        tokens_before_last_mark: listing.tokens_before_last_mark(),
        zones: &listing.zones,
        marks: &listing.marks,
        items: (items.iter())
            .map(|item| Line {
                item,
                text: text(item),
            })
            .collect(),
    }
}
