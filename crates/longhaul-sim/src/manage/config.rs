//! Reads `context_management`. Shapes and order were checked before; the defaults are defined here.

use serde_json::{Value, json};

use crate::call::ApiError;
use crate::request::MessagesRequest;

const CLEAR_TOOL_USES: &str = "clear_tool_uses_20250919";
const CLEAR_THINKING: &str = "clear_thinking_20251015";
const COMPACT: &str = "compact_20260112";

/// The default trigger for clearing tool results, in tokens.
const CLEAR_TRIGGER: u64 = 100_000;
/// The default number of tool uses to keep.
const KEPT_TOOL_USES: usize = 3;
/// The default trigger for compaction, and the minimum trigger.
const COMPACT_TRIGGER: u64 = 150_000;
const LEAST_COMPACT_TRIGGER: u64 = 50_000;

/// All context edits of a request.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct ContextManagement {
    /// Whether the request has a `context_management`, so that the reply has one too.
    pub asked: bool,
    /// The clearing edits, in order.
    pub clear: Vec<ClearingEdit>,
    /// The compaction by threshold, if requested.
    pub compact: Option<ThresholdCompaction>,
}

/// One clearing edit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ClearingEdit {
    /// `clear_thinking_20251015`.
    Thinking(ClearThinking),
    /// `clear_tool_uses_20250919`.
    ToolUses(ClearToolUses),
}

/// Which thinking to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClearThinking {
    /// The number of newest turns to keep; `None` means the model's own default.
    pub keep: Option<KeepTurns>,
}

/// The field `keep` of [`ClearThinking`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeepTurns {
    /// Keep all turns.
    All,
    /// Keep this many of the newest turns.
    Newest(usize),
}

/// Which tool results to clear, and when.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClearToolUses {
    /// When clearing begins.
    pub trigger: ClearingTrigger,
    /// The number of newest tool uses to keep.
    pub keep: usize,
    /// The minimum number of tokens to clear; otherwise nothing is cleared.
    pub at_least: u64,
    /// The tools whose results are kept.
    pub exclude: Vec<String>,
    /// Whose inputs are cleared too.
    pub inputs: ClearedInputs,
}

/// When clearing begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClearingTrigger {
    /// It begins above this many tokens.
    InputTokens(u64),
    /// It begins above this many tool uses.
    ToolUses(usize),
}

/// Which inputs are cleared with their results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ClearedInputs {
    /// No inputs are cleared.
    Kept,
    /// All inputs are cleared.
    Cleared,
    /// The inputs of these tools are cleared.
    Of(Vec<String>),
}

/// Compaction by threshold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ThresholdCompaction {
    /// Compaction begins above this many tokens.
    pub trigger: u64,
    /// Whether the reply ends with the summary.
    pub pause: bool,
    /// The instructions that replace the default ones.
    pub instructions: Option<String>,
}

impl ClearingEdit {
    /// The minimum number of tokens to clear; otherwise nothing is cleared.
    pub(super) fn at_least(&self) -> u64 {
        match self {
            Self::Thinking(_) => 0,
            Self::ToolUses(edit) => edit.at_least,
        }
    }

    /// The entry in `applied_edits`.
    pub(super) fn report(&self, count: usize, tokens: u64) -> Value {
        match self {
            Self::Thinking(_) => json!({
                "type": CLEAR_THINKING,
                "cleared_thinking_turns": count,
                "cleared_input_tokens": tokens,
            }),
            Self::ToolUses(_) => json!({
                "type": CLEAR_TOOL_USES,
                "cleared_tool_uses": count,
                "cleared_input_tokens": tokens,
            }),
        }
    }
}

impl ContextManagement {
    /// Reads the context edits of a request.
    pub(crate) fn of(request: &MessagesRequest) -> Result<Self, ApiError> {
        let asked = request.fields.get("context_management");
        let Some(asked) = asked.filter(|asked| !asked.is_null()) else {
            return Ok(Self::default());
        };
        let mut config = Self {
            asked: true,
            ..Self::default()
        };
        let edits = asked.get("edits").and_then(Value::as_array);
        for (index, edit) in edits.into_iter().flatten().enumerate() {
            let name = edit.get("type").and_then(Value::as_str).unwrap_or_default();
            match name {
                CLEAR_THINKING => config
                    .clear
                    .push(ClearingEdit::Thinking(clear_thinking(edit))),
                CLEAR_TOOL_USES => config
                    .clear
                    .push(ClearingEdit::ToolUses(clear_tool_uses(edit))),
                COMPACT => config.compact = Some(compact(edit, index)?),
                _ => {}
            }
        }
        Ok(config)
    }
}

fn clear_thinking(edit: &Value) -> ClearThinking {
    let keep = edit.get("keep");
    let all = |keep: &Value| keep == "all" || keep.get("type").is_some_and(|kind| kind == "all");
    ClearThinking {
        keep: keep.filter(|keep| !keep.is_null()).map(|keep| {
            if all(keep) {
                KeepTurns::All
            } else {
                KeepTurns::Newest(value(Some(keep)).unwrap_or(1) as usize)
            }
        }),
    }
}

fn clear_tool_uses(edit: &Value) -> ClearToolUses {
    let names = |value: &Value| {
        let items = value.as_array().into_iter().flatten();
        items
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let trigger = edit.get("trigger");
    let by_uses = trigger.is_some_and(|trigger| trigger["type"] == "tool_uses");
    ClearToolUses {
        trigger: match (value(trigger), by_uses) {
            (Some(uses), true) => ClearingTrigger::ToolUses(uses as usize),
            (tokens, _) => ClearingTrigger::InputTokens(tokens.unwrap_or(CLEAR_TRIGGER)),
        },
        keep: value(edit.get("keep")).map_or(KEPT_TOOL_USES, |kept| kept as usize),
        at_least: value(edit.get("clear_at_least")).unwrap_or_default(),
        exclude: edit.get("exclude_tools").map(names).unwrap_or_default(),
        inputs: match edit.get("clear_tool_inputs") {
            Some(Value::Bool(true)) => ClearedInputs::Cleared,
            Some(list @ Value::Array(_)) => ClearedInputs::Of(names(list)),
            _ => ClearedInputs::Kept,
        },
    }
}

fn compact(edit: &Value, index: usize) -> Result<ThresholdCompaction, ApiError> {
    let trigger = value(edit.get("trigger")).unwrap_or(COMPACT_TRIGGER);
    if trigger < LEAST_COMPACT_TRIGGER {
        return Err(ApiError::invalid(format!(
            "context_management.edits.{index}.trigger.value: Input should be greater than or equal to {LEAST_COMPACT_TRIGGER}"
        )));
    }
    let pause = edit.get("pause_after_compaction").and_then(Value::as_bool);
    let instructions = edit.get("instructions").and_then(Value::as_str);
    Ok(ThresholdCompaction {
        trigger,
        pause: pause.unwrap_or_default(),
        instructions: instructions.map(str::to_owned),
    })
}

fn value(setting: Option<&Value>) -> Option<u64> {
    setting?.get("value")?.as_u64()
}
