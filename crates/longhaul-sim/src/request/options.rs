//! Shapes of the parameters that are objects: `thinking`, `tool_choice`, `context_management` …

use super::shape::{Shape, field, variant};

const BINDING: &[&str] = &["thinking-binding-controls-2026-08-01"];
const CLEARING: &[&str] = &["context-management-2025-06-27"];
const COMPACTING: &[&str] = &["compact-2026-01-12"];

/// A list of strings.
pub(super) const STRINGS: Shape = Shape::List(&Shape::Str);

/// `tool_choice`.
pub(super) const TOOL_CHOICE: Shape = Shape::Tagged(&[
    variant!(
        "auto",
        &[field!(Optional, "disable_parallel_tool_use", &Shape::Bool)]
    ),
    variant!(
        "any",
        &[field!(Optional, "disable_parallel_tool_use", &Shape::Bool)]
    ),
    variant!(
        "tool",
        &[
            field!(Required, "name", &Shape::Str),
            field!(Optional, "disable_parallel_tool_use", &Shape::Bool)
        ]
    ),
    variant!("none", &[]),
]);

/// `updates` needs a beta; `validate/` asks for it.
const DISPLAY: Shape = Shape::OneOf(&["summarized", "omitted", "updates"]);
const BLOCK_BINDING: Shape = Shape::Object(&[field!(
    Nullable,
    "prefix_mismatch_behavior",
    &Shape::OneOf(&["error", "drop_block"]),
)]);

/// `thinking`.
pub(super) const THINKING: Shape = Shape::Tagged(&[
    variant!(
        "enabled",
        &[
            field!(Required, "budget_tokens", &Shape::Int(1024)),
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

/// `output_config.effort`, of a request or of one message.
pub(super) const EFFORT: Shape = Shape::OneOf(&["low", "medium", "high", "xhigh", "max"]);
/// A format for the reply.
pub(super) const JSON_FORMAT: Shape = Shape::Tagged(&[variant!(
    "json_schema",
    &[
        field!(Required, "schema", &Shape::Dict),
        field!(Optional, "name", &Shape::Str)
    ]
)]);

/// `output_config`.
pub(super) const OUTPUT_CONFIG: Shape = Shape::Object(&[
    field!(Nullable, "effort", &EFFORT),
    field!(Nullable, "format", &JSON_FORMAT),
    field!(
        Nullable,
        "task_budget",
        &Shape::Tagged(&[variant!(
            "tokens",
            &[
                field!(Required, "total", &Shape::Int(1)),
                field!(Nullable, "remaining", &Shape::Int(0))
            ],
        )]),
        &["task-budgets-2026-03-13"],
    ),
]);

const INPUT_TOKENS: Shape = Shape::Tagged(&[variant!(
    "input_tokens",
    &[field!(Required, "value", &Shape::Int(1))]
)]);
const COMPACT_TRIGGER: Shape = Shape::Tagged(&[variant!(
    "input_tokens",
    &[field!(Required, "value", &Shape::Int(50_000))]
)]);

/// `context_management`.
pub(super) const CONTEXT_MANAGEMENT: Shape = Shape::Object(&[field!(
    Optional,
    "edits",
    &Shape::List(&Shape::Tagged(&[
        variant!(
            "clear_tool_uses_20250919",
            &[
                field!(
                    Optional,
                    "trigger",
                    &Shape::Tagged(&[
                        variant!("input_tokens", &[field!(Required, "value", &Shape::Int(1))]),
                        variant!("tool_uses", &[field!(Required, "value", &Shape::Int(1))]),
                    ]),
                ),
                field!(
                    Optional,
                    "keep",
                    &Shape::Tagged(&[variant!(
                        "tool_uses",
                        &[field!(Required, "value", &Shape::Int(0))]
                    )])
                ),
                field!(Nullable, "clear_at_least", &INPUT_TOKENS),
                field!(Nullable, "exclude_tools", &STRINGS),
                field!(Nullable, "clear_tool_inputs", &Shape::BoolOr(&STRINGS)),
            ],
            CLEARING,
        ),
        variant!(
            "clear_thinking_20251015",
            &[field!(
                Optional,
                "keep",
                &Shape::StrOr(&Shape::Tagged(&[
                    variant!(
                        "thinking_turns",
                        &[field!(Required, "value", &Shape::Int(1))]
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
                field!(Optional, "pause_after_compaction", &Shape::Bool),
                field!(Nullable, "instructions", &Shape::Str),
            ],
            COMPACTING,
        ),
    ])),
)]);

/// `compaction`.
pub(super) const COMPACTION: Shape = Shape::Object(&[
    field!(Required, "type", &Shape::OneOf(&["summarize"])),
    field!(Nullable, "instructions", &Shape::Short(16_384)),
]);

/// `cache_edits`: see [`crate::manage::cache_edits`].
pub(super) const CACHE_EDITS: Shape = Shape::List(&Shape::Tagged(&[variant!(
    "delete",
    &[field!(Required, "tool_use_id", &Shape::Str)]
)]));

/// `thread`.
pub(super) const THREAD: Shape = Shape::Tagged(&[
    variant!("create", &[]),
    variant!(
        "continue",
        &[field!(Required, "previous_message_id", &Shape::Str)]
    ),
]);

/// `mcp_servers`.
pub(super) const MCP_SERVERS: Shape = Shape::List(&Shape::Object(&[
    field!(Required, "type", &Shape::OneOf(&["url"])),
    field!(Required, "name", &Shape::Str),
    field!(Required, "url", &Shape::Str),
    field!(Nullable, "authorization_token", &Shape::Str),
    field!(Nullable, "tool_configuration", &Shape::Dict),
]));
