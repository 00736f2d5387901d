//! The content blocks that the API accepts (API-FACTS 3.3), as data: the roles that may use each, the beta it needs,
//! its fields.
//!
//! Tool calls and results are not here because they depend on each other (`call.rs`, `result.rs`). A type that is not
//! here, or is not allowed for this role or these betas, becomes text.

use super::content::{DOCUMENT, IMAGE, SEARCH_RESULT, USER_TEXT};
use super::shape::{BlockFieldSpec, FieldShape, nullable, optional, required};
use crate::normalize::MessageRole;

/// A type of content block.
#[derive(Debug)]
pub(super) struct BlockTypeSpec {
    /// The `type` of the block.
    pub(super) name: &'static str,
    /// The roles that may use the block.
    pub(super) roles: &'static [MessageRole],
    /// The betas of which one must be requested; empty if none is needed.
    pub(super) betas: &'static [&'static str],
    /// The fields beside `type`. `cache_control` is not among them: cache breakpoints are placed when a request is
    /// assembled.
    pub(super) fields: &'static [BlockFieldSpec],
    /// The block's relation to the blocks around it.
    pub(super) bond: BlockBond,
    /// Whether the block may have a cache breakpoint.
    pub(super) markable: bool,
}

/// A block's relation to the blocks around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockBond {
    /// No relation.
    None,
    /// A call that the provider answers.
    ServerCall,
    /// The provider's answer to such a call.
    ServerResult,
    /// A call that an MCP server answers.
    McpCall,
    /// The MCP server's answer to such a call.
    McpResult,
    /// A summary by the provider.
    Summary,
}

const USER: &[MessageRole] = &[MessageRole::User];
const ASSISTANT: &[MessageRole] = &[MessageRole::Assistant];
const EITHER: &[MessageRole] = &[MessageRole::User, MessageRole::Assistant];

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
/// The beta for signed summaries.
pub(super) const ON_DEMAND: &str = "compact-2026-09-04";

fn is_server_id(id: &str) -> bool {
    let rest = id.strip_prefix("srvtoolu_").unwrap_or_default();
    !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Whether the API accepts this as the id of a call.
pub(super) fn is_id(id: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    !id.is_empty() && id.bytes().all(is_plain)
}

const SERVER_CALL: &[BlockFieldSpec] = &[
    required("id", &FieldShape::Made(is_server_id)),
    required("name", &FieldShape::Filled),
    required("input", &FieldShape::Object),
    nullable("caller", &FieldShape::Object),
];
const SERVER_RESULT: &[BlockFieldSpec] = &[
    required("tool_use_id", &FieldShape::Made(is_server_id)),
    required("content", &FieldShape::Any),
    nullable("caller", &FieldShape::Object),
];

const fn plain(
    name: &'static str,
    roles: &'static [MessageRole],
    betas: &'static [&'static str],
    fields: &'static [BlockFieldSpec],
) -> BlockTypeSpec {
    BlockTypeSpec {
        name,
        roles,
        betas,
        fields,
        bond: BlockBond::None,
        markable: true,
    }
}

const fn bound(kind: BlockTypeSpec, bond: BlockBond) -> BlockTypeSpec {
    BlockTypeSpec { bond, ..kind }
}

const fn unmarkable(kind: BlockTypeSpec) -> BlockTypeSpec {
    BlockTypeSpec {
        markable: false,
        ..kind
    }
}

const fn server_result(name: &'static str, betas: &'static [&'static str]) -> BlockTypeSpec {
    bound(
        plain(name, ASSISTANT, betas, SERVER_RESULT),
        BlockBond::ServerResult,
    )
}

const KINDS: &[BlockTypeSpec] = &[
    plain("image", USER, &[], IMAGE),
    plain("document", USER, &[], DOCUMENT),
    plain("search_result", USER, &[], SEARCH_RESULT),
    plain(
        "container_upload",
        EITHER,
        &[],
        &[required("file_id", &FieldShape::Filled)],
    ),
    bound(
        plain("server_tool_use", ASSISTANT, &[], SERVER_CALL),
        BlockBond::ServerCall,
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
                required("id", &FieldShape::Made(is_id)),
                required("name", &FieldShape::Filled),
                required("input", &FieldShape::Object),
                required("server_name", &FieldShape::Filled),
            ],
        ),
        BlockBond::McpCall,
    ),
    bound(
        plain(
            "mcp_tool_result",
            ASSISTANT,
            MCP,
            &[
                required("tool_use_id", &FieldShape::Made(is_id)),
                optional(
                    "content",
                    &FieldShape::FilledOr(&FieldShape::List(&FieldShape::Tagged(&[(
                        "text", USER_TEXT,
                    )]))),
                ),
                optional("is_error", &FieldShape::Bool),
            ],
        ),
        BlockBond::McpResult,
    ),
    unmarkable(plain(
        "mcp_tool_listing",
        ASSISTANT,
        MCP,
        &[
            required("mcp_server_name", &FieldShape::Filled),
            required("tools", &FieldShape::List(&FieldShape::Any)),
        ],
    )),
    bound(
        plain(
            "compaction",
            ASSISTANT,
            COMPACTION,
            &[
                nullable("content", &FieldShape::Filled),
                nullable("encrypted_content", &FieldShape::Text),
                nullable("signature", &FieldShape::Filled),
                nullable("tool_changes", &FieldShape::List(&FieldShape::Any)),
            ],
        ),
        BlockBond::Summary,
    ),
    unmarkable(plain(
        "fallback",
        ASSISTANT,
        FALLBACK,
        &[
            required("to", &FieldShape::Object),
            optional("from", &FieldShape::Object),
            optional("trigger", &FieldShape::Any),
        ],
    )),
];

/// Returns the type with this name.
pub(super) fn find(name: &str) -> Option<&'static BlockTypeSpec> {
    KINDS.iter().find(|kind| kind.name == name)
}
