//! How far decisions are made by price (V5).

use serde::{Deserialize, Serialize};

/// A policy of the economy.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum EconomyPolicy {
    /// Nothing is decided by price: the thresholds alone decide.
    Off,
    /// Results are cleared when it pays.
    #[default]
    Clear,
    /// Results are cleared and conversations are summarized when it pays.
    Full,
}

impl EconomyPolicy {
    /// The policy's name in settings and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Clear => "clear",
            Self::Full => "full",
        }
    }

    /// Returns the policy with this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Off, Self::Clear, Self::Full]
            .into_iter()
            .find(|known| known.as_str() == name)
    }
}
