//! How near the end of the window is, in colour and words.

use anstyle::{AnsiColor, Style};
use longhaul_core::window::Level;

pub(super) fn style(level: Level) -> Style {
    let colour = match level {
        Level::Ok => AnsiColor::Green,
        Level::Warning => AnsiColor::Yellow,
        Level::AutoCompact | Level::Blocking => AnsiColor::Red,
    };
    Style::new().fg_color(Some(colour.into())).bold()
}

pub(super) fn word(level: Level) -> &'static str {
    match level {
        Level::Ok => "fine",
        Level::Warning => "near the limit",
        Level::AutoCompact => "due for compaction",
        Level::Blocking => "full; input would be refused",
    }
}
