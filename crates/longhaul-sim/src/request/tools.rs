//! The tool definitions that the API knows, with their fields.

use serde_json::Value;

use super::blocks::is_id;
use super::content::{ANYTHINGS, CACHE_CONTROL};
use super::options::STRINGS;
use super::path::FieldPath;
use super::shape::{Betas, FieldSpec, ValueShape, check_fields, field, known};
use crate::call::ApiError;

fn is_name(text: &str) -> bool {
    text.len() <= 128 && is_id(text)
}

const NAME: ValueShape = ValueShape::Pattern(is_name, "^[a-zA-Z0-9_-]{1,128}$");
/// A schema is the client's own, except for its type.
const SCHEMA: ValueShape = ValueShape::Dict;

/// A client's own tool.
const CUSTOM: &[FieldSpec] = &[
    field!(Nullable, "type", &ValueShape::OneOf(&["custom"])),
    field!(Required, "name", &NAME),
    field!(Required, "input_schema", &SCHEMA),
    field!(Optional, "description", &ValueShape::Str),
    field!(Optional, "allowed_callers", &STRINGS),
    field!(Nullable, "cache_control", &CACHE_CONTROL),
    field!(Optional, "defer_loading", &ValueShape::Bool),
    field!(Nullable, "eager_input_streaming", &ValueShape::Bool),
    field!(Optional, "input_examples", &ANYTHINGS),
    field!(Optional, "strict", &ValueShape::Bool),
];

/// A tool defined by the API. The options of any such tool are accepted on each of them.
const DEFINED: &[FieldSpec] = &[
    field!(Required, "type", &ValueShape::Str),
    field!(Required, "name", &ValueShape::Str),
    field!(Optional, "allowed_callers", &STRINGS),
    field!(Nullable, "allowed_domains", &STRINGS),
    field!(Nullable, "blocked_domains", &STRINGS),
    field!(Nullable, "cache_control", &CACHE_CONTROL),
    field!(Nullable, "caching", &CACHE_CONTROL),
    field!(Nullable, "citations", &ValueShape::Dict),
    field!(Optional, "defer_loading", &ValueShape::Bool),
    field!(Optional, "display_height_px", &ValueShape::Int(1)),
    field!(Optional, "display_width_px", &ValueShape::Int(1)),
    field!(Nullable, "display_number", &ValueShape::Int(0)),
    field!(Optional, "enable_zoom", &ValueShape::Bool),
    field!(Optional, "input_examples", &ANYTHINGS),
    field!(Nullable, "max_characters", &ValueShape::Int(1)),
    field!(Nullable, "max_content_tokens", &ValueShape::Int(1)),
    field!(Nullable, "max_tokens", &ValueShape::Int(1)),
    field!(Nullable, "max_uses", &ValueShape::Int(1)),
    field!(Optional, "model", &ValueShape::Str),
    field!(
        Optional,
        "response_inclusion",
        &ValueShape::OneOf(&["full", "excluded"])
    ),
    field!(Optional, "strict", &ValueShape::Bool),
    field!(Nullable, "url_sources", &ValueShape::Any),
    field!(Optional, "use_cache", &ValueShape::Bool),
    field!(Nullable, "user_location", &ValueShape::Dict),
];

/// The fields of the web search, with those that only some versions have.
macro_rules! web_search {
    ($($more:expr),*) => {
        &[
            field!(Required, "type", &ValueShape::Str),
            field!(Required, "name", &ValueShape::OneOf(&["web_search"])),
            field!(Optional, "allowed_callers", &STRINGS),
            field!(Nullable, "allowed_domains", &STRINGS),
            field!(Nullable, "blocked_domains", &STRINGS),
            field!(Nullable, "cache_control", &CACHE_CONTROL),
            field!(Optional, "defer_loading", &ValueShape::Bool),
            field!(Nullable, "max_uses", &ValueShape::Int(1)),
            field!(Optional, "strict", &ValueShape::Bool),
            field!(Nullable, "user_location", &PLACE),
            $($more),*
        ]
    };
}

const WEB_SEARCH: &[FieldSpec] = web_search!();
/// The newest version may leave results out of the reply.
const NEWEST_WEB_SEARCH: &[FieldSpec] = web_search!(field!(
    Optional,
    "response_inclusion",
    &ValueShape::OneOf(&["full", "excluded"])
));

/// Where the user is.
const PLACE: ValueShape = ValueShape::Object(&[
    field!(Required, "type", &ValueShape::OneOf(&["approximate"])),
    field!(Nullable, "city", &ValueShape::Str),
    field!(Nullable, "country", &ValueShape::Str),
    field!(Nullable, "region", &ValueShape::Str),
    field!(Nullable, "timezone", &ValueShape::Str),
]);

/// A set of tools, without a name.
const TOOLSET: &[FieldSpec] = &[
    field!(Required, "type", &ValueShape::Str),
    field!(Optional, "mcp_server_name", &ValueShape::Str),
    field!(Nullable, "cache_control", &CACHE_CONTROL),
    field!(Nullable, "configs", &ValueShape::Dict),
    field!(Optional, "default_config", &ValueShape::Dict),
    field!(Nullable, "tools", &ANYTHINGS),
];

const NO_BETA: &[&str] = &[];
const MCP: &[&str] = &["mcp-client-2025-11-20", "mcp-client-2026-09-15"];

/// The kinds that the API defines, with the betas that make them known.
const KINDS: &[(&str, &[FieldSpec], &[&str])] = &[
    ("bash_20241022", DEFINED, &["computer-use-2024-10-22"]),
    ("bash_20250124", DEFINED, NO_BETA),
    (
        "text_editor_20241022",
        DEFINED,
        &["computer-use-2024-10-22"],
    ),
    ("text_editor_20250124", DEFINED, NO_BETA),
    ("text_editor_20250429", DEFINED, NO_BETA),
    ("text_editor_20250728", DEFINED, NO_BETA),
    ("computer_20241022", DEFINED, &["computer-use-2024-10-22"]),
    ("computer_20250124", DEFINED, &["computer-use-2025-01-24"]),
    ("computer_20251124", DEFINED, &["computer-use-2025-11-24"]),
    ("memory_20250818", DEFINED, NO_BETA),
    (
        "code_execution_20250522",
        DEFINED,
        &["code-execution-2025-05-22"],
    ),
    ("code_execution_20250825", DEFINED, NO_BETA),
    ("code_execution_20260120", DEFINED, NO_BETA),
    ("code_execution_20260521", DEFINED, NO_BETA),
    ("web_search_20250305", WEB_SEARCH, NO_BETA),
    ("web_search_20260209", WEB_SEARCH, NO_BETA),
    ("web_search_20260318", NEWEST_WEB_SEARCH, NO_BETA),
    ("web_fetch_20250910", DEFINED, NO_BETA),
    ("web_fetch_20260209", DEFINED, NO_BETA),
    ("web_fetch_20260309", DEFINED, NO_BETA),
    ("web_fetch_20260318", DEFINED, NO_BETA),
    ("tool_search_tool_regex", DEFINED, NO_BETA),
    ("tool_search_tool_regex_20251119", DEFINED, NO_BETA),
    ("tool_search_tool_bm25", DEFINED, NO_BETA),
    ("tool_search_tool_bm25_20251119", DEFINED, NO_BETA),
    ("advisor_20260301", DEFINED, &["advisor-tool-2026-03-01"]),
    ("browser_toolset_20260801", TOOLSET, NO_BETA),
    ("computer_toolset_20260801", TOOLSET, NO_BETA),
    ("mcp_toolset", TOOLSET, MCP),
];

/// Checks one definition.
pub(super) fn check(tool: &Value, at: &FieldPath<'_>, betas: &Betas) -> Result<(), ApiError> {
    let Some(object) = tool.as_object() else {
        return Err(at.error("Input should be an object"));
    };
    let kind = match object.get("type") {
        None | Some(Value::Null) => "custom",
        Some(Value::String(kind)) => kind.as_str(),
        Some(_) => return Err(at.name("type").error("Input should be a valid string")),
    };
    let at = at.name(kind);
    if kind != "custom" {
        let open = |needs: &[&str]| known(needs, betas);
        return match KINDS
            .iter()
            .find(|(name, _, needs)| *name == kind && open(needs))
        {
            Some((_, fields, _)) => check_fields(object, fields, None, &at, betas),
            None => Err(unknown_kind(kind, &at, betas)),
        };
    }
    check_fields(object, CUSTOM, None, &at, betas)?;
    let schema = at.name("input_schema");
    match object
        .get("input_schema")
        .and_then(|schema| schema.get("type"))
    {
        None => Err(schema.name("type").error("Field required")),
        Some(Value::String(kind)) if kind == "object" => Ok(()),
        Some(_) => Err(schema.name("type").error("Input should be 'object'")),
    }
}

fn unknown_kind(kind: &str, at: &FieldPath<'_>, betas: &Betas) -> ApiError {
    let mut tags = vec!["'custom'".to_owned()];
    let open = KINDS.iter().filter(|(_, _, needs)| known(needs, betas));
    tags.extend(open.map(|(name, ..)| format!("'{name}'")));
    let place = at.to_string();
    let place = place
        .strip_suffix(kind)
        .map_or(place.as_str(), |p| p.trim_end_matches('.'));
    ApiError::invalid(format!(
        "{place}: Input tag '{kind}' found using 'type' does not match any of the expected tags: {}",
        tags.join(", ")
    ))
}
