//! What happens to thinking blocks that come back, and how a reply reports it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::prefix::ThinkingPrefix;
use crate::request::MessagesRequest;

/// Whether the account is one of those for which bound thinking is enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AccountAge {
    /// The account was created on or after 2026-08-31.
    #[default]
    New,
    /// The account is older: a mismatch is noted, and has an effect only if the request asks for it or the model always
    /// enforces it.
    Old,
}

/// What happened to a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkingChange {
    /// The model does not see it.
    Dropped,
    /// The model sees it although it does not match.
    MismatchAllowed,
}

/// Why a block does not match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkingMismatch {
    /// The content before it has changed.
    Prefix,
    /// The model cannot read the thinking of the model that made it.
    Model,
    /// It was made for another account.
    Organization,
}

/// An entry of a reply's `input_transformations`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputTransformation {
    /// The index of the message.
    pub message: usize,
    /// The index of the block in its content.
    pub block: usize,
    /// What happened to the block.
    pub change: ThinkingChange,
    /// The reason.
    pub reason: ThinkingMismatch,
}

impl InputTransformation {
    /// The entry as the API formats it.
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

/// The result of checking a request's thinking.
#[derive(Debug, Clone)]
pub struct CheckedThinking {
    /// The changes, for `input_transformations` if the caller sent the beta of the binding controls.
    pub transformations: Vec<InputTransformation>,
    /// The prefix that the reply's thinking is bound to.
    pub prefix: ThinkingPrefix,
}

/// The request without the dropped blocks, as the model sees it.
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
