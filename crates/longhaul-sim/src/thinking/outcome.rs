//! What becomes of thinking blocks that come back, and how a reply tells it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::prefix::ThinkingPrefix;
use crate::request::MessagesRequest;

/// Whether the account is one of those for which bound thinking is enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AccountAge {
    /// Made since 2026-08-31.
    #[default]
    New,
    /// Made before: a mismatch is noted, and acted upon only if the request says how or the model always does.
    Old,
}

/// What became of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkingChange {
    /// The model does not see it.
    Dropped,
    /// The model sees it though it does not match.
    MismatchAllowed,
}

/// Why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkingMismatch {
    /// What stood before it does no longer.
    Prefix,
    /// The model cannot read the other model's thinking.
    Model,
    /// It was made for another account.
    Organization,
}

/// An entry of a reply's `input_transformations`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputTransformation {
    /// The message.
    pub message: usize,
    /// The block in its content.
    pub block: usize,
    /// What became of it.
    pub change: ThinkingChange,
    /// Why.
    pub reason: ThinkingMismatch,
}

impl InputTransformation {
    /// As the API writes it.
    pub fn to_json(&self) -> Value {
        json!({
            "type": match self.change {
                ThinkingChange::Dropped => "thinking_dropped",
                ThinkingChange::MismatchAllowed => "thinking_mismatch_allowed",
            },
            "path": format!("messages.{}.content.{}", self.message, self.block),
            "reason": match self.reason {
                ThinkingMismatch::Prefix => "prefix_binding_mismatch",
                ThinkingMismatch::Model => "model_binding_mismatch",
                ThinkingMismatch::Organization => "organization_binding_mismatch",
            },
        })
    }
}

/// A request whose thinking was checked.
#[derive(Debug, Clone)]
pub struct CheckedThinking {
    /// What was done to it, for `input_transformations` if the caller sent the beta of the binding controls.
    pub transformations: Vec<InputTransformation>,
    /// What the reply's thinking is bound to.
    pub prefix: ThinkingPrefix,
}

/// The request without the blocks that were dropped: what the model sees.
pub fn without(
    request: &MessagesRequest,
    transformations: &[InputTransformation],
) -> MessagesRequest {
    let dropped = transformations
        .iter()
        .filter(|t| t.change == ThinkingChange::Dropped);
    let dropped: BTreeSet<(usize, usize)> = dropped.map(|t| (t.message, t.block)).collect();
    let mut request = request.clone();
    for (message, said) in request.messages.iter_mut().enumerate() {
        let mut index = 0;
        said.content.retain(|_| {
            index += 1;
            !dropped.contains(&(message, index - 1))
        });
    }
    request
}
