//! How near the end of the window is, in color and words.

use anstyle::{AnsiColor, Style};
use longhaul_core::window::WindowLevel;

pub(crate) fn style(level: WindowLevel) -> Style {
    let color = match level {
        WindowLevel::Ok => AnsiColor::Green,
        WindowLevel::Warning => AnsiColor::Yellow,
        WindowLevel::AutoCompact | WindowLevel::Blocking => AnsiColor::Red,
    };
    Style::new().fg_color(Some(color.into())).bold()
}

pub(crate) fn word(level: WindowLevel) -> &'static str {
    match level {
        WindowLevel::Ok => "fine",
        WindowLevel::Warning => "near the limit",
        WindowLevel::AutoCompact => "due for compaction",
        WindowLevel::Blocking => "full; input would be refused",
    }
}
