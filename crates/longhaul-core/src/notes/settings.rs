//! The user's settings for when notes are taken (S2). `config/` reads the values.

/// When notes are taken. The amounts are for windows of 100K tokens and more, and shrink with smaller windows (H7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotesSettings {
    /// The tokens in the window at which notes are first taken.
    pub start_tokens: u64,
    /// The tokens by which the window must have grown since notes were last taken.
    pub growth_tokens: u64,
    /// The number of tool calls since then after which the work may be interrupted without waiting for a pause.
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
