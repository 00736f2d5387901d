//! The user's settings for the thresholds (H4). `config/` reads the values.

use super::percent::Percent;

/// Overrides of the thresholds. None of them makes the window or the model's output larger than they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WindowSettings {
    /// The maximum size of the window.
    pub window_cap: Option<u64>,
    /// The maximum size of a reply.
    pub max_output: Option<u64>,
    /// The threshold of automatic compaction, as a share of the effective window.
    pub auto_compact_percent: Option<Percent>,
    /// The threshold at which input is refused, for tests. Thresholds above it are lowered to it.
    pub blocking_limit: Option<u64>,
    /// Whether automatic compaction may run.
    pub auto_compact: AutoCompact,
}

/// Whether automatic compaction may run, whichever switch decided it ([`super::Switches`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AutoCompact {
    /// Automatic compaction may run.
    #[default]
    On,
    /// Automatic compaction may not run: warnings then refer to the effective window.
    Off,
}
