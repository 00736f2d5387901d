//! Shapes of the parameters that are objects: `thinking`, `tool_choice`, `context_management` …

use super::shape::{ValueShape, field, variant};

const BINDING: &[&str] = &["thinking-binding-controls-2026-08-01"];
const CLEARING: &[&str] = &["context-management-2025-06-27"];
const COMPACTING: &[&str] = &["compact-2026-01-12"];

/// A list of strings.
pub(super) const STRINGS: ValueShape = ValueShape::List(&ValueShape::Str);

/// The shape of `tool_choice`.
pub(super) const TOOL_CHOICE: ValueShape = ValueShape::Tagged(&[
    variant!(
        "auto",
        &[field!(
            Optional,
            "disable_parallel_tool_use",
            &ValueShape::Bool
        )]
    ),
    variant!(
        "any",
        &[field!(
            Optional,
            "disable_parallel_tool_use",
            &ValueShape::Bool
        )]
    ),
    variant!(
        "tool",
        &[
            field!(Required, "name", &ValueShape::Str),
            field!(Optional, "disable_parallel_tool_use", &ValueShape::Bool)
        ]
    ),
    variant!("none", &[]),
]);

/// The shape of `display`; `updates` needs a beta, which `validate/` checks.
const DISPLAY: ValueShape = ValueShape::OneOf(&["summarized", "omitted", "updates"]);
const BLOCK_BINDING: ValueShape = ValueShape::Object(&[field!(
    Nullable,
    "prefix_mismatch_behavior",
    &ValueShape::OneOf(&["error", "drop_block"]),
)]);

/// The shape of `thinking`.
pub(super) const THINKING: ValueShape = ValueShape::Tagged(&[
    variant!(
        "enabled",
        &[
            field!(Required, "budget_tokens", &ValueShape::Int(1024)),
            field!(Nullable, "display", &DISPLAY),
            field!(Nullable, "block_binding", &BLOCK_BINDING, BINDING),
        ],
    ),
    variant!(
        "adaptive",
        &[
            field!(Nullable, "display", &DISPLAY),
            field!(Nullable, "block_binding", &BLOCK_BINDING, BINDING)
        ],
    ),
    variant!("disabled", &[]),
    variant!("between_tools", &[]),
]);

/// The shape of `output_config.effort`, of a request or of one message.
pub(super) const EFFORT: ValueShape = ValueShape::OneOf(&["low", "medium", "high", "xhigh", "max"]);
/// A format for the reply.
pub(super) const JSON_FORMAT: ValueShape = ValueShape::Tagged(&[variant!(
    "json_schema",
    &[
        field!(Required, "schema", &ValueShape::Dict),
        field!(Optional, "name", &ValueShape::Str)
    ]
)]);

/// The shape of `output_config`.
pub(super) const OUTPUT_CONFIG: ValueShape = ValueShape::Object(&[
    field!(Nullable, "effort", &EFFORT),
    field!(Nullable, "format", &JSON_FORMAT),
    field!(
        Nullable,
        "task_budget",
        &ValueShape::Tagged(&[variant!(
            "tokens",
            &[
                field!(Required, "total", &ValueShape::Int(1)),
                field!(Nullable, "remaining", &ValueShape::Int(0))
            ],
        )]),
        &["task-budgets-2026-03-13"],
    ),
]);

const INPUT_TOKENS: ValueShape = ValueShape::Tagged(&[variant!(
    "input_tokens",
    &[field!(Required, "value", &ValueShape::Int(1))]
)]);
const COMPACT_TRIGGER: ValueShape = ValueShape::Tagged(&[variant!(
    "input_tokens",
    &[field!(Required, "value", &ValueShape::Int(50_000))]
)]);

/// The shape of `context_management`.
pub(super) const CONTEXT_MANAGEMENT: ValueShape = ValueShape::Object(&[field!(
    Optional,
    "edits",
    &ValueShape::List(&ValueShape::Tagged(&[
        variant!(
            "clear_tool_uses_20250919",
            &[
                field!(
                    Optional,
                    "trigger",
                    &ValueShape::Tagged(&[
                        variant!(
                            "input_tokens",
                            &[field!(Required, "value", &ValueShape::Int(1))]
                        ),
                        variant!(
                            "tool_uses",
                            &[field!(Required, "value", &ValueShape::Int(1))]
                        ),
                    ]),
                ),
                field!(
                    Optional,
                    "keep",
                    &ValueShape::Tagged(&[variant!(
                        "tool_uses",
                        &[field!(Required, "value", &ValueShape::Int(0))]
                    )])
                ),
                field!(Nullable, "clear_at_least", &INPUT_TOKENS),
                field!(Nullable, "exclude_tools", &STRINGS),
                field!(Nullable, "clear_tool_inputs", &ValueShape::BoolOr(&STRINGS)),
            ],
            CLEARING,
        ),
        variant!(
            "clear_thinking_20251015",
            &[field!(
                Optional,
                "keep",
                &ValueShape::StrOr(&ValueShape::Tagged(&[
                    variant!(
                        "thinking_turns",
                        &[field!(Required, "value", &ValueShape::Int(1))]
                    ),
                    variant!("all", &[]),
                ])),
            )],
            CLEARING,
        ),
        variant!(
            "compact_20260112",
            &[
                field!(Nullable, "trigger", &COMPACT_TRIGGER),
                field!(Optional, "pause_after_compaction", &ValueShape::Bool),
                field!(Nullable, "instructions", &ValueShape::Str),
            ],
            COMPACTING,
        ),
    ])),
)]);

/// The shape of `compaction`.
pub(super) const COMPACTION: ValueShape = ValueShape::Object(&[
    field!(Required, "type", &ValueShape::OneOf(&["summarize"])),
    field!(Nullable, "instructions", &ValueShape::Short(16_384)),
]);

/// The shape of `cache_edits`: see [`crate::manage::cache_edits`].
pub(super) const CACHE_EDITS: ValueShape = ValueShape::List(&ValueShape::Tagged(&[variant!(
    "delete",
    &[field!(Required, "tool_use_id", &ValueShape::Str)]
)]));

/// The shape of `thread`.
pub(super) const THREAD: ValueShape = ValueShape::Tagged(&[
    variant!("create", &[]),
    variant!(
        "continue",
        &[field!(Required, "previous_message_id", &ValueShape::Str)]
    ),
]);

/// The shape of `mcp_servers`.
pub(super) const MCP_SERVERS: ValueShape = ValueShape::List(&ValueShape::Object(&[
    field!(Required, "type", &ValueShape::OneOf(&["url"])),
    field!(Required, "name", &ValueShape::Str),
    field!(Required, "url", &ValueShape::Str),
    field!(Nullable, "authorization_token", &ValueShape::Str),
    field!(Nullable, "tool_configuration", &ValueShape::Dict),
]));
