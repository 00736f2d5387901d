//! A model's requirements for thinking: which settings it accepts, and what happens to earlier thinking blocks.
//!
//! These are facts, not decisions: the planning of requests decides what to strip and when (N2).

use serde::{Deserialize, Serialize};

/// A model's rules about thinking.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ThinkingRules {
    /// What happens to thinking from earlier turns.
    pub prior: PriorThinking,
    /// The values of `thinking.type` that the model accepts. If empty, the parameter is left out.
    pub accepts: Vec<ThinkingType>,
    /// The highest effort at which `disabled` is accepted, if there is such a limit.
    pub disabled_up_to: Option<EffortLevel>,
    /// Whether a thinking block is valid only after its exact prefix.
    pub binding: ThinkingBinding,
    /// The efforts that the model accepts. If empty, it accepts none, or it is not known which.
    pub efforts: Vec<EffortLevel>,
}

impl ThinkingRules {
    /// Cautious rules for an unknown model: no parameter is sent, and no block after an edit is trusted.
    pub(super) fn unknown() -> ThinkingRules {
        ThinkingRules {
            prior: PriorThinking::Keep,
            accepts: Vec::new(),
            disabled_up_to: None,
            binding: ThinkingBinding::Always,
            efforts: Vec::new(),
        }
    }

    /// Whether the model accepts this `thinking.type` (at an effort that allows it).
    pub fn takes(&self, kind: ThinkingType) -> bool {
        self.accepts.contains(&kind)
    }
}

/// What happens to thinking from earlier turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PriorThinking {
    /// The thinking stays in the prompt.
    Keep,
    /// A new user turn removes the thinking, which also costs the cache after it.
    Strip,
}

/// A value of the request's `thinking.type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingType {
    /// Thinking with a token budget.
    Enabled,
    /// The model decides how much it thinks.
    Adaptive,
    /// No thinking.
    Disabled,
    /// Thinking only between tool calls.
    BetweenTools,
}

/// Whether a thinking block is bound to the exact prefix it was made after (N2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingBinding {
    /// Blocks are not bound.
    None,
    /// Blocks are bound for accounts created since 2026-08-31, and for others on request. A caller that cannot tell
    /// treats them as bound.
    NewAccounts,
    /// Blocks are bound for every account.
    Always,
}

impl ThinkingBinding {
    /// Whether an edit of earlier messages may make later thinking invalid.
    pub fn may_bind(self) -> bool {
        self != ThinkingBinding::None
    }
}

/// A value of the request's `output_config.effort`, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EffortLevel {
    /// `low`
    Low,
    /// `medium`
    Medium,
    /// `high`
    High,
    /// `xhigh`
    Xhigh,
    /// `max`
    Max,
}

impl EffortLevel {
    /// All levels, in ascending order.
    pub const ALL: [EffortLevel; 5] = [Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];

    /// The level with this name.
    pub fn named(name: &str) -> Option<EffortLevel> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }

    /// The level's name in requests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }
}
