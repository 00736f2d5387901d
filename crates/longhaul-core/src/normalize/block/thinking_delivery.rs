//! Whether reasoning is sent.

/// Whether reasoning is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::normalize) enum ThinkingDelivery {
    /// Reasoning is sent.
    Sent,
    /// Reasoning is left out: the content before it was changed, so the API would refuse it (N2).
    Stripped,
}
