//! What a user may change about when notes are taken (S2). Where the values come from lives in `config/`.

/// When notes are taken. Amounts are for windows of 100K and more and shrink with smaller ones (H7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotesSettings {
    /// Tokens in the window at which notes are first taken.
    pub start_tokens: u64,
    /// Tokens by which the window must have grown since.
    pub growth_tokens: u64,
    /// Tool calls since, behind which the work may be interrupted without waiting for a pause.
    pub tool_calls: u64,
}

impl Default for NotesSettings {
    fn default() -> Self {
        Self {
            start_tokens: 10_000,
            growth_tokens: 5_000,
            tool_calls: 3,
        }
    }
}
