//! The tokens of an image, computed from the size in its first bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::TokenizerFamily;

/// The tokens of an image whose size cannot be read: it is given by URL, is in the files API, or is damaged.
const UNREADABLE: u64 = 1_600;
/// The side length in pixels of the square that one token covers.
const SQUARE: u64 = 28;
/// The number of base64 characters read, a multiple of four; a photograph's metadata can be long.
const LOOKED_AT: usize = 256 * 1024;

/// Tokens of an image with this `source`.
pub(super) fn tokens(source: Option<&Value>, family: TokenizerFamily) -> u64 {
    source
        .and_then(|source| source.get("data"))
        .and_then(Value::as_str)
        .and_then(size)
        .map_or(UNREADABLE.min(family.image_cap()), |size| {
            of_size(size, family)
        })
}

fn size(base64: &str) -> Option<(u64, u64)> {
    let head = base64.get(..LOOKED_AT.min(base64.len() / 4 * 4))?;
    let bytes = STANDARD.decode(head).ok()?;
    let size = imagesize::blob_size(&bytes).ok()?;
    Some((size.width as u64, size.height as u64))
}

fn of_size((width, height): (u64, u64), family: TokenizerFamily) -> u64 {
    let edge = family.image_edge();
    let longest = width.max(height).max(1);
    let scaled = |side: u64| {
        if longest > edge {
            (side.saturating_mul(edge) / longest).max(1)
        } else {
            side.max(1)
        }
    };
    let squares = |side: u64| scaled(side).div_ceil(SQUARE);
    (squares(width) * squares(height)).min(family.image_cap())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_count_by_their_squares_up_to_the_familys_cap() {
        assert_eq!(of_size((280, 281), TokenizerFamily::Old), 10 * 11);
        assert_eq!(of_size((8_000, 8_000), TokenizerFamily::Old), 1_568);
        assert_eq!(of_size((8_000, 8_000), TokenizerFamily::New), 4_784);
        assert_eq!(of_size((1_000, 10), TokenizerFamily::New), 36);
        assert_eq!(of_size((0, 0), TokenizerFamily::New), 1);
    }

    #[test]
    fn a_png_tells_its_size_and_a_url_does_not() {
        let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
        let source =
            serde_json::json!({ "type": "base64", "media_type": "image/png", "data": png });
        assert_eq!(tokens(Some(&source), TokenizerFamily::Old), 1);
        let url = serde_json::json!({ "type": "url", "url": "https://example.com/a.png" });
        assert_eq!(tokens(Some(&url), TokenizerFamily::New), 1_600);
        assert_eq!(tokens(Some(&url), TokenizerFamily::Old), 1_568);
    }
}
