//! What a model demands of thinking: which settings it takes, and what becomes of earlier thinking blocks.
//!
//! These are facts, not decisions: what to strip and when (N2) is decided where requests are planned.

use serde::{Deserialize, Serialize};

/// A model's rules about thinking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThinkingRules {
    /// What becomes of thinking from earlier turns.
    pub prior: PriorThinking,
    /// The values of `thinking.type` it takes. Empty: leave the parameter out.
    pub accepts: Vec<ThinkingType>,
    /// The highest effort at which `disabled` is taken, where there is such a limit.
    pub disabled_up_to: Option<EffortLevel>,
    /// Whether a block is valid only behind its exact prefix.
    pub binding: ThinkingBinding,
}

impl ThinkingRules {
    /// The careful reading for a model nothing is known of: send no parameter, trust no block behind an edit.
    pub(super) fn unknown() -> ThinkingRules {
        ThinkingRules {
            prior: PriorThinking::Keep,
            accepts: Vec::new(),
            disabled_up_to: None,
            binding: ThinkingBinding::Always,
        }
    }

    /// Whether the model takes this `thinking.type` (at an effort that allows it).
    pub fn takes(&self, kind: ThinkingType) -> bool {
        self.accepts.contains(&kind)
    }
}

/// What becomes of thinking from earlier turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PriorThinking {
    /// It stays in the prompt.
    Keep,
    /// A new user turn removes it, which also costs the cache behind it.
    Strip,
}

/// A value of the request's `thinking.type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingType {
    /// With a token budget.
    Enabled,
    /// The model decides how much.
    Adaptive,
    /// None.
    Disabled,
    /// Only between tool calls.
    BetweenTools,
}

/// Whether a thinking block is bound to the exact prefix it was made behind (N2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingBinding {
    /// It is not.
    None,
    /// For accounts made since 2026-08-31, and for others on request. Who cannot tell treats it as bound.
    NewAccounts,
    /// For every account.
    Always,
}

impl ThinkingBinding {
    /// Whether an edit of earlier messages may make later thinking invalid.
    pub fn may_bind(self) -> bool {
        self != ThinkingBinding::None
    }
}

/// A value of the request's `output_config.effort`, in rising order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    /// Its name in requests.
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
