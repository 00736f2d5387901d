//! Checks the number and the size of images.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use longhaul_core::models::ModelSpec;
use serde_json::Value;

use super::turns::ConversationProblem;
use crate::request::MessagesRequest;

/// The maximum number of images, on models with at least this window.
const MOST: (usize, u64) = (600, 1_000_000);
/// The maximum number of images on models with a smaller window.
const MOST_SMALL: usize = 100;
/// Above this number of images, each must be smaller.
const MANY: usize = 20;
const MOST_BYTES: usize = 10 * 1024 * 1024;
/// The maximum side length in pixels.
const MOST_PIXELS: usize = 8000;
/// The maximum side length in pixels if there are many images.
const MOST_PIXELS_OF_MANY: usize = 2000;
/// How much of an image is decoded at first to find its size; a multiple of four.
const HEAD: usize = 64 * 1024;

struct RequestImage<'a> {
    message: usize,
    path: String,
    source: &'a Value,
}

/// The first problem, if any.
pub(super) fn check(request: &MessagesRequest, spec: &ModelSpec) -> Option<ConversationProblem> {
    let images = images(request);
    let most = if spec.window >= MOST.1 {
        MOST.0
    } else {
        MOST_SMALL
    };
    if let Some(image) = images.get(most) {
        let count = images.len();
        let what = format!("Too much media: 0 document pages + {count} images > {most}");
        return Some(ConversationProblem::at(image.message, what));
    }
    let limit = if images.len() > MANY {
        (MOST_PIXELS_OF_MANY, " for many-image requests")
    } else {
        (MOST_PIXELS, "")
    };
    images.iter().find_map(|image| too_large(image, limit))
}

fn too_large(
    image: &RequestImage<'_>,
    (most, among): (usize, &str),
) -> Option<ConversationProblem> {
    let data = image.source.get("data")?.as_str()?;
    let say = |what: String| {
        Some(ConversationProblem::at(
            image.message,
            format!("{}.image.source.base64.data: {what}", image.path),
        ))
    };
    let bytes = data.trim_end_matches('=').len() * 3 / 4;
    if bytes > MOST_BYTES {
        return say(format!(
            "image exceeds 10 MB maximum: {bytes} bytes > {MOST_BYTES} bytes"
        ));
    }
    let (width, height) = size(data)?;
    if width.max(height) > most {
        say(format!(
            "At least one of the image dimensions exceed max allowed size{among}: {most} pixels"
        ))
    } else {
        None
    }
}

/// The width and height, if they can be determined.
fn size(data: &str) -> Option<(usize, usize)> {
    let measure = |text: &str| {
        let bytes = STANDARD.decode(text).ok()?;
        let size = imagesize::blob_size(&bytes).ok()?;
        Some((size.width, size.height))
    };
    data.get(..HEAD).and_then(measure).or_else(|| measure(data))
}

fn images(request: &MessagesRequest) -> Vec<RequestImage<'_>> {
    let mut images = Vec::new();
    for (message, said) in request.messages.iter().enumerate() {
        for (index, block) in said.content.iter().enumerate() {
            let path = || format!("messages.{message}.content.{index}");
            let source = block.fields.get("source").filter(|_| block.kind == "image");
            images.extend(source.map(|source| RequestImage {
                message,
                path: path(),
                source,
            }));
            let inner = block.fields.get("content").and_then(Value::as_array);
            for (at, inner) in inner.into_iter().flatten().enumerate() {
                let is_image = inner.get("type").and_then(Value::as_str) == Some("image");
                let source = inner.get("source").filter(|_| is_image);
                images.extend(source.map(|source| RequestImage {
                    message,
                    path: format!("{}.{}.content.{at}", path(), block.kind),
                    source,
                }));
            }
        }
    }
    images
}
