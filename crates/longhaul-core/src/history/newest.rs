//! Decides whether the newest messages have to be shortened: those that the model has not answered yet.
//!
//! Everything older can be summarized. The newest messages cannot: the model has not read them, and nothing could stand
//! for what they say. Where they leave no room, what is too long of them is shortened before they are sent.

use crate::window::WindowStatus;

/// The part of the window's free tokens that is left for a summary of what came before.
const FOR_A_SUMMARY: u64 = 4;

/// The sizes of a request, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestSizes {
    /// The request prefix.
    pub prefix: u64,
    /// What came before the messages that the model has not answered yet.
    pub older: u64,
    /// The fewest tokens that a summary of that leaves: the user's words, and a short text. All of them, where a summary
    /// stands for it already.
    pub older_least: u64,
    /// The messages that the model has not answered yet.
    pub newest: u64,
}

/// Returns the most tokens that the newest messages may have, if they are to be shortened: the request does not fit, which
/// it does not from `limit` tokens on, and with a summary in the place of what came before it would still reach the
/// threshold of compaction, so that no summary could be used.
///
/// ```
/// use longhaul_core::history::{RequestSizes, newest_room};
/// use longhaul_core::window::{WindowInput, WindowSettings, WindowStatus};
///
/// let window = WindowStatus::new(&WindowInput {
///     window: 200_000, max_output: 64_000, used: 0, settings: WindowSettings::default(),
/// })?;
/// let sizes = RequestSizes { prefix: 7_000, older: 500_000, older_least: 3_000, newest: 100_000 };
/// assert_eq!(newest_room(sizes, &window, window.blocking), None, "what came before can be summarized");
/// let sizes = RequestSizes { newest: 300_000, ..sizes };
/// assert_eq!(newest_room(sizes, &window, window.blocking), Some(120_000));
/// let spoken = RequestSizes { older_least: 50_000, ..sizes };
/// assert_eq!(newest_room(spoken, &window, window.blocking), Some(110_000), "the user's words stay beside them");
/// # Ok::<(), longhaul_core::window::WindowError>(())
/// ```
pub fn newest_room(sizes: RequestSizes, window: &WindowStatus, limit: u64) -> Option<u64> {
    let threshold = window.auto_compact.min(limit);
    let summary = threshold.saturating_sub(sizes.prefix) / FOR_A_SUMMARY;
    let beside = sizes.prefix + sizes.older.min(summary.max(sizes.older_least));
    let fits = sizes.prefix + sizes.older + sizes.newest < limit;
    (!fits && beside + sizes.newest >= threshold).then(|| threshold.saturating_sub(beside))
}
