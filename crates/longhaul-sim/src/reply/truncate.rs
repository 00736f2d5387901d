//! Where a draft ends: at a stop sequence, at `max_tokens`, at the end of the window, or by itself.

use serde_json::{Map, Value};

use crate::model::{DraftBlock, DraftStop, ReplyDraft};
use crate::tokens::{CLOSING, TokenCounter, TokenizerFamily};

/// `stop_reason`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SimStopReason {
    /// `end_turn`.
    EndTurn,
    /// `tool_use`.
    ToolUse,
    /// `max_tokens`.
    MaxTokens,
    /// `stop_sequence`, with the sequence.
    StopSequence(String),
    /// `refusal`.
    Refusal,
    /// `model_context_window_exceeded`.
    WindowExceeded,
    /// `compaction`.
    Compaction,
    /// `pause_turn`: the server stopped between two calls of its own tools.
    PauseTurn,
}

impl SimStopReason {
    /// The name that the API uses.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::EndTurn => "end_turn",
            Self::ToolUse => "tool_use",
            Self::MaxTokens => "max_tokens",
            Self::StopSequence(_) => "stop_sequence",
            Self::Refusal => "refusal",
            Self::WindowExceeded => "model_context_window_exceeded",
            Self::Compaction => "compaction",
            Self::PauseTurn => "pause_turn",
        }
    }
}

/// The external limits of a reply.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReplyLimits {
    /// `max_tokens`.
    pub max_tokens: u64,
    /// The number of tokens left in the window.
    pub window: u64,
    /// `stop_sequences`.
    pub stop_sequences: Vec<String>,
}

/// A draft that ends within its limits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TruncatedDraft {
    /// The remaining content.
    pub content: Vec<DraftBlock>,
    /// Why the reply ends.
    pub stop: SimStopReason,
    /// The tokens of the whole reply.
    pub output_tokens: u64,
    /// The tokens of thinking.
    pub thinking_tokens: u64,
}

/// Truncates a draft to its limits.
pub(crate) fn cut(
    draft: ReplyDraft,
    limits: &ReplyLimits,
    counter: &TokenCounter,
    family: TokenizerFamily,
) -> TruncatedDraft {
    let room = limits.max_tokens.min(limits.window);
    let mut done = TruncatedDraft {
        content: Vec::new(),
        stop: SimStopReason::EndTurn,
        output_tokens: 0,
        thinking_tokens: 0,
    };
    let (calls, drafted) = (calls(&draft), draft.stop);
    for block in draft.content {
        let (block, stopped) = stop_at_sequence(block, &limits.stop_sequences);
        let tokens = tokens(&block, counter, family);
        let left = room.saturating_sub(done.output_tokens);
        let whole = tokens <= left;
        let thinks = matches!(block, DraftBlock::Thinking(_));
        let kept = if whole {
            Some(block)
        } else {
            shortened(block, left, tokens)
        };
        let counted = tokens.min(left);
        done.output_tokens += counted;
        done.thinking_tokens += if thinks { counted } else { 0 };
        done.content.extend(kept);
        if !whole {
            done.stop = if limits.window < limits.max_tokens {
                SimStopReason::WindowExceeded
            } else {
                SimStopReason::MaxTokens
            };
            return done;
        }
        if let Some(sequence) = stopped {
            done.stop = SimStopReason::StopSequence(sequence);
            return done;
        }
    }
    done.output_tokens = (done.output_tokens + CLOSING).min(room);
    done.stop = match (drafted, calls) {
        (DraftStop::Refusal, _) => SimStopReason::Refusal,
        (DraftStop::CutOff, _) => SimStopReason::MaxTokens,
        (DraftStop::Natural, CallPresence::Some) => SimStopReason::ToolUse,
        (DraftStop::Natural, CallPresence::None) => SimStopReason::EndTurn,
    };
    done
}

enum CallPresence {
    Some,
    None,
}

fn calls(draft: &ReplyDraft) -> CallPresence {
    let is_call = |block: &DraftBlock| matches!(block, DraftBlock::ToolUse { .. });
    if draft.content.iter().any(is_call) {
        CallPresence::Some
    } else {
        CallPresence::None
    }
}

fn tokens(block: &DraftBlock, counter: &TokenCounter, family: TokenizerFamily) -> u64 {
    match block {
        DraftBlock::Thinking(text) | DraftBlock::Text(text) | DraftBlock::Cited { text, .. } => {
            counter.text(text, family)
        }
        // What the server writes is not the model's output.
        DraftBlock::Server(_) => 0,
        DraftBlock::ToolUse { name, input } => counter.call(name, input, family),
    }
}

fn stop_at_sequence(block: DraftBlock, sequences: &[String]) -> (DraftBlock, Option<String>) {
    let DraftBlock::Text(mut text) = block else {
        return (block, None);
    };
    let found = sequences
        .iter()
        .filter_map(|sequence| Some((text.find(sequence.as_str())?, sequence)))
        .min();
    let Some((at, sequence)) = found else {
        return (DraftBlock::Text(text), None);
    };
    text.truncate(at);
    (DraftBlock::Text(text), Some(sequence.clone()))
}

/// The part of a block that fits; a call that does not fit is left without its input.
fn shortened(block: DraftBlock, left: u64, tokens: u64) -> Option<DraftBlock> {
    let part = |text: String| {
        let bytes = text.len() as u64 * left / tokens.max(1);
        let end = (0..=bytes as usize)
            .rev()
            .find(|&end| text.is_char_boundary(end))?;
        text.get(..end)
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
    };
    match block {
        DraftBlock::Thinking(text) => part(text).map(DraftBlock::Thinking),
        DraftBlock::Text(text) => part(text).map(DraftBlock::Text),
        DraftBlock::Cited { text, citations } => {
            part(text).map(|text| DraftBlock::Cited { text, citations })
        }
        DraftBlock::Server(block) => Some(DraftBlock::Server(block)),
        DraftBlock::ToolUse { name, .. } => (left > 0).then(|| DraftBlock::ToolUse {
            name,
            input: Value::Object(Map::new()),
        }),
    }
}
