//! Where a draft ends: at a stop sequence, at `max_tokens`, at the end of the window, or by itself.

use serde_json::{Map, Value};

use crate::model::{Draft, DraftBlock, Stop};
use crate::tokens::{CLOSING, Counter, Family};

/// `stop_reason`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// `end_turn`.
    EndTurn,
    /// `tool_use`.
    ToolUse,
    /// `max_tokens`.
    MaxTokens,
    /// `stop_sequence`, and which.
    StopSequence(String),
    /// `refusal`.
    Refusal,
    /// `model_context_window_exceeded`.
    WindowExceeded,
    /// `compaction`.
    Compaction,
}

impl StopReason {
    /// As the API writes it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::EndTurn => "end_turn",
            Self::ToolUse => "tool_use",
            Self::MaxTokens => "max_tokens",
            Self::StopSequence(_) => "stop_sequence",
            Self::Refusal => "refusal",
            Self::WindowExceeded => "model_context_window_exceeded",
            Self::Compaction => "compaction",
        }
    }
}

/// What ends a reply from outside.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// `max_tokens`.
    pub max_tokens: u64,
    /// Tokens left in the window.
    pub window: u64,
    /// `stop_sequences`.
    pub stop_sequences: Vec<String>,
}

/// A draft that ends where it must.
#[derive(Debug, Clone, PartialEq)]
pub struct Cut {
    /// What is left.
    pub content: Vec<DraftBlock>,
    /// Why it ends.
    pub stop: StopReason,
    /// Tokens of it all.
    pub output_tokens: u64,
    /// Those of thinking.
    pub thinking_tokens: u64,
}

/// Ends a draft.
pub fn cut(draft: Draft, limits: &Limits, counter: &Counter, family: Family) -> Cut {
    let room = limits.max_tokens.min(limits.window);
    let mut done = Cut {
        content: Vec::new(),
        stop: StopReason::EndTurn,
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
            done.stop = match limits.window < limits.max_tokens {
                true => StopReason::WindowExceeded,
                false => StopReason::MaxTokens,
            };
            return done;
        }
        if let Some(sequence) = stopped {
            done.stop = StopReason::StopSequence(sequence);
            return done;
        }
    }
    done.output_tokens = (done.output_tokens + CLOSING).min(room);
    done.stop = match (drafted, calls) {
        (Stop::Refusal, _) => StopReason::Refusal,
        (Stop::CutOff, _) => StopReason::MaxTokens,
        (Stop::Natural, Calls::Some) => StopReason::ToolUse,
        (Stop::Natural, Calls::None) => StopReason::EndTurn,
    };
    done
}

enum Calls {
    Some,
    None,
}

fn calls(draft: &Draft) -> Calls {
    let is_call = |block: &DraftBlock| matches!(block, DraftBlock::ToolUse { .. });
    match draft.content.iter().any(is_call) {
        true => Calls::Some,
        false => Calls::None,
    }
}

fn tokens(block: &DraftBlock, counter: &Counter, family: Family) -> u64 {
    match block {
        DraftBlock::Thinking(text) | DraftBlock::Text(text) => counter.text(text, family),
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

/// The part of a block that fits; a call that does not is left without its input.
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
        DraftBlock::ToolUse { name, .. } => (left > 0).then(|| DraftBlock::ToolUse {
            name,
            input: Value::Object(Map::new()),
        }),
    }
}
