//! Pictures that requests can carry: which formats, how many bytes, how many pixels. `Read` shows pictures from files, and
//! people paste them into a prompt.

use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use imagesize::ImageType;
use longhaul_core::figures::grouped;
use serde_json::{Value, json};

/// The maximum number of bytes of a picture: 10 MB in base64.
pub(crate) const MOST_BYTES: u64 = 7_500_000;
/// The maximum number of pixels on a side of a picture.
pub(crate) const LONGEST_SIDE: usize = 8_000;

/// The type of a picture that requests can carry, by its first bytes.
pub(crate) fn media_type(head: &[u8]) -> Option<&'static str> {
    match imagesize::image_type(head).ok()? {
        ImageType::Png => Some("image/png"),
        ImageType::Jpeg => Some("image/jpeg"),
        ImageType::Gif => Some("image/gif"),
        ImageType::Webp => Some("image/webp"),
        _ => None,
    }
}

/// A block with these bytes.
pub(crate) fn block(kind: &str, media_type: &str, content: &[u8]) -> Value {
    let data = BASE64_STANDARD.encode(content);
    json!({"type": kind, "source": {"type": "base64", "media_type": media_type, "data": data}})
}

/// A picture that a request can carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    content: Arc<[u8]>,
    media_type: &'static str,
    width: usize,
    height: usize,
    /// The file that it is from, if it is from one.
    pub path: Option<PathBuf>,
}

/// Why a request cannot carry a picture.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PictureError {
    /// It is in no format that models read.
    #[error("it is not a PNG, JPEG, GIF or WebP picture")]
    Format,
    /// It has too many bytes.
    #[error("it has {} bytes; at most {} can be sent", grouped(*.0), grouped(MOST_BYTES))]
    Bytes(u64),
    /// It has too many pixels.
    #[error(
        "it has {} × {} pixels; no side may have more than {}",
        grouped(*.0 as u64), grouped(*.1 as u64), grouped(LONGEST_SIDE as u64)
    )]
    Pixels(usize, usize),
    /// Its size cannot be read.
    #[error("it is damaged")]
    Damaged,
}

impl Picture {
    /// Checks that a request can carry the picture.
    pub fn new(content: Vec<u8>) -> Result<Self, PictureError> {
        let media_type = media_type(&content).ok_or(PictureError::Format)?;
        let bytes = content.len() as u64;
        if bytes > MOST_BYTES {
            return Err(PictureError::Bytes(bytes));
        }
        let size = imagesize::blob_size(&content).map_err(|_| PictureError::Damaged)?;
        if size.width.max(size.height) > LONGEST_SIDE {
            return Err(PictureError::Pixels(size.width, size.height));
        }
        Ok(Self {
            content: content.into(),
            media_type,
            width: size.width,
            height: size.height,
            path: None,
        })
    }

    /// The picture as a block of a message.
    pub fn block(&self) -> Value {
        block("image", self.media_type, &self.content)
    }

    /// The number of pixels on its longer side.
    pub(crate) fn longer_side(&self) -> usize {
        self.width.max(self.height)
    }

    /// Its size, for people.
    pub(crate) fn size(&self) -> String {
        format!(
            "{} × {} pixels",
            grouped(self.width as u64),
            grouped(self.height as u64)
        )
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The beginning of a PNG picture of this size, which is all that is looked at.
    pub(crate) fn png(width: u32, height: u32) -> Vec<u8> {
        let mut content = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        content.extend(width.to_be_bytes());
        content.extend(height.to_be_bytes());
        content.extend([8, 6, 0, 0, 0, 0, 0, 0, 0]);
        content
    }

    #[test]
    fn q1_only_pictures_that_requests_can_carry_are_taken() {
        let picture = Picture::new(png(1_920, 1_080)).unwrap();
        assert_eq!(picture.size(), "1,920 × 1,080 pixels");
        assert_eq!(picture.block()["source"]["media_type"], "image/png");
        let refused = |content: Vec<u8>| Picture::new(content).unwrap_err().to_string();
        assert_eq!(
            refused(png(8_001, 5)),
            "it has 8,001 × 5 pixels; no side may have more than 8,000"
        );
        assert_eq!(
            refused(b"BM of another time".to_vec()),
            "it is not a PNG, JPEG, GIF or WebP picture"
        );
        let mut large = png(5, 5);
        large.resize(7_500_001, 0);
        assert_eq!(
            refused(large),
            "it has 7,500,001 bytes; at most 7,500,000 can be sent"
        );
    }
}
