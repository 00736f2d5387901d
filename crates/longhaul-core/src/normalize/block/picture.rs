//! Renders pictures, which may have to be left out.

use std::borrow::Cow;

use super::content;
use super::shape::{fit, record};
use super::shape_mismatch::ShapeMismatch;
use crate::json::ObjectReader;
use crate::message::{BlockKind, EntryView};
use crate::normalize::BlockOrigin;
use crate::normalize::images::{ImageCounter, ImageDelivery};
use crate::normalize::piece::{BlockPart, BlockPiece, text_block};
use crate::tokens::{ContentClass, RoughEstimator};

const FRAGMENT: &str = include_str!("../fragments/image_left_out.txt");
/// How the block begins that replaces a picture that was left out.
pub(super) const LEFT_OUT: &[u8] = br#"{"type":"text""#;

/// Returns an image block as it is sent, or a text in its place.
pub(super) fn judged<'a>(
    raw: &'a [u8],
    images: &mut ImageCounter,
) -> Result<Cow<'a, [u8]>, ShapeMismatch> {
    let json = record(raw, content::IMAGE, |field, value| fit(value, field.shape))?;
    let data = ObjectReader::new(raw)
        .object("source")
        .and_then(|source| source.get("data"))
        .and_then(crate::json::content);
    Ok(match images.judge(data) {
        ImageDelivery::Sent => json,
        ImageDelivery::LeftOut => Cow::Owned(text_block(FRAGMENT.trim_end())),
    })
}

/// Renders a picture beside a reminder.
pub(super) fn piece(json: Cow<'_, [u8]>, view: EntryView<'_>) -> BlockPiece {
    let is_left_out = json.starts_with(LEFT_OUT);
    BlockPiece {
        json: json.into_owned(),
        kind: if is_left_out {
            BlockKind::Text
        } else {
            BlockKind::Image
        },
        part: BlockPart::Plain,
        markable: true,
        entry: view.uuid(),
        origin: if is_left_out {
            BlockOrigin::LeftOut
        } else {
            BlockOrigin::Reminder
        },
        weight: RoughEstimator.tokens(ContentClass::Media, 0),
    }
}

/// Renders a picture in an attachment from its media type and data, which are JSON strings. Returns `None` if it cannot
/// be sent.
pub(in crate::normalize) fn of_base64(
    media_type: &[u8],
    data: &[u8],
    view: EntryView<'_>,
    images: &mut ImageCounter,
) -> Option<BlockPiece> {
    let block = [
        br#"{"type":"image","source":{"type":"base64","media_type":"#,
        media_type,
        br#","data":"#,
        data,
        b"}}",
    ]
    .concat();
    let json = judged(&block, images).ok()?.into_owned();
    Some(piece(Cow::Owned(json), view))
}
