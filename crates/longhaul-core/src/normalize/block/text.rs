//! Texts in place of what cannot be sent as it is.

use crate::json::ObjectReader;
use crate::normalize::BlockOrigin;
use crate::normalize::fragment::fill;
use crate::normalize::piece::{BlockPart, BlockPiece};
use crate::quoting::inline;

const UNSENDABLE: &str = include_str!("../fragments/unsendable.txt");
const PLACEHOLDER: &str = include_str!("../fragments/placeholder.txt");
const LEFT_OUT: &str = include_str!("../fragments/data_left_out.txt");

/// Base64 up to this length stays in the text: more says nothing to a model.
const MOST_DATA: usize = 1_000;

/// A block that the API would refuse, as text that carries its JSON.
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

/// Makes text of a block that was to be sent as it is.
pub(in crate::normalize) fn become_text(piece: &mut BlockPiece) {
    *piece = BlockPiece::text(&wrapped(&piece.json), piece.entry, BlockOrigin::Wrapped);
    debug_assert_eq!(piece.part, BlockPart::Plain);
}

/// What the user says when the model would speak first and there is nothing else to say.
pub(in crate::normalize) fn placeholder() -> BlockPiece {
    BlockPiece::text(PLACEHOLDER.trim_end(), None, BlockOrigin::Synthetic)
}
