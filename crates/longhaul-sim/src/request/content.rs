//! Blocks of plain content, which also occur inside tool results, and the cache breakpoint that any of them may carry.

use super::shape::{FieldSpec, ValueShape, field, variant};

/// A list of anything.
pub(super) const ANYTHINGS: ValueShape = ValueShape::List(&ValueShape::Any);
const CITATIONS: ValueShape = ValueShape::Object(&[field!(Optional, "enabled", &ValueShape::Bool)]);

/// A cache breakpoint.
pub(super) const CACHE_CONTROL: ValueShape = ValueShape::Tagged(&[variant!(
    "ephemeral",
    &[field!(Optional, "ttl", &ValueShape::OneOf(&["5m", "1h"]))]
)]);

/// The text blocks of `system` are not a tagged union.
pub(super) const SYSTEM_BLOCK: ValueShape = ValueShape::Object(&[
    field!(Required, "type", &ValueShape::OneOf(&["text"])),
    field!(Required, "text", &ValueShape::Str),
    field!(Nullable, "cache_control", &CACHE_CONTROL),
    field!(Nullable, "citations", &ANYTHINGS),
]);

/// A text block.
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

/// An image block.
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

/// A document block.
pub(super) const DOCUMENT: &[FieldSpec] = &[
    field!(Required, "source", &DOCUMENT_SOURCE),
    field!(Nullable, "cache_control", &CACHE_CONTROL),
    field!(Nullable, "citations", &CITATIONS),
    field!(Nullable, "context", &ValueShape::Str),
    field!(Nullable, "title", &ValueShape::Str),
];

/// A search result block.
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

/// A reference to a deferred tool by its name.
pub(super) const TOOL_REFERENCE: &[FieldSpec] = &[
    field!(Required, "tool_name", &ValueShape::Str),
    field!(Nullable, "cache_control", &CACHE_CONTROL),
];
