//! What becomes of thinking blocks that come back, and how a reply tells it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::prefix::Prefix;
use crate::request::Request;

/// Whether the account is one of those for which bound thinking is enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Account {
    /// Made since 2026-08-31.
    #[default]
    New,
    /// Made before: a mismatch is noted, and acted upon only if the request says how or the model always does.
    Old,
}

/// What became of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The model does not see it.
    Dropped,
    /// The model sees it though it does not match.
    MismatchAllowed,
}

/// Why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// What stood before it does no longer.
    Prefix,
    /// The model cannot read the other model's thinking.
    Model,
    /// It was made for another account.
    Organization,
}

/// An entry of a reply's `input_transformations`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transformation {
    /// The message.
    pub message: usize,
    /// The block in its content.
    pub block: usize,
    /// What became of it.
    pub change: Change,
    /// Why.
    pub reason: Reason,
}

impl Transformation {
    /// As the API writes it.
    pub fn to_json(&self) -> Value {
        json!({
            "type": match self.change {
                Change::Dropped => "thinking_dropped",
                Change::MismatchAllowed => "thinking_mismatch_allowed",
            },
            "path": format!("messages.{}.content.{}", self.message, self.block),
            "reason": match self.reason {
                Reason::Prefix => "prefix_binding_mismatch",
                Reason::Model => "model_binding_mismatch",
                Reason::Organization => "organization_binding_mismatch",
            },
        })
    }
}

/// A request whose thinking was checked.
#[derive(Debug, Clone)]
pub struct Admitted {
    /// What was done to it, for `input_transformations` if the caller sent the beta of the binding controls.
    pub transformations: Vec<Transformation>,
    /// What the reply's thinking is bound to.
    pub prefix: Prefix,
}

/// The request without the blocks that were dropped: what the model sees.
pub fn without(request: &Request, transformations: &[Transformation]) -> Request {
    let dropped = transformations
        .iter()
        .filter(|t| t.change == Change::Dropped);
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
