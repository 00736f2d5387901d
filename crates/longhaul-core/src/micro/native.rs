//! Clearing by the provider itself (U7): `context_management` edits in the request, in the API's own terms. The whole
//! conversation is sent and the provider clears; its reply reports what it cleared.

use serde_json::{Value, json};

use super::ClearableTools;
use crate::window::{WindowScale, WindowStatus};

/// The beta that the edits need.
pub const BETA: &str = "context-management-2025-06-27";

/// The maximum number of input tokens before clearing begins.
const TRIGGER: u64 = 180_000;
/// The number of input tokens that should be left.
const LEFT: u64 = 40_000;
/// The number of newest tool uses that stay.
const KEPT: u64 = 3;

/// Tools whose input is as large as their result and just as easy to bring back, because the file holds it.
const WRITE_LIKE: [&str; 3] = ["Write", "Edit", "MultiEdit"];

/// Which thinking the provider keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeepThinking {
    /// The provider keeps all thinking: dropping any would cost the cache.
    All,
    /// The provider keeps only the last turn's thinking: after an idle hour the cache is gone anyway.
    LastTurn,
    /// The edit is left out because the model does not think in this request.
    NoEdit,
}

/// Returns the `context_management` of a request. `tools` are all tools of the request: those that may not be cleared
/// are excluded by name, since the API has no list of tools that may be cleared.
pub fn context_management<'a>(
    status: &WindowStatus,
    clearable: &ClearableTools,
    tools: impl IntoIterator<Item = &'a str>,
    thinking: KeepThinking,
) -> Value {
    let scale = status.scale();
    let trigger = trigger(status, scale);
    let at_least = trigger.saturating_sub(scale.apply(LEFT));
    let tools: Vec<&str> = tools.into_iter().collect();
    let excluded: Vec<&str> = tools
        .iter()
        .copied()
        .filter(|tool| !clearable.contains(tool))
        .collect();
    let write_like: Vec<&str> = tools
        .iter()
        .copied()
        .filter(|tool| WRITE_LIKE.contains(tool) && clearable.contains(tool))
        .collect();
    let mut edits = Vec::new();
    match thinking {
        KeepThinking::All => {
            edits.push(json!({"type": "clear_thinking_20251015", "keep": "all"}));
        }
        KeepThinking::LastTurn => edits.push(json!({
            "type": "clear_thinking_20251015",
            "keep": {"type": "thinking_turns", "value": 1},
        })),
        KeepThinking::NoEdit => {}
    }
    let mut clear = json!({
        "type": "clear_tool_uses_20250919",
        "trigger": {"type": "input_tokens", "value": trigger},
        "keep": {"type": "tool_uses", "value": KEPT},
        "clear_at_least": {"type": "input_tokens", "value": at_least},
    });
    if !excluded.is_empty() {
        clear["exclude_tools"] = json!(excluded);
    }
    if !write_like.is_empty() {
        clear["clear_tool_inputs"] = json!(write_like);
    }
    edits.push(clear);
    json!({"edits": edits})
}

/// Returns the number of input tokens from which the provider clears.
fn trigger(status: &WindowStatus, scale: WindowScale) -> u64 {
    scale.apply(TRIGGER).min(status.warning).max(1)
}

/// The clearing that a reply reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProviderClearing {
    /// The number of results that were cleared.
    pub tool_uses: u64,
    /// The number of turns whose thinking was cleared.
    pub thinking_turns: u64,
    /// The number of input tokens that were saved.
    pub input_tokens: u64,
}

impl ProviderClearing {
    /// Reads `context_management.applied_edits` of a reply. Other kinds of edits are ignored.
    pub fn read(applied_edits: &Value) -> Self {
        let count = |edit: &Value, name: &str| edit.get(name).and_then(Value::as_u64).unwrap_or(0);
        let edits = applied_edits.as_array().into_iter().flatten();
        edits.fold(Self::default(), |sum, edit| Self {
            tool_uses: sum.tool_uses + count(edit, "cleared_tool_uses"),
            thinking_turns: sum.thinking_turns + count(edit, "cleared_thinking_turns"),
            input_tokens: sum.input_tokens + count(edit, "cleared_input_tokens"),
        })
    }
}
