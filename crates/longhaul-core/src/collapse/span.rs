//! Describes a span for people and for the model: how it begins, how much it holds, when it was written.

use jiff::Timestamp;

use crate::message::{EntryKind, EntryView};
use crate::rounds::{PieceKind, ViewPiece};
use crate::summary::opening_words;

/// The description of a span that is to be folded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoldSpan {
    /// How the first entry with a text begins.
    pub opening: String,
    /// How many of its entries the model saw.
    pub messages: u64,
    /// When the span's first entry was written.
    pub from: Option<Timestamp>,
    /// When the span's last entry was written.
    pub to: Option<Timestamp>,
}

impl FoldSpan {
    /// Describes the entries of a span, in order.
    pub fn of<'a>(entries: impl IntoIterator<Item = EntryView<'a>>) -> Self {
        let mut span = Self {
            opening: String::new(),
            messages: 0,
            from: None,
            to: None,
        };
        for entry in entries {
            if !ViewPiece::of_view(entry).part.is_sent() {
                continue;
            }
            span.messages += 1;
            if span.opening.is_empty() {
                span.opening = opening_words(entry);
            }
            let time = entry.timestamp();
            span.from = span.from.or(time);
            span.to = time.or(span.to);
        }
        span
    }
}

/// The first entry of a view that may be folded: the one after the boundary and the summary that follows it. A later
/// summary, which a compaction of the recent part leaves, is an entry like any other.
pub fn first_foldable<'a>(entries: impl IntoIterator<Item = EntryView<'a>>) -> usize {
    let (mut first, mut conversation) = (0, false);
    for (at, entry) in entries.into_iter().enumerate() {
        let part = ViewPiece::of_view(entry).part;
        if part == PieceKind::Boundary {
            (first, conversation) = (at + 1, false);
            continue;
        }
        let heads = entry.facets.flags.compact_summary || entry.begins_with_compaction();
        match (heads, conversation) {
            (true, false) => first = at + 1,
            // Attachments may come between a boundary and its summary.
            (false, _) => {
                conversation |= part.is_response() || entry.facets.kind == EntryKind::User
            }
            (true, true) => {}
        }
    }
    first
}
