//! `clear_thinking_20251015`: removes the thinking of all but the newest turns.

use longhaul_core::models::{ModelSpec, PriorThinking};

use super::ClearingDecision;
use super::config::{ClearThinking, KeepTurns};
use crate::prompt::BlockChange;
use crate::request::{ApiBlock, ApiRole, MessagesRequest};

/// Decides what to remove. A turn is everything that the model says between two messages of the user, including tool
/// calls.
pub(super) fn decide(
    edit: &ClearThinking,
    request: &MessagesRequest,
    spec: &ModelSpec,
) -> ClearingDecision {
    let keep = edit.keep.unwrap_or(match spec.thinking.prior {
        PriorThinking::Keep => KeepTurns::All,
        PriorThinking::Strip => KeepTurns::Newest(1),
    });
    let KeepTurns::Newest(kept) = keep else {
        return ClearingDecision::default();
    };
    let mut turns: Vec<Vec<(usize, usize)>> = vec![Vec::new()];
    for (index, message) in request.messages.iter().enumerate() {
        if message.role == ApiRole::User && message.content.iter().any(|b| b.kind != "tool_result")
        {
            turns.push(Vec::new());
        }
        let thinking = message
            .content
            .iter()
            .enumerate()
            .filter(|(_, b)| thinks(b));
        if let Some(turn) = turns.last_mut() {
            turn.extend(thinking.map(|(at, _)| (index, at)));
        }
    }
    turns.retain(|turn| !turn.is_empty());
    turns.truncate(turns.len().saturating_sub(kept));
    let mut decided = ClearingDecision {
        count: turns.len(),
        ..ClearingDecision::default()
    };
    let gone = turns
        .into_iter()
        .flatten()
        .map(|at| (at, BlockChange::Remove));
    decided.changes.0.extend(gone);
    decided
}

fn thinks(block: &ApiBlock) -> bool {
    matches!(block.kind.as_str(), "thinking" | "redacted_thinking")
}
