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
mod talk;
mod work;

use super::fragment::{fill, reminder};
use super::images::Images;
use super::piece::Piece;
use super::{Origin, block};
use crate::json::Object;
use crate::message::View;
use crate::quoting::{inline, quoted};
use crate::tokens::{Estimate, Estimator, Rough};

/// What the model is told.
#[derive(Debug, Default)]
struct Told<'a> {
    text: String,
    pictures: Vec<Picture<'a>>,
}

/// A picture, by the JSON strings of its parts.
#[derive(Debug)]
struct Picture<'a> {
    media_type: &'a [u8],
    data: &'a [u8],
}

impl From<String> for Told<'_> {
    fn from(text: String) -> Self {
        Self {
            text,
            pictures: Vec::new(),
        }
    }
}

/// The families, each with what it knows of a type.
const FAMILIES: [fn(&str, Object<'_>) -> Option<String>; 6] = [
    work::tell,
    hooks::tell,
    skills::tell,
    memory::tell,
    talk::tell,
    changes::tell,
];

/// An attachment that the model sees: a reminder, and its pictures behind it.
pub(super) fn render(view: View<'_>, images: &mut Images) -> Vec<Piece> {
    let Some(attachment) = view.visible_attachment() else {
        return Vec::new();
    };
    let told = told(attachment, view.facets.attachment.of(view.line));
    let mut text = Piece::text(&reminder(&told.text), view.uuid(), Origin::Reminder);
    text.weight = Rough.attachment(view.facets.attachment_units);
    let mut pieces = vec![text];
    for picture in told.pictures {
        let piece = block::picture(picture.media_type, picture.data, view, images);
        // The reminder stands for all of the attachment.
        pieces.extend(piece.map(|piece| Piece {
            weight: Estimate::ZERO,
            ..piece
        }));
    }
    pieces
}

fn told<'a>(attachment: Object<'a>, raw: &'a [u8]) -> Told<'a> {
    let kind = attachment.string("type").unwrap_or_default();
    let known = files::tell(&kind, attachment)
        .or_else(|| talk::queued(&kind, attachment))
        .or_else(|| {
            let text = FAMILIES.iter().find_map(|tell| tell(&kind, attachment))?;
            Some(text.into())
        });
    known
        .filter(|told| !told.text.trim().is_empty())
        .unwrap_or_else(|| other(&kind, raw))
}

fn other(kind: &str, raw: &[u8]) -> Told<'static> {
    let kind = if kind.is_empty() { "unknown" } else { kind };
    let json = String::from_utf8_lossy(raw);
    let values = [("type", &*inline(kind)), ("json", &*quoted(&json))];
    fill(include_str!("fragments/other.txt"), &values).into()
}
