//! What kind of sentence about rules the user said.

use serde::{Deserialize, Serialize};

/// The kind of a user's sentence, in ascending order of precedence for a sentence that could be several.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RuleKind {
    /// A rule to follow.
    #[default]
    Rule,
    /// Work that the user called off.
    Cancellation,
    /// A sentence that takes back an earlier rule.
    Revocation,
}
