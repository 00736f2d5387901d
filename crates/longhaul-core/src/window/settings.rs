//! What a user may change about the thresholds (H4). Where the values come from lives in `config/`.

use super::percent::Percent;

/// Overrides of the thresholds. None of them makes the window or the model's output larger than they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WindowSettings {
    /// The most the window may hold.
    pub window_cap: Option<u64>,
    /// The most a reply may hold.
    pub max_output: Option<u64>,
    /// Where automatic compaction begins, as a share of the effective window.
    pub auto_compact_percent: Option<Percent>,
    /// Where input is refused, for tests. What would lie above it comes down to it.
    pub blocking_limit: Option<u64>,
    /// Whether automatic compaction may run.
    pub auto_compact: AutoCompact,
}

/// Whether automatic compaction may run, whichever switch decided it ([`super::Switches`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AutoCompact {
    /// It may.
    #[default]
    On,
    /// It may not: warnings then count towards the effective window.
    Off,
}
