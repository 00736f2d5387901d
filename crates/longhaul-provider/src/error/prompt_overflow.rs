//! How far a prompt exceeds the window.

/// How far a prompt exceeds the window, as far as the server says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PromptOverflow {
    /// Tokens of the request.
    pub actual: Option<u64>,
    /// Tokens that fit.
    pub limit: Option<u64>,
}

impl PromptOverflow {
    /// By how many tokens the request has to shrink, if the server reported enough.
    pub fn gap(self) -> Option<u64> {
        let gap = self.actual?.checked_sub(self.limit?)?;
        (gap > 0).then_some(gap)
    }
}
