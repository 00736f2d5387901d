//! Attachments: what a host adds to the user's words. The model sees them as reminders in Longhaul's own wording (Z1).
//!
//! Each file handles one family of types. An attachment of an unknown type, or without the fields it should have, is
//! rendered as its type name and its JSON, so nothing is lost.

mod changes;
mod fields;
mod files;
mod hooks;
mod memory;
mod skills;
mod user_input;
mod work;

use super::fragment::{fill, reminder};
use super::images::ImageCounter;
use super::piece::BlockPiece;
use super::{BlockOrigin, block};
use crate::json::ObjectReader;
use crate::message::EntryView;
use crate::quoting::{inline, quoted};
use crate::tokens::{Estimate, RoughEstimator};

/// The content of an attachment as the model sees it.
#[derive(Debug, Default)]
struct AttachmentContent<'a> {
    text: String,
    pictures: Vec<AttachedPicture<'a>>,
}

/// A picture, as the JSON strings of its parts.
#[derive(Debug)]
struct AttachedPicture<'a> {
    media_type: &'a [u8],
    data: &'a [u8],
}

impl From<String> for AttachmentContent<'_> {
    fn from(text: String) -> Self {
        Self {
            text,
            pictures: Vec::new(),
        }
    }
}

/// The families, each a function that renders the types it knows.
const FAMILIES: [fn(&str, ObjectReader<'_>) -> Option<String>; 6] = [
    work::tell,
    hooks::tell,
    skills::tell,
    memory::tell,
    user_input::tell,
    changes::tell,
];

/// Renders an attachment that the model sees: a reminder, with its pictures after it.
pub(super) fn render(view: EntryView<'_>, images: &mut ImageCounter) -> Vec<BlockPiece> {
    let Some(attachment) = view.visible_attachment() else {
        return Vec::new();
    };
    let told = attachment_content(attachment, view.facets.attachment.of(view.line));
    let mut text = BlockPiece::text(&reminder(&told.text), view.uuid(), BlockOrigin::Reminder);
    text.weight = RoughEstimator.attachment(view.facets.attachment_units);
    let mut pieces = vec![text];
    for picture in told.pictures {
        let piece = block::picture(picture.media_type, picture.data, view, images);
        // The reminder carries the weight of the whole attachment.
        pieces.extend(piece.map(|piece| BlockPiece {
            weight: Estimate::ZERO,
            ..piece
        }));
    }
    pieces
}

fn attachment_content<'a>(attachment: ObjectReader<'a>, raw: &'a [u8]) -> AttachmentContent<'a> {
    let kind = attachment.string("type").unwrap_or_default();
    let known = files::tell(&kind, attachment)
        .or_else(|| user_input::queued(&kind, attachment))
        .or_else(|| {
            let text = FAMILIES.iter().find_map(|tell| tell(&kind, attachment))?;
            Some(text.into())
        });
    known
        .filter(|told| !told.text.trim().is_empty())
        .unwrap_or_else(|| other(&kind, raw))
}

fn other(kind: &str, raw: &[u8]) -> AttachmentContent<'static> {
    let kind = if kind.is_empty() { "unknown" } else { kind };
    let json = String::from_utf8_lossy(raw);
    let values = [("type", &*inline(kind)), ("json", &*quoted(&json))];
    fill(include_str!("fragments/other.txt"), &values).into()
}
