//! A bar on stderr for work that takes a while.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::terminal::is_watched;

/// Progress in bytes, for a person at a terminal; nothing otherwise.
pub(crate) fn bytes(total: u64) -> ProgressBar {
    let target = if is_watched() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(Some(total), target);
    let style = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {eta} left  {msg}");
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
