//! One attachment of the restored context.

use serde_json::Value;

use crate::tokens::RoughEstimator;

/// One restored attachment.
#[derive(Debug, Clone, PartialEq)]
pub struct RestoredAttachment {
    /// The `attachment` value of its entry.
    pub value: Value,
    pub(super) is_cut: bool,
}

impl RestoredAttachment {
    pub(super) fn whole(value: Value) -> Self {
        Self {
            value,
            is_cut: false,
        }
    }

    /// The size of the attachment as it is written, in tokens.
    pub fn tokens(&self) -> u64 {
        RoughEstimator::text(&self.value.to_string()).unpadded()
    }
}
