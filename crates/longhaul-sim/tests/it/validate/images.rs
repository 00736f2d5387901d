//! Images.

use serde_json::{Value, json};

use super::{HAIKU, SONNET, admitted, refused, say, talk, text, use_of};

/// The header of a PNG of this size.
fn png(width: u32, height: u32) -> Value {
    use base64::Engine;
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 6, 0, 0, 0, 0, 0, 0, 0]);
    let data = base64::engine::general_purpose::STANDARD.encode(bytes);
    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}})
}

#[test]
fn images_are_neither_too_many_nor_too_large() {
    let show = |images: Vec<Value>| json!({"messages": [say("user", images.into())]});
    admitted(SONNET, show(vec![png(8000, 8000)]));
    refused(
        SONNET,
        show(vec![text("Look:"), png(8001, 10)]),
        "messages.0.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels",
    );
    admitted(SONNET, show(vec![png(2000, 2000); 21]));
    admitted(SONNET, show(vec![png(2001, 10); 20]));
    refused(
        SONNET,
        show(vec![png(2001, 10); 21]),
        "messages.0.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels",
    );
    admitted(SONNET, show(vec![png(10, 10); 600]));
    refused(
        SONNET,
        show(vec![png(10, 10); 601]),
        "Too much media: 0 document pages + 601 images > 600",
    );
    admitted(HAIKU, show(vec![png(10, 10); 100]));
    refused(
        HAIKU,
        show(vec![png(10, 10); 101]),
        "Too much media: 0 document pages + 101 images > 100",
    );
    let mut large = png(10, 10);
    large["source"]["data"] = "A".repeat(14 * 1024 * 1024).into();
    refused(
        SONNET,
        show(vec![large]),
        "messages.0.content.0.image.source.base64.data: image exceeds 10 MB maximum: 11010048 bytes > 10485760 bytes",
    );
    let mut odd = png(10, 10);
    odd["source"]["media_type"] = "image/tiff".into();
    refused(
        SONNET,
        show(vec![odd]),
        "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
    );
    // Images inside results count as well.
    let result = json!([{"type": "tool_result", "tool_use_id": "t1", "content": [png(9000, 10)]}]);
    refused(
        SONNET,
        talk(&[
            say("user", json!("a")),
            say("assistant", json!([use_of("t1")])),
            say("user", result),
        ]),
        "messages.2.content.0.tool_result.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels",
    );
}
