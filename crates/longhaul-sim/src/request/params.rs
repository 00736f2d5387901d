//! The top-level fields of a request and their shapes, in the order in which the API reports problems.

use super::Endpoint;
use super::blocks::CACHE_CONTROL;
use super::shape::{Betas, Field, Shape, field, known, variant};

const BINDING: &[&str] = &["thinking-binding-controls-2026-08-01"];
const CLEARING: &[&str] = &["context-management-2025-06-27"];
const COMPACTING: &[&str] = &["compact-2026-01-12"];
const MANAGING: &[&str] = &["context-management-2025-06-27", "compact-2026-01-12"];
/// The beta of `compaction`, which has an error of its own.
pub(super) const ON_DEMAND: &[&str] = &["compact-2026-09-04"];
const FORMAT: &[&str] = &["structured-outputs-2025-11-13"];
const MCP: &[&str] = &[
    "mcp-client-2025-04-04",
    "mcp-client-2025-11-20",
    "mcp-client-2026-09-15",
];
const FALLBACK: &[&str] = &[
    "server-side-fallback-2026-06-01",
    "server-side-fallback-2026-07-01",
];
const CREDIT: &[&str] = &["fallback-credit-2026-06-01", "fallback-credit-2026-07-01"];
const PROFILES: &[&str] = &[
    "user-profiles-2026-03-24",
    "user-profiles-2026-08-18",
    "user-profiles-2026-09-04",
];
const THREADS: &[&str] = &["message-threads-2026-08-12"];

const STRINGS: Shape = Shape::List(&Shape::Str);
const ANYTHINGS: Shape = Shape::List(&Shape::Any);

const TOOL_CHOICE: Shape = Shape::Tagged(&[
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

const THINKING: Shape = Shape::Tagged(&[
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

const EFFORT: Shape = Shape::OneOf(&["low", "medium", "high", "xhigh", "max"]);
const JSON_FORMAT: Shape = Shape::Tagged(&[variant!(
    "json_schema",
    &[
        field!(Required, "schema", &Shape::Dict),
        field!(Optional, "name", &Shape::Str)
    ]
)]);

const OUTPUT_CONFIG: Shape = Shape::Object(&[
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

const CONTEXT_MANAGEMENT: Shape = Shape::Object(&[field!(
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

const COMPACTION: Shape = Shape::Object(&[
    field!(Required, "type", &Shape::OneOf(&["summarize"])),
    field!(Nullable, "instructions", &Shape::Short(16_384)),
]);

/// An extension of this simulator; see [`crate::manage::cache_edits`].
const CACHE_EDITING: &[&str] = &[crate::manage::cache_edits::BETA];
const CACHE_EDITS: Shape = Shape::List(&Shape::Tagged(&[variant!(
    "delete",
    &[field!(Required, "tool_use_id", &Shape::Str)]
)]));

const THREAD: Shape = Shape::Tagged(&[
    variant!("create", &[]),
    variant!(
        "continue",
        &[field!(Required, "previous_message_id", &Shape::Str)]
    ),
]);

const MCP_SERVERS: Shape = Shape::List(&Shape::Object(&[
    field!(Required, "type", &Shape::OneOf(&["url"])),
    field!(Required, "name", &Shape::Str),
    field!(Required, "url", &Shape::Str),
    field!(Nullable, "authorization_token", &Shape::Str),
    field!(Nullable, "tool_configuration", &Shape::Dict),
]));

/// Where a field is known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Everywhere.
    Both,
    /// Only where a message is made.
    Messages,
    /// Only where a message is made, and no longer since version 2026-10-21.
    Retired,
}

struct Param {
    field: Field,
    place: Place,
}

macro_rules! param {
    ($place:ident, $field:expr $(,)?) => {
        Param {
            field: $field,
            place: Place::$place,
        }
    };
}

/// In the order in which the API reports them; what is behind `inference_geo` is in no known order.
const PARAMS: &[Param] = &[
    param!(
        Both,
        field!(Required, "model", &Shape::Pattern(|_| true, ""))
    ),
    param!(Both, field!(Optional, "tool_choice", &TOOL_CHOICE)),
    param!(Both, field!(Optional, "tools", &ANYTHINGS)),
    param!(Both, field!(Required, "messages", &ANYTHINGS)),
    param!(Both, field!(Optional, "system", &Shape::StrOr(&ANYTHINGS))),
    param!(Both, field!(Optional, "thinking", &THINKING)),
    param!(Both, field!(Optional, "output_config", &OUTPUT_CONFIG)),
    param!(Both, field!(Nullable, "cache_control", &CACHE_CONTROL)),
    param!(
        Messages,
        field!(Required, "max_tokens", &Shape::Int(i64::MIN))
    ),
    param!(
        Messages,
        field!(
            Optional,
            "metadata",
            &Shape::Object(&[field!(Nullable, "user_id", &Shape::Short(512))])
        )
    ),
    param!(Messages, field!(Optional, "stop_sequences", &STRINGS)),
    param!(Retired, field!(Optional, "temperature", &Shape::Number)),
    param!(
        Messages,
        field!(
            Optional,
            "service_tier",
            &Shape::OneOf(&["auto", "standard_only"])
        )
    ),
    param!(Retired, field!(Optional, "top_k", &Shape::Int(0))),
    param!(Retired, field!(Optional, "top_p", &Shape::Number)),
    param!(Messages, field!(Optional, "stream", &Shape::Bool)),
    param!(
        Messages,
        field!(
            Nullable,
            "container",
            &Shape::StrOr(&Shape::Object(&[
                field!(Nullable, "id", &Shape::Str),
                field!(Nullable, "skills", &ANYTHINGS)
            ])),
        )
    ),
    param!(Messages, field!(Nullable, "inference_geo", &Shape::Str)),
    param!(
        Both,
        field!(Nullable, "speed", &Shape::OneOf(&["standard", "fast"]))
    ),
    param!(
        Messages,
        field!(
            Nullable,
            "diagnostics",
            &Shape::Object(&[field!(Nullable, "previous_message_id", &Shape::Str)])
        )
    ),
    param!(
        Both,
        field!(
            Nullable,
            "context_management",
            &CONTEXT_MANAGEMENT,
            MANAGING
        )
    ),
    param!(Both, field!(Nullable, "compaction", &COMPACTION, ON_DEMAND)),
    param!(
        Both,
        field!(Nullable, "output_format", &JSON_FORMAT, FORMAT)
    ),
    param!(Both, field!(Optional, "mcp_servers", &MCP_SERVERS, MCP)),
    param!(
        Messages,
        field!(Nullable, "fallbacks", &Shape::StrOr(&ANYTHINGS), FALLBACK)
    ),
    param!(
        Messages,
        field!(
            Nullable,
            "fallback_credit_token",
            &Shape::StrOr(&Shape::Dict),
            CREDIT
        )
    ),
    param!(
        Messages,
        field!(Optional, "user_profile_id", &Shape::Str, PROFILES)
    ),
    param!(Messages, field!(Nullable, "thread", &THREAD, THREADS)),
    param!(
        Messages,
        field!(Nullable, "cache_edits", &CACHE_EDITS, CACHE_EDITING)
    ),
];

/// The fields a request may have.
pub(super) fn fields<'a>(
    endpoint: Endpoint,
    version: &'a str,
    betas: &'a Betas,
) -> impl Iterator<Item = &'static Field> + use<'a> {
    PARAMS
        .iter()
        .filter(move |param| match param.place {
            Place::Both => true,
            Place::Messages => endpoint == Endpoint::Messages,
            Place::Retired => endpoint == Endpoint::Messages && version != super::NEWEST_VERSION,
        })
        .map(|param| &param.field)
        .filter(move |field| known(field.betas, betas))
}

/// What a message of role system may have besides role and content.
pub(super) const SYSTEM_MESSAGE: &[Field] = &[
    field!(
        Nullable,
        "clear_at",
        &Shape::OneOf(&["next_user_message", "never"]),
        &["mid-conversation-system-clear-at-2026-08-21"]
    ),
    field!(
        Nullable,
        "output_config",
        &Shape::Object(&[field!(Nullable, "effort", &EFFORT)]),
        &["mid-conversation-output-config-2026-07-01"]
    ),
];
