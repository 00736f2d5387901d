//! Texts that replace blocks that cannot be sent unchanged.

use crate::json::ObjectReader;
use crate::normalize::BlockOrigin;
use crate::normalize::fragment::fill;
use crate::normalize::piece::{BlockPart, BlockPiece};
use crate::quoting::inline;

const UNSENDABLE: &str = include_str!("../fragments/unsendable.txt");
const PLACEHOLDER: &str = include_str!("../fragments/placeholder.txt");
const LEFT_OUT: &str = include_str!("../fragments/data_left_out.txt");

/// The maximum length of Base64 that stays in the text: more would mean nothing to a model.
const MOST_DATA: usize = 1_000;

/// Returns a text that carries the JSON of a block that the API would refuse.
pub(super) fn wrapped(raw: &[u8]) -> String {
    let object = (raw.first() == Some(&b'{')).then(|| ObjectReader::new(raw));
    let kind = object.and_then(|object| object.string("type"));
    let json = String::from_utf8_lossy(raw);
    let source = object.and_then(|object| object.object("source"));
    let data = source.and_then(|source| source.get("data"));
    let json = match data.filter(|data| data.len() > MOST_DATA) {
        Some(data) => {
            let data = String::from_utf8_lossy(data);
            let note = fill(LEFT_OUT, &[("length", &data.len().to_string())]);
            json.replace(&*data, &format!("\"{note}\"")).into()
        }
        None => json,
    };
    let kind = kind.filter(|kind| !kind.is_empty());
    fill(
        UNSENDABLE,
        &[
            ("type", &inline(kind.as_deref().unwrap_or("unknown"))),
            ("json", &inline(&json)),
        ],
    )
}

/// Turns a block into text that would otherwise be sent unchanged.
pub(in crate::normalize) fn become_text(piece: &mut BlockPiece) {
    *piece = BlockPiece::text(&wrapped(&piece.json), piece.entry, BlockOrigin::Wrapped);
    debug_assert_eq!(piece.part, BlockPart::Plain);
}

/// Returns the user's message for the case that the model would speak first and the user has said nothing.
pub(in crate::normalize) fn placeholder() -> BlockPiece {
    BlockPiece::text(PLACEHOLDER.trim_end(), None, BlockOrigin::Synthetic)
}
