//! Blocks of plain content, which also stand inside tool results, and the marker any of them may bear.

use super::shape::{FieldSpec, ValueShape, field, variant};

/// A list of anything.
pub(super) const ANYTHINGS: ValueShape = ValueShape::List(&ValueShape::Any);
const CITATIONS: ValueShape = ValueShape::Object(&[field!(Optional, "enabled", &ValueShape::Bool)]);

/// A cache marker.
pub(super) const CACHE_CONTROL: ValueShape = ValueShape::Tagged(&[variant!(
    "ephemeral",
    &[field!(Optional, "ttl", &ValueShape::OneOf(&["5m", "1h"]))]
)]);

/// The text blocks of `system` are no tagged union.
pub(super) const SYSTEM_BLOCK: ValueShape = ValueShape::Object(&[
    field!(Required, "type", &ValueShape::OneOf(&["text"])),
    field!(Required, "text", &ValueShape::Str),
    field!(Nullable, "cache_control", &CACHE_CONTROL),
    field!(Nullable, "citations", &ANYTHINGS),
]);

/// Text.
pub(super) const TEXT: &[FieldSpec] = &[
    field!(Required, "text", &ValueShape::Str),
    field!(Nullable, "cache_control", &CACHE_CONTROL),
    field!(Nullable, "citations", &ANYTHINGS),
];

const IMAGE_SOURCE: ValueShape = ValueShape::Tagged(&[
    variant!(
        "base64",
        &[
            field!(
                Required,
                "media_type",
                &ValueShape::OneOf(&["image/jpeg", "image/png", "image/gif", "image/webp"])
            ),
            field!(Required, "data", &ValueShape::Str),
        ],
    ),
    variant!("url", &[field!(Required, "url", &ValueShape::Str)]),
    variant!("file", &[field!(Required, "file_id", &ValueShape::Str)]),
]);

/// An image.
pub(super) const IMAGE: &[FieldSpec] = &[
    field!(Required, "source", &IMAGE_SOURCE),
    field!(Nullable, "cache_control", &CACHE_CONTROL),
    field!(
        Nullable,
        "transformations",
        &ValueShape::Object(&[field!(
            Optional,
            "oversized_image",
            &ValueShape::OneOf(&["downsize", "error"])
        )])
    ),
];

const DOCUMENT_SOURCE: ValueShape = ValueShape::Tagged(&[
    variant!(
        "base64",
        &[
            field!(
                Required,
                "media_type",
                &ValueShape::OneOf(&["application/pdf"])
            ),
            field!(Required, "data", &ValueShape::Str)
        ],
    ),
    variant!(
        "text",
        &[
            field!(Required, "media_type", &ValueShape::OneOf(&["text/plain"])),
            field!(Required, "data", &ValueShape::Str)
        ]
    ),
    variant!(
        "content",
        &[field!(
            Required,
            "content",
            &ValueShape::StrOr(&ValueShape::List(&ValueShape::Tagged(&[
                variant!("text", TEXT),
                variant!("image", IMAGE)
            ]))),
        )],
    ),
    variant!("url", &[field!(Required, "url", &ValueShape::Str)]),
    variant!("file", &[field!(Required, "file_id", &ValueShape::Str)]),
]);

/// A document.
pub(super) const DOCUMENT: &[FieldSpec] = &[
    field!(Required, "source", &DOCUMENT_SOURCE),
    field!(Nullable, "cache_control", &CACHE_CONTROL),
    field!(Nullable, "citations", &CITATIONS),
    field!(Nullable, "context", &ValueShape::Str),
    field!(Nullable, "title", &ValueShape::Str),
];

/// Something found.
pub(super) const SEARCH_RESULT: &[FieldSpec] = &[
    field!(
        Required,
        "content",
        &ValueShape::List(&ValueShape::Tagged(&[variant!("text", TEXT)]))
    ),
    field!(Required, "source", &ValueShape::Str),
    field!(Required, "title", &ValueShape::Str),
    field!(Nullable, "cache_control", &CACHE_CONTROL),
    field!(Optional, "citations", &CITATIONS),
];

/// The name of a deferred tool.
pub(super) const TOOL_REFERENCE: &[FieldSpec] = &[
    field!(Required, "tool_name", &ValueShape::Str),
    field!(Nullable, "cache_control", &CACHE_CONTROL),
];
