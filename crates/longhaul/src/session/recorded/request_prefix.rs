//! The request prefix for a recording that has none: as little as a provider accepts.

use longhaul_core::message::{BlockKind, Entry};
use longhaul_core::models::ModelSpec;
use longhaul_core::prompt::{
    LatchedSettings, OnPrefixMismatch, ParameterError, RequestParameters, RequestPrefix,
    ThinkingChoice, order_tools,
};
use serde_json::json;
use serde_json::value::to_raw_value;

/// The most tokens of a reply; summaries have a limit of their own.
const MOST_OUTPUT: u64 = 16_000;

/// A request prefix for requests apart from the conversation: no system prompt, and tools with only their names, since
/// a provider requires a definition of every tool that the conversation calls.
pub(super) fn bare(view: &[Entry], spec: &ModelSpec) -> Result<RequestPrefix, ParameterError> {
    let body = RequestParameters {
        model: &spec.id,
        spec,
        max_tokens: MOST_OUTPUT.min(spec.max_output).max(1),
        think: ThinkingChoice::Default,
        on_mismatch: OnPrefixMismatch::Refuse,
        effort: None,
        more: Default::default(),
    }
    .to_body()?;
    let tools: Vec<_> = called(view)
        .iter()
        .map(|name| json!({"name": name, "input_schema": {"type": "object"}}))
        .collect();
    Ok(RequestPrefix {
        system: to_raw_value(&json!([]))?,
        tools: order_tools(None, &to_raw_value(&tools)?)?.json,
        user_context: None,
        latched: LatchedSettings::new(None, body.betas, spec, body.json),
    })
}

/// The names of the tools that a view calls, each once.
fn called(view: &[Entry]) -> Vec<String> {
    let calls = view.iter().map(Entry::view).flat_map(|view| {
        let blocks = view.facets.blocks.iter();
        let calls = blocks.filter(|block| block.kind == BlockKind::ToolUse);
        calls.map(move |block| view.text(block.name).into_owned())
    });
    let mut names: Vec<String> = calls.filter(|name| is_name(name)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Whether a provider accepts it as the name of a tool.
fn is_name(name: &str) -> bool {
    let taken = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (1..=128).contains(&name.len()) && name.chars().all(taken)
}
