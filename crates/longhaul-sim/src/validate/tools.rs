//! Checks tool definitions against each other, and the tool choice.

use std::collections::BTreeSet;

use serde_json::Value;

use super::generation::ModelGeneration;
use crate::call::ApiError;
use crate::request::{ApiTool, MessagesRequest};
use crate::server_tools::{is_domain, is_web_search};

/// Checks `tool_choice`.
pub(super) fn check_choice(
    request: &MessagesRequest,
    generation: ModelGeneration,
) -> Result<(), ApiError> {
    let choice = request.tag("tool_choice");
    match choice {
        Some("any" | "tool") if !generation.takes_forced_tools() => Err(ApiError::invalid(
            r#"tool_choice: type "tool" and "any" are not supported for this model."#,
        )),
        Some("any") if request.tools.is_empty() => Err(ApiError::invalid(
            "tool_choice.any may only be specified while providing tools",
        )),
        Some("tool") => {
            let name = request
                .param("tool_choice", "name")
                .and_then(Value::as_str)
                .unwrap_or_default();
            if request.tools.iter().any(|tool| tool.name == name) {
                Ok(())
            } else {
                Err(ApiError::invalid(format!(
                    "Tool '{name}' not found in provided tools"
                )))
            }
        }
        _ => Ok(()),
    }
}

/// Checks `tools`.
pub(super) fn check(request: &MessagesRequest) -> Result<(), ApiError> {
    for (index, tool) in request.tools.iter().enumerate() {
        if tool.deferred && tool.marker.is_some() {
            return Err(ApiError::invalid(format!(
                "Tool '{}' cannot have both defer_loading=true and cache_control set. Tools with defer_loading cannot use prompt caching.",
                tool.name
            )));
        }
        if is_open(tool) {
            return Err(ApiError::invalid(format!(
                "tools.{index}.custom: For 'object' type, 'additionalProperties' must be explicitly set to false"
            )));
        }
    }
    for (index, tool) in request.tools.iter().enumerate() {
        if is_web_search(tool) {
            check_domains(tool, index)?;
        }
    }
    let mut names = BTreeSet::new();
    if !request
        .tools
        .iter()
        .all(|tool| names.insert(tool.name.as_str()))
    {
        return Err(ApiError::invalid("tools: Tool names must be unique."));
    }
    if !request.tools.is_empty() && request.tools.iter().all(|tool| tool.deferred) {
        return Err(ApiError::invalid(
            "All tools have defer_loading set. At least one tool must be non-deferred.",
        ));
    }
    references(request, &names)
}

/// Whether a strict tool has a schema that allows additional properties, which is an error.
fn is_open(tool: &ApiTool) -> bool {
    let strict = tool.fields.get("strict") == Some(&Value::Bool(true));
    let schema = tool.fields.get("input_schema").filter(|_| strict);
    schema.is_some_and(|schema| schema.get("additionalProperties") != Some(&Value::Bool(false)))
}

/// Checks the domains of a web search: one list at most, which is not empty, of domains as the API writes them. Only the
/// message about an empty list is known from recordings.
fn check_domains(tool: &ApiTool, index: usize) -> Result<(), ApiError> {
    let place = format!("tools.{index}.{}", tool.kind.as_deref().unwrap_or_default());
    let lists = ["allowed_domains", "blocked_domains"]
        .map(|field| (field, tool.fields.get(field).and_then(Value::as_array)));
    if lists.iter().all(|(_, list)| list.is_some()) {
        return Err(ApiError::invalid(format!(
            "{place}: Only one of allowed_domains and blocked_domains may be specified."
        )));
    }
    for (field, list) in lists
        .iter()
        .filter_map(|(field, list)| Some((field, (*list)?)))
    {
        if list.is_empty() {
            return Err(ApiError::invalid(format!(
                "{place}.{field}: Empty list of domains is ambiguous. Provide at least one domain or null."
            )));
        }
        let bad = list.iter().filter_map(Value::as_str);
        if let Some(bad) = bad.into_iter().find(|domain| !is_domain(domain)) {
            return Err(ApiError::invalid(format!(
                "{place}.{field}: Invalid domain: {bad}"
            )));
        }
    }
    Ok(())
}

/// Checks that every tool that a result refers to is defined.
fn references(request: &MessagesRequest, names: &BTreeSet<&str>) -> Result<(), ApiError> {
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    let results = blocks.filter(|block| block.kind == "tool_result");
    let inner = results
        .filter_map(|block| block.fields.get("content")?.as_array())
        .flatten();
    let references = inner.filter_map(|block| block.get("tool_name")?.as_str());
    for name in references {
        if !names.contains(name) {
            return Err(ApiError::invalid(format!(
                "Tool reference '{name}' has no corresponding tool definition"
            )));
        }
    }
    Ok(())
}
