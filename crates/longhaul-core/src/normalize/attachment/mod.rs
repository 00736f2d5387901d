//! Attachments: what a host puts beside the user's words, told to the model as a reminder in words of our own (Z1).
//!
//! One file a family of types. A type that no family knows, or one without the fields it should have, is told by its
//! name and its JSON, so nothing is lost.

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
use crate::tokens::{Estimate, Estimator, RoughEstimator};

/// What the model is told.
#[derive(Debug, Default)]
struct AttachmentContent<'a> {
    text: String,
    pictures: Vec<AttachedPicture<'a>>,
}

/// A picture, by the JSON strings of its parts.
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

/// The families, each with what it knows of a type.
const FAMILIES: [fn(&str, ObjectReader<'_>) -> Option<String>; 6] = [
    work::tell,
    hooks::tell,
    skills::tell,
    memory::tell,
    user_input::tell,
    changes::tell,
];

/// An attachment that the model sees: a reminder, and its pictures behind it.
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
        // The reminder stands for all of the attachment.
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
