//! The content blocks that the API takes (API-FACTS 3.3), as data: who may say them, the beta each needs, its fields.
//!
//! Tool calls and results are not here: they depend on each other (`call.rs`, `result.rs`). A type that is not here,
//! or not for this role or these betas, becomes text.

use super::shape::{Field, Shape, nullable, optional, required};
use crate::normalize::Role;

/// A type of content block.
#[derive(Debug)]
pub(super) struct Kind {
    /// Its `type`.
    pub(super) name: &'static str,
    /// Who may say it.
    pub(super) roles: &'static [Role],
    /// Any of these betas makes it known; none needed if empty.
    pub(super) betas: &'static [&'static str],
    /// Its fields beside `type`, `cache_control` left out: markers are placed when a request is put together.
    pub(super) fields: &'static [Field],
    /// What it is to the blocks around it.
    pub(super) bond: Bond,
    /// Whether a cache marker may stand on it.
    pub(super) markable: bool,
}

/// What a block is to the blocks around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bond {
    /// Nothing.
    None,
    /// A call that the provider answers.
    ServerCall,
    /// Its answer.
    ServerResult,
    /// A call that an MCP server answers.
    McpCall,
    /// Its answer.
    McpResult,
    /// A summary by the provider.
    Summary,
}

const USER: &[Role] = &[Role::User];
const ASSISTANT: &[Role] = &[Role::Assistant];
const EITHER: &[Role] = &[Role::User, Role::Assistant];

const ADVISOR: &[&str] = &["advisor-tool-2026-03-01"];
const COMPACTION: &[&str] = &["compact-2026-01-12", ON_DEMAND];
const FALLBACK: &[&str] = &[
    "server-side-fallback-2026-06-01",
    "server-side-fallback-2026-07-01",
];
const MCP: &[&str] = &[
    "mcp-client-2025-04-04",
    "mcp-client-2025-11-20",
    "mcp-client-2026-09-15",
];
/// The beta of summaries that are signed.
pub(super) const ON_DEMAND: &str = "compact-2026-09-04";

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

fn is_server_id(id: &str) -> bool {
    let rest = id.strip_prefix("srvtoolu_").unwrap_or_default();
    !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Whether the API takes this as the id of a call.
pub(super) fn is_id(id: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    !id.is_empty() && id.bytes().all(is_plain)
}

const SERVER_CALL: &[Field] = &[
    required("id", &Shape::Made(is_server_id)),
    required("name", &Shape::Filled),
    required("input", &Shape::Object),
    nullable("caller", &Shape::Object),
];
const SERVER_RESULT: &[Field] = &[
    required("tool_use_id", &Shape::Made(is_server_id)),
    required("content", &Shape::Any),
    nullable("caller", &Shape::Object),
];

const fn plain(
    name: &'static str,
    roles: &'static [Role],
    betas: &'static [&'static str],
    fields: &'static [Field],
) -> Kind {
    Kind {
        name,
        roles,
        betas,
        fields,
        bond: Bond::None,
        markable: true,
    }
}

const fn bound(kind: Kind, bond: Bond) -> Kind {
    Kind { bond, ..kind }
}

const fn unmarkable(kind: Kind) -> Kind {
    Kind {
        markable: false,
        ..kind
    }
}

const fn server_result(name: &'static str, betas: &'static [&'static str]) -> Kind {
    bound(
        plain(name, ASSISTANT, betas, SERVER_RESULT),
        Bond::ServerResult,
    )
}

const KINDS: &[Kind] = &[
    plain("image", USER, &[], IMAGE),
    plain("document", USER, &[], DOCUMENT),
    plain("search_result", USER, &[], SEARCH_RESULT),
    plain(
        "container_upload",
        EITHER,
        &[],
        &[required("file_id", &Shape::Filled)],
    ),
    bound(
        plain("server_tool_use", ASSISTANT, &[], SERVER_CALL),
        Bond::ServerCall,
    ),
    server_result("web_search_tool_result", &[]),
    server_result("web_fetch_tool_result", &[]),
    server_result("code_execution_tool_result", &[]),
    server_result("bash_code_execution_tool_result", &[]),
    server_result("text_editor_code_execution_tool_result", &[]),
    server_result("tool_search_tool_result", &[]),
    server_result("advisor_tool_result", ADVISOR),
    bound(
        plain(
            "mcp_tool_use",
            ASSISTANT,
            MCP,
            &[
                required("id", &Shape::Made(is_id)),
                required("name", &Shape::Filled),
                required("input", &Shape::Object),
                required("server_name", &Shape::Filled),
            ],
        ),
        Bond::McpCall,
    ),
    bound(
        plain(
            "mcp_tool_result",
            ASSISTANT,
            MCP,
            &[
                required("tool_use_id", &Shape::Made(is_id)),
                optional(
                    "content",
                    &Shape::FilledOr(&Shape::List(&Shape::Tagged(&[("text", USER_TEXT)]))),
                ),
                optional("is_error", &Shape::Bool),
            ],
        ),
        Bond::McpResult,
    ),
    unmarkable(plain(
        "mcp_tool_listing",
        ASSISTANT,
        MCP,
        &[
            required("mcp_server_name", &Shape::Filled),
            required("tools", &Shape::List(&Shape::Any)),
        ],
    )),
    bound(
        plain(
            "compaction",
            ASSISTANT,
            COMPACTION,
            &[
                nullable("content", &Shape::Filled),
                nullable("encrypted_content", &Shape::Text),
                nullable("signature", &Shape::Filled),
                nullable("tool_changes", &Shape::List(&Shape::Any)),
            ],
        ),
        Bond::Summary,
    ),
    unmarkable(plain(
        "fallback",
        ASSISTANT,
        FALLBACK,
        &[
            required("to", &Shape::Object),
            optional("from", &Shape::Object),
            optional("trigger", &Shape::Any),
        ],
    )),
];

/// The type with this name.
pub(super) fn find(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}
