//! All numbers derived from a window and its used tokens (H1 to H4, H7), in one value.

use serde::Serialize;

use super::scale::{SMALLEST, WindowError, WindowScale};
use super::settings::{AutoCompact, WindowSettings};

/// The maximum that is kept free for a reply or a summary (H1).
const REPLY_RESERVE: u64 = 20_000;
/// Automatic compaction begins this far before the effective window ends (H2).
const AUTO_COMPACT_MARGIN: u64 = 13_000;
/// The warning begins this far before the limit (H2).
const WARNING_MARGIN: u64 = 20_000;
/// Input is refused this far before the effective window ends (H2).
const BLOCKING_MARGIN: u64 = 3_000;

/// The inputs that a status is derived from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowInput {
    /// The model's window in tokens.
    pub window: u64,
    /// The model's maximum output in tokens.
    pub max_output: u64,
    /// The tokens in the window now.
    pub used: u64,
    /// The user's overrides.
    pub settings: WindowSettings,
}

/// The current state of the window. Thresholds are in tokens and reached at `used >= threshold`; `1 <= warning <=
/// auto_compact <= blocking <= effective <= size` always holds.
///
/// ```
/// use longhaul_core::window::{WindowInput, WindowLevel, WindowSettings, WindowStatus};
///
/// let window = WindowStatus::new(&WindowInput {
///     window: 200_000,
///     max_output: 64_000,
///     used: 0,
///     settings: WindowSettings::default(),
/// })?;
/// assert_eq!(window.auto_compact, 167_000, "20,000 tokens for the summary, 13,000 before that");
/// assert_eq!(window.at(100_000).level, WindowLevel::Ok);
/// assert_eq!(window.at(170_000).level, WindowLevel::AutoCompact);
/// # Ok::<(), longhaul_core::window::WindowError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct WindowStatus {
    /// The size of the window, after a cap.
    pub size: u64,
    /// The maximum size of a reply, after an override.
    pub max_output: u64,
    /// The window without the part that is kept free for a reply.
    pub effective: u64,
    /// The threshold of automatic compaction, if it is on.
    pub auto_compact: u64,
    /// The limit that `percent_left` refers to: `auto_compact` if it is on, otherwise `effective`.
    pub limit: u64,
    /// The threshold at which the user is warned.
    pub warning: u64,
    /// The threshold at which the warning turns red, which is the same as `warning`.
    pub error: u64,
    /// The threshold at which input is refused unless a compaction can act.
    pub blocking: u64,
    /// Whether automatic compaction may run.
    pub auto_compact_enabled: bool,
    /// The tokens in the window.
    pub used: u64,
    /// The part that is left until the limit, in whole percent.
    pub percent_left: u8,
    /// The highest threshold reached.
    pub level: WindowLevel,
}

/// How near the end of the window is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowLevel {
    /// There is nothing to do.
    Ok,
    /// The user should be warned.
    Warning,
    /// A compaction should run before the next request.
    AutoCompact,
    /// Input should be refused unless a compaction can act.
    Blocking,
}

impl WindowStatus {
    /// Derives all numbers, or says why the window is too small.
    ///
    /// # Errors
    /// Fails if the window of the model, or its cap in the settings, is too small to work in.
    pub fn new(input: &WindowInput) -> Result<WindowStatus, WindowError> {
        let settings = &input.settings;
        let size = capped(input.window, settings.window_cap)?;
        let scale = WindowScale::of_window(size);
        let max_output = settings
            .max_output
            .map_or(input.max_output, |most| most.min(input.max_output));
        let effective = size - max_output.min(scale.apply(REPLY_RESERVE));
        let blocking = settings
            .blocking_limit
            .unwrap_or(effective - scale.apply(BLOCKING_MARGIN))
            .clamp(1, effective);
        let enabled = settings.auto_compact == AutoCompact::On;
        // While automatic compaction is off, a percentage meant for it must not lower the warning.
        let percent = settings.auto_compact_percent.filter(|_| enabled);
        let auto_compact = (effective - scale.apply(AUTO_COMPACT_MARGIN))
            .min(percent.map_or(effective, |percent| percent.of(effective)))
            .clamp(1, blocking);
        let limit = if enabled { auto_compact } else { effective };
        let warning = limit
            .saturating_sub(scale.apply(WARNING_MARGIN))
            .clamp(1, auto_compact);
        let unused = WindowStatus {
            size,
            max_output,
            effective,
            auto_compact,
            limit,
            warning,
            error: warning,
            blocking,
            auto_compact_enabled: enabled,
            used: 0,
            percent_left: 100,
            level: WindowLevel::Ok,
        };
        Ok(unused.at(input.used))
    }

    /// A window of which this many tokens are taken: its thresholds apply to the rest. The window's size, and with it every
    /// scaled figure, stays the same.
    #[must_use]
    pub fn without(self, taken: u64) -> Self {
        let left = |threshold: u64| threshold.saturating_sub(taken).max(1);
        Self {
            effective: left(self.effective),
            auto_compact: left(self.auto_compact),
            limit: left(self.limit),
            warning: left(self.warning),
            error: left(self.error),
            blocking: left(self.blocking),
            ..self
        }
        .at(self.used)
    }

    /// Returns the status of the same window with another amount used, for a plan that asks before it acts.
    pub fn at(&self, used: u64) -> WindowStatus {
        WindowStatus {
            used,
            percent_left: percent_left(self.limit, used),
            level: self.level_at(used),
            ..*self
        }
    }

    /// Returns how reserves, margins and budgets scale in this window (H7).
    pub fn scale(&self) -> WindowScale {
        WindowScale::of_window(self.size)
    }

    fn level_at(&self, used: u64) -> WindowLevel {
        match used {
            _ if used >= self.blocking => WindowLevel::Blocking,
            _ if used >= self.auto_compact && self.auto_compact_enabled => WindowLevel::AutoCompact,
            _ if used >= self.warning => WindowLevel::Warning,
            _ => WindowLevel::Ok,
        }
    }
}

/// Returns the window after a cap, which only shrinks it.
fn capped(window: u64, cap: Option<u64>) -> Result<u64, WindowError> {
    if window < SMALLEST {
        return Err(WindowError::TooSmall { size: window });
    }
    check_cap(cap)?;
    Ok(cap.map_or(window, |cap| cap.min(window)))
}

/// Refuses a cap that leaves too little to work in.
pub(crate) fn check_cap(cap: Option<u64>) -> Result<(), WindowError> {
    match cap {
        Some(cap) if cap < SMALLEST => Err(WindowError::CappedTooSmall { cap }),
        _ => Ok(()),
    }
}

/// Returns the percent left (H3): rounded half up, never below zero.
fn percent_left(limit: u64, used: u64) -> u8 {
    let left = u128::from(limit.saturating_sub(used));
    let limit = u128::from(limit.max(1));
    u8::try_from((left * 200 + limit) / (limit * 2)).unwrap_or(100)
}
