//! The number under which the outcome of an effect comes back.

/// Identifies an effect whose outcome is awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EffectId(pub u64);
