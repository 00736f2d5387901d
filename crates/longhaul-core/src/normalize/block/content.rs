//! The fields of plain content: text, reasoning, pictures, documents and the like. Which of it may stand where is in
//! `kinds.rs`, and in `inner.rs` for results.

use super::shape::{Field, Shape, nullable, optional, required};

/// The beta-free fields of text that a user says; the newest version of the API takes citations from the model only.
pub(super) const USER_TEXT: &[Field] = &[required("text", &Shape::Filled)];
/// The same of the model.
pub(super) const SAID_TEXT: &[Field] = &[
    required("text", &Shape::Text),
    nullable("citations", &Shape::List(&Shape::Object)),
];
/// Reasoning without a signature is never sent.
pub(super) const THINKING: &[Field] = &[
    required("thinking", &Shape::Text),
    required("signature", &Shape::Filled),
];
/// The same, encrypted.
pub(super) const REDACTED_THINKING: &[Field] = &[required("data", &Shape::Filled)];

const IMAGE_SOURCE: Shape = Shape::Tagged(&[
    (
        "base64",
        &[
            required(
                "media_type",
                &Shape::OneOf(&["image/jpeg", "image/png", "image/gif", "image/webp"]),
            ),
            required("data", &Shape::Filled),
        ],
    ),
    ("url", &[required("url", &Shape::Filled)]),
    ("file", &[required("file_id", &Shape::Filled)]),
]);
/// A picture.
pub(super) const IMAGE: &[Field] = &[required("source", &IMAGE_SOURCE)];

const DOCUMENT_SOURCE: Shape = Shape::Tagged(&[
    (
        "base64",
        &[
            required("media_type", &Shape::OneOf(&["application/pdf"])),
            required("data", &Shape::Filled),
        ],
    ),
    (
        "text",
        &[
            required("media_type", &Shape::OneOf(&["text/plain"])),
            required("data", &Shape::Filled),
        ],
    ),
    (
        "content",
        &[required("content", &Shape::FilledOr(&DOCUMENT_PARTS))],
    ),
    ("url", &[required("url", &Shape::Filled)]),
    ("file", &[required("file_id", &Shape::Filled)]),
]);
const DOCUMENT_PARTS: Shape = Shape::List(&Shape::Tagged(&[("text", USER_TEXT), ("image", IMAGE)]));
const CITED: Shape = Shape::Record(&[optional("enabled", &Shape::Bool)]);
/// A document.
pub(super) const DOCUMENT: &[Field] = &[
    required("source", &DOCUMENT_SOURCE),
    nullable("title", &Shape::Text),
    nullable("context", &Shape::Text),
    nullable("citations", &CITED),
];
/// Something found.
pub(super) const SEARCH_RESULT: &[Field] = &[
    required(
        "content",
        &Shape::List(&Shape::Tagged(&[("text", USER_TEXT)])),
    ),
    required("source", &Shape::Text),
    required("title", &Shape::Text),
    nullable("citations", &CITED),
];
/// The name of a tool that a search found.
pub(super) const TOOL_REFERENCE: &[Field] = &[required("tool_name", &Shape::Filled)];
