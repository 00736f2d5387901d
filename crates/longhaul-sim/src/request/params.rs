//! The top-level fields of a request, in the order in which the API reports problems, and where each is available.

use super::Endpoint;
use super::content::{ANYTHINGS, CACHE_CONTROL};
use super::options::{
    CACHE_EDITS, COMPACTION, CONTEXT_MANAGEMENT, EFFORT, JSON_FORMAT, MCP_SERVERS, OUTPUT_CONFIG,
    STRINGS, THINKING, THREAD, TOOL_CHOICE,
};
use super::shape::{Betas, FieldSpec, ValueShape, field, known};

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
/// The beta for an extension of this simulator.
const CACHE_EDITING: &[&str] = &[super::CACHE_EDITS_BETA];
const THREADS: &[&str] = &["message-threads-2026-08-12"];

/// Where a field is available.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ParamAvailability {
    /// On both endpoints.
    Both,
    /// Only on the messages endpoint.
    Messages,
    /// Only on the messages endpoint, and not from version 2026-10-21 on.
    Retired,
}

struct RequestParam {
    field: FieldSpec,
    place: ParamAvailability,
}

macro_rules! param {
    ($place:ident, $field:expr $(,)?) => {
        RequestParam {
            field: $field,
            place: ParamAvailability::$place,
        }
    };
}

/// The fields in the order in which the API reports them; the order after `inference_geo` is not known.
const PARAMS: &[RequestParam] = &[
    param!(
        Both,
        field!(Required, "model", &ValueShape::Pattern(|_| true, ""))
    ),
    param!(Both, field!(Optional, "tool_choice", &TOOL_CHOICE)),
    param!(Both, field!(Optional, "tools", &ANYTHINGS)),
    param!(Both, field!(Required, "messages", &ANYTHINGS)),
    param!(
        Both,
        field!(Optional, "system", &ValueShape::StrOr(&ANYTHINGS))
    ),
    param!(Both, field!(Optional, "thinking", &THINKING)),
    param!(Both, field!(Optional, "output_config", &OUTPUT_CONFIG)),
    param!(Both, field!(Nullable, "cache_control", &CACHE_CONTROL)),
    param!(
        Messages,
        field!(Required, "max_tokens", &ValueShape::Int(i64::MIN))
    ),
    param!(
        Messages,
        field!(
            Optional,
            "metadata",
            &ValueShape::Object(&[field!(Nullable, "user_id", &ValueShape::Short(512))])
        )
    ),
    param!(Messages, field!(Optional, "stop_sequences", &STRINGS)),
    param!(
        Retired,
        field!(Optional, "temperature", &ValueShape::Number)
    ),
    param!(
        Messages,
        field!(
            Optional,
            "service_tier",
            &ValueShape::OneOf(&["auto", "standard_only"])
        )
    ),
    param!(Retired, field!(Optional, "top_k", &ValueShape::Int(0))),
    param!(Retired, field!(Optional, "top_p", &ValueShape::Number)),
    param!(Messages, field!(Optional, "stream", &ValueShape::Bool)),
    param!(
        Messages,
        field!(
            Nullable,
            "container",
            &ValueShape::StrOr(&ValueShape::Object(&[
                field!(Nullable, "id", &ValueShape::Str),
                field!(Nullable, "skills", &ANYTHINGS)
            ])),
        )
    ),
    param!(
        Messages,
        field!(Nullable, "inference_geo", &ValueShape::Str)
    ),
    param!(
        Both,
        field!(Nullable, "speed", &ValueShape::OneOf(&["standard", "fast"]))
    ),
    param!(
        Messages,
        field!(
            Nullable,
            "diagnostics",
            &ValueShape::Object(&[field!(Nullable, "previous_message_id", &ValueShape::Str)])
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
        field!(
            Nullable,
            "fallbacks",
            &ValueShape::StrOr(&ANYTHINGS),
            FALLBACK
        )
    ),
    param!(
        Messages,
        field!(
            Nullable,
            "fallback_credit_token",
            &ValueShape::StrOr(&ValueShape::Dict),
            CREDIT
        )
    ),
    param!(
        Messages,
        field!(Optional, "user_profile_id", &ValueShape::Str, PROFILES)
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
) -> impl Iterator<Item = &'static FieldSpec> + use<'a> {
    PARAMS
        .iter()
        .filter(move |param| match param.place {
            ParamAvailability::Both => true,
            ParamAvailability::Messages => endpoint == Endpoint::Messages,
            ParamAvailability::Retired => {
                endpoint == Endpoint::Messages && version != super::NEWEST_VERSION
            }
        })
        .map(|param| &param.field)
        .filter(move |field| known(field.betas, betas))
}

/// The fields of a message of role system besides role and content.
pub(super) const SYSTEM_MESSAGE: &[FieldSpec] = &[
    field!(
        Nullable,
        "clear_at",
        &ValueShape::OneOf(&["next_user_message", "never"]),
        &["mid-conversation-system-clear-at-2026-08-21"]
    ),
    field!(
        Nullable,
        "output_config",
        &ValueShape::Object(&[field!(Nullable, "effort", &EFFORT)]),
        // Claude Code uses a beta of its own for the same field.
        &[
            "mid-conversation-output-config-2026-07-01",
            "per-turn-control-2026-07-01"
        ]
    ),
];
