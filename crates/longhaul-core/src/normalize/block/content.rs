//! The fields of plain content: text, reasoning, pictures, documents and the like. `kinds.rs` defines which content is
//! allowed where, and `inner.rs` does so for results.

use super::shape::{BlockFieldSpec, FieldShape, nullable, optional, required};

/// The fields of a user's text without betas. The newest version of the API accepts citations from the model only.
pub(super) const USER_TEXT: &[BlockFieldSpec] = &[required("text", &FieldShape::Filled)];
/// The fields of the model's text.
pub(super) const SAID_TEXT: &[BlockFieldSpec] = &[
    required("text", &FieldShape::Text),
    nullable("citations", &FieldShape::List(&FieldShape::Object)),
];
/// The fields of reasoning. Reasoning without a signature is never sent.
pub(super) const THINKING: &[BlockFieldSpec] = &[
    required("thinking", &FieldShape::Text),
    required("signature", &FieldShape::Filled),
];
/// The fields of encrypted reasoning.
pub(super) const REDACTED_THINKING: &[BlockFieldSpec] = &[required("data", &FieldShape::Filled)];

const IMAGE_SOURCE: FieldShape = FieldShape::Tagged(&[
    (
        "base64",
        &[
            required(
                "media_type",
                &FieldShape::OneOf(&["image/jpeg", "image/png", "image/gif", "image/webp"]),
            ),
            required("data", &FieldShape::Filled),
        ],
    ),
    ("url", &[required("url", &FieldShape::Filled)]),
    ("file", &[required("file_id", &FieldShape::Filled)]),
]);
/// The fields of a picture.
pub(super) const IMAGE: &[BlockFieldSpec] = &[required("source", &IMAGE_SOURCE)];

const DOCUMENT_SOURCE: FieldShape = FieldShape::Tagged(&[
    (
        "base64",
        &[
            required("media_type", &FieldShape::OneOf(&["application/pdf"])),
            required("data", &FieldShape::Filled),
        ],
    ),
    (
        "text",
        &[
            required("media_type", &FieldShape::OneOf(&["text/plain"])),
            required("data", &FieldShape::Filled),
        ],
    ),
    (
        "content",
        &[required("content", &FieldShape::FilledOr(&DOCUMENT_PARTS))],
    ),
    ("url", &[required("url", &FieldShape::Filled)]),
    ("file", &[required("file_id", &FieldShape::Filled)]),
]);
const DOCUMENT_PARTS: FieldShape = FieldShape::List(&FieldShape::Tagged(&[
    ("text", USER_TEXT),
    ("image", IMAGE),
]));
const CITED: FieldShape = FieldShape::Record(&[optional("enabled", &FieldShape::Bool)]);
/// The fields of a document.
pub(super) const DOCUMENT: &[BlockFieldSpec] = &[
    required("source", &DOCUMENT_SOURCE),
    nullable("title", &FieldShape::Text),
    nullable("context", &FieldShape::Text),
    nullable("citations", &CITED),
];
/// The fields of a search result.
pub(super) const SEARCH_RESULT: &[BlockFieldSpec] = &[
    required(
        "content",
        &FieldShape::List(&FieldShape::Tagged(&[("text", USER_TEXT)])),
    ),
    required("source", &FieldShape::Text),
    required("title", &FieldShape::Text),
    nullable("citations", &CITED),
];
/// The fields of a reference to a tool that a search found.
pub(super) const TOOL_REFERENCE: &[BlockFieldSpec] = &[required("tool_name", &FieldShape::Filled)];
