//! Pictures and documents as blocks, within the limits of requests.

use longhaul_core::figures::grouped;
use serde_json::Value;

use super::amount;
use crate::files::FileState;
use crate::picture::{self, LONGEST_SIDE, MOST_BYTES};
use crate::tool::ToolCallOutput;

/// The maximum number of bytes of a document, which shares the 32 MB of a request with everything else.
const DOCUMENT: u64 = 10_000_000;

/// A file that can be shown as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MediaKind {
    Picture(&'static str),
    Document,
}

/// The kind of a file, by its first bytes.
pub(super) fn kind(head: &[u8]) -> Option<MediaKind> {
    if head.starts_with(b"%PDF-") {
        return Some(MediaKind::Document);
    }
    picture::media_type(head).map(MediaKind::Picture)
}

/// Refuses a file that no request could carry, before it is read.
pub(super) fn fits(media: MediaKind, size: u64) -> Result<(), String> {
    let (what, most, instead) = match media {
        MediaKind::Picture(_) => (
            "picture",
            MOST_BYTES,
            "Make it smaller with a command in Bash",
        ),
        MediaKind::Document => (
            "PDF",
            DOCUMENT,
            "Extract its text or some pages with a command in Bash",
        ),
    };
    if size <= most {
        Ok(())
    } else {
        Err(format!(
            "The {what} has {}; at most {} can be shown. {instead}, and read that.",
            amount(size),
            amount(most)
        ))
    }
}

/// The block that shows the file.
pub(super) fn show(
    media: MediaKind,
    content: &[u8],
    files: &FileState,
) -> Result<ToolCallOutput, String> {
    let (kind, mime, line) = match media {
        MediaKind::Document => (
            "document",
            "application/pdf",
            format!("PDF, {}", amount(content.len() as u64)),
        ),
        MediaKind::Picture(mime) => {
            let size = imagesize::blob_size(content)
                .map_err(|_| "The picture is damaged and cannot be shown.".to_owned())?;
            let side = size.width.max(size.height);
            if side > LONGEST_SIDE {
                return Err(format!(
                    "The picture has {} × {} pixels; no side may have more than {}. Make it smaller with a command in Bash.",
                    grouped(size.width as u64),
                    grouped(size.height as u64),
                    grouped(LONGEST_SIDE as u64)
                ));
            }
            if !files.admits_picture(side) {
                return Err(format!(
                    "Requests with more than 20 pictures may have none with a side over {} pixels, and this would be one too many. \
                     Make it smaller with a command in Bash, or go on without it.",
                    FileState::LONG_SIDE
                ));
            }
            (
                "image",
                mime,
                format!("{} × {} pixels", size.width, size.height),
            )
        }
    };
    let block = picture::block(kind, mime, content);
    let mut output = ToolCallOutput::text("", line.clone()).with_detail(line);
    output.content = Value::Array(vec![block]);
    Ok(output)
}
