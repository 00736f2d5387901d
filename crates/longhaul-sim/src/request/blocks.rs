//! The content blocks that the API knows, with their fields. `validate/` checks which of them may be where.

use super::content::{
    ANYTHINGS, CACHE_CONTROL, DOCUMENT, IMAGE, SEARCH_RESULT, TEXT, TOOL_REFERENCE,
};
use super::shape::{FieldSpec, TaggedVariant, ValueShape, field, variant};

const COMPACT: &[&str] = &["compact-2026-01-12", "compact-2026-09-04"];
const MCP: &[&str] = &[
    "mcp-client-2025-04-04",
    "mcp-client-2025-11-20",
    "mcp-client-2026-09-15",
];
const ADVISOR: &[&str] = &["advisor-tool-2026-03-01"];
const TOOL_CHANGES: &[&str] = &[
    "mid-conversation-tool-changes-2026-07-01",
    "inline-tools-2026-09-15",
];
const FALLBACK: &[&str] = &[
    "server-side-fallback-2026-06-01",
    "server-side-fallback-2026-07-01",
];

/// The beta for an extension of this simulator.
const CACHE_EDITING: &[&str] = &[super::CACHE_EDITS_BETA];

/// A content block of a message.
pub(super) const BLOCK: ValueShape = ValueShape::Tagged(BLOCKS);

pub(super) fn is_id(text: &str) -> bool {
    text.bytes()
        .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

fn is_server_id(text: &str) -> bool {
    text.strip_prefix("srvtoolu_").is_some_and(|rest| {
        !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

const ID: ValueShape = ValueShape::Pattern(is_id, "^[a-zA-Z0-9_-]+$");
const SERVER_ID: ValueShape = ValueShape::Pattern(is_server_id, "^srvtoolu_[a-zA-Z0-9_]+$");
const TOOL_NAME: ValueShape = ValueShape::Short(200);

const TOOL_RESULT: &[FieldSpec] = &[
    field!(Required, "tool_use_id", &ID),
    field!(
        Optional,
        "content",
        &ValueShape::StrOr(&ValueShape::List(&ValueShape::Tagged(&[
            variant!("text", TEXT),
            variant!("image", IMAGE),
            variant!("search_result", SEARCH_RESULT),
            variant!("document", DOCUMENT),
            variant!("tool_reference", TOOL_REFERENCE),
            variant!("browser_state", BROWSER_STATE),
        ]))),
    ),
    field!(Nullable, "is_error", &ValueShape::Bool),
    field!(Nullable, "cache_control", &CACHE_CONTROL),
    field!(Nullable, "toolset_name", &ValueShape::Str),
    // The reference for an edit. It is accepted and means no more than the id does.
    field!(Optional, "cache_reference", &ID, CACHE_EDITING),
];

const TOOL_USE: &[FieldSpec] = &[
    field!(Required, "id", &ID),
    field!(Required, "name", &TOOL_NAME),
    field!(Required, "input", &ValueShape::Dict),
    field!(Nullable, "cache_control", &CACHE_CONTROL),
    field!(Nullable, "caller", &ValueShape::Dict),
    field!(Nullable, "toolset_name", &ValueShape::Str),
];

const SERVER_TOOL_USE: &[FieldSpec] = &[
    field!(Required, "id", &SERVER_ID),
    field!(Required, "name", &ValueShape::Str),
    field!(Required, "input", &ValueShape::Dict),
    field!(Nullable, "cache_control", &CACHE_CONTROL),
    field!(Nullable, "caller", &ValueShape::Dict),
];

/// The result of a server tool is checked only roughly, because it comes from the server itself.
const SERVER_RESULT: &[FieldSpec] = &[
    field!(Required, "tool_use_id", &SERVER_ID),
    field!(Required, "content", &ValueShape::Any),
    field!(Nullable, "cache_control", &CACHE_CONTROL),
    field!(Nullable, "caller", &ValueShape::Dict),
];

const BROWSER_STATE: &[FieldSpec] = &[
    field!(Required, "tabs", &ANYTHINGS),
    field!(Nullable, "cache_control", &CACHE_CONTROL),
    field!(Nullable, "state_changes", &ANYTHINGS),
];

const TOOL_CHANGE: &[FieldSpec] = &[
    field!(
        Required,
        "tool",
        &ValueShape::Tagged(&[
            variant!(
                "tool_reference",
                &[field!(Required, "name", &ValueShape::Str)]
            ),
            variant!(
                "mcp_tool_reference",
                &[
                    field!(Required, "name", &ValueShape::Str),
                    field!(Required, "server_name", &ValueShape::Str)
                ]
            ),
            variant!(
                "mcp_toolset_reference",
                &[field!(Required, "server_name", &ValueShape::Str)]
            ),
            variant!(
                "tool_definition",
                &[field!(Required, "definition", &ValueShape::Dict)],
                &["inline-tools-2026-09-15"]
            ),
        ]),
    ),
    field!(Nullable, "cache_control", &CACHE_CONTROL),
];

const COMPACTION: &[FieldSpec] = &[
    field!(Nullable, "content", &ValueShape::Str),
    field!(Nullable, "encrypted_content", &ValueShape::Str),
    field!(Nullable, "signature", &ValueShape::Str),
    field!(Nullable, "tool_changes", &ANYTHINGS),
    field!(Nullable, "cache_control", &CACHE_CONTROL),
];

const BLOCKS: &[TaggedVariant] = &[
    variant!("text", TEXT),
    variant!("image", IMAGE),
    variant!("document", DOCUMENT),
    variant!("search_result", SEARCH_RESULT),
    variant!(
        "thinking",
        &[
            field!(Required, "signature", &ValueShape::Str),
            field!(Required, "thinking", &ValueShape::Str)
        ]
    ),
    variant!(
        "redacted_thinking",
        &[field!(Required, "data", &ValueShape::Str)]
    ),
    variant!("tool_use", TOOL_USE),
    variant!("tool_result", TOOL_RESULT),
    variant!("server_tool_use", SERVER_TOOL_USE),
    variant!("web_search_tool_result", SERVER_RESULT),
    variant!("web_fetch_tool_result", SERVER_RESULT),
    variant!("code_execution_tool_result", SERVER_RESULT),
    variant!("bash_code_execution_tool_result", SERVER_RESULT),
    variant!("text_editor_code_execution_tool_result", SERVER_RESULT),
    variant!("tool_search_tool_result", SERVER_RESULT),
    variant!(
        "container_upload",
        &[
            field!(Required, "file_id", &ValueShape::Str),
            field!(Nullable, "cache_control", &CACHE_CONTROL)
        ]
    ),
    variant!("browser_state", BROWSER_STATE),
    variant!(
        "mcp_tool_use",
        &[
            field!(Required, "id", &ID),
            field!(Required, "name", &ValueShape::Str),
            field!(Required, "input", &ValueShape::Dict),
            field!(Required, "server_name", &ValueShape::Str),
            field!(Nullable, "cache_control", &CACHE_CONTROL),
        ],
        MCP,
    ),
    variant!(
        "mcp_tool_result",
        &[
            field!(Required, "tool_use_id", &ID),
            field!(
                Optional,
                "content",
                &ValueShape::StrOr(&ValueShape::List(&ValueShape::Tagged(&[variant!(
                    "text", TEXT
                )])))
            ),
            field!(Optional, "is_error", &ValueShape::Bool),
            field!(Nullable, "cache_control", &CACHE_CONTROL),
        ],
        MCP,
    ),
    variant!(
        "mcp_tool_listing",
        &[
            field!(Required, "mcp_server_name", &ValueShape::Str),
            field!(Required, "tools", &ANYTHINGS)
        ],
        MCP
    ),
    variant!("advisor_tool_result", SERVER_RESULT, ADVISOR),
    variant!("compaction", COMPACTION, COMPACT),
    variant!("tool_addition", TOOL_CHANGE, TOOL_CHANGES),
    variant!("tool_removal", TOOL_CHANGE, TOOL_CHANGES),
    variant!(
        "fallback",
        &[
            field!(Required, "to", &ValueShape::Dict),
            field!(Optional, "from", &ValueShape::Dict),
            field!(Optional, "trigger", &ValueShape::Any),
        ],
        FALLBACK,
    ),
];
