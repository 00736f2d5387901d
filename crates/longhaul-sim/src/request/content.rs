//! Blocks of plain content, which also stand inside tool results, and the marker any of them may bear.

use super::shape::{Field, Shape, field, variant};

/// A list of anything.
pub(super) const ANYTHINGS: Shape = Shape::List(&Shape::Any);
const CITATIONS: Shape = Shape::Object(&[field!(Optional, "enabled", &Shape::Bool)]);

/// A cache marker.
pub(super) const CACHE_CONTROL: Shape = Shape::Tagged(&[variant!(
    "ephemeral",
    &[field!(Optional, "ttl", &Shape::OneOf(&["5m", "1h"]))]
)]);

/// The text blocks of `system` are no tagged union.
pub(super) const SYSTEM_BLOCK: Shape = Shape::Object(&[
    field!(Required, "type", &Shape::OneOf(&["text"])),
    field!(Required, "text", &Shape::Str),
    field!(Nullable, "cache_control", &CACHE_CONTROL),
    field!(Nullable, "citations", &ANYTHINGS),
]);

/// Text.
pub(super) const TEXT: &[Field] = &[
    field!(Required, "text", &Shape::Str),
    field!(Nullable, "cache_control", &CACHE_CONTROL),
    field!(Nullable, "citations", &ANYTHINGS),
];

const IMAGE_SOURCE: Shape = Shape::Tagged(&[
    variant!(
        "base64",
        &[
            field!(
                Required,
                "media_type",
                &Shape::OneOf(&["image/jpeg", "image/png", "image/gif", "image/webp"])
            ),
            field!(Required, "data", &Shape::Str),
        ],
    ),
    variant!("url", &[field!(Required, "url", &Shape::Str)]),
    variant!("file", &[field!(Required, "file_id", &Shape::Str)]),
]);

/// An image.
pub(super) const IMAGE: &[Field] = &[
    field!(Required, "source", &IMAGE_SOURCE),
    field!(Nullable, "cache_control", &CACHE_CONTROL),
    field!(
        Nullable,
        "transformations",
        &Shape::Object(&[field!(
            Optional,
            "oversized_image",
            &Shape::OneOf(&["downsize", "error"])
        )])
    ),
];

const DOCUMENT_SOURCE: Shape = Shape::Tagged(&[
    variant!(
        "base64",
        &[
            field!(Required, "media_type", &Shape::OneOf(&["application/pdf"])),
            field!(Required, "data", &Shape::Str)
        ],
    ),
    variant!(
        "text",
        &[
            field!(Required, "media_type", &Shape::OneOf(&["text/plain"])),
            field!(Required, "data", &Shape::Str)
        ]
    ),
    variant!(
        "content",
        &[field!(
            Required,
            "content",
            &Shape::StrOr(&Shape::List(&Shape::Tagged(&[
                variant!("text", TEXT),
                variant!("image", IMAGE)
            ]))),
        )],
    ),
    variant!("url", &[field!(Required, "url", &Shape::Str)]),
    variant!("file", &[field!(Required, "file_id", &Shape::Str)]),
]);

/// A document.
pub(super) const DOCUMENT: &[Field] = &[
    field!(Required, "source", &DOCUMENT_SOURCE),
    field!(Nullable, "cache_control", &CACHE_CONTROL),
    field!(Nullable, "citations", &CITATIONS),
    field!(Nullable, "context", &Shape::Str),
    field!(Nullable, "title", &Shape::Str),
];

/// Something found.
pub(super) const SEARCH_RESULT: &[Field] = &[
    field!(
        Required,
        "content",
        &Shape::List(&Shape::Tagged(&[variant!("text", TEXT)]))
    ),
    field!(Required, "source", &Shape::Str),
    field!(Required, "title", &Shape::Str),
    field!(Nullable, "cache_control", &CACHE_CONTROL),
    field!(Optional, "citations", &CITATIONS),
];

/// The name of a deferred tool.
pub(super) const TOOL_REFERENCE: &[Field] = &[
    field!(Required, "tool_name", &Shape::Str),
    field!(Nullable, "cache_control", &CACHE_CONTROL),
];
