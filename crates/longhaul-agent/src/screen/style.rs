//! The styles. Whatever a color says is also said by a word or a sign.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;

/// Less important text.
pub(crate) const DIM: Style = Style::new().add_modifier(Modifier::DIM);
/// More important text.
pub(crate) const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
/// Emphasis in running text.
pub(crate) const ITALIC: Style = Style::new().add_modifier(Modifier::ITALIC);
/// The selected item.
pub(crate) const CHOSEN: Style = Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD);
/// Code in running text.
pub(crate) const CODE: Style = Style::new().fg(Color::Cyan);
/// Success, and added lines.
pub(crate) const GOOD: Style = Style::new().fg(Color::Green);
/// A warning.
pub(crate) const WARNING: Style = Style::new().fg(Color::Yellow);
/// Failure, and removed lines.
pub(crate) const BAD: Style = Style::new().fg(Color::Red);
/// A match of a search.
pub(crate) const FOUND: Style = Style::new().add_modifier(Modifier::REVERSED);

/// A dimmed piece of text.
pub(crate) fn dim(text: impl Into<String>) -> Span<'static> {
    Span::styled(text.into(), DIM)
}

/// A piece of text in a style.
pub(crate) fn styled(text: impl Into<String>, style: Style) -> Span<'static> {
    Span::styled(text.into(), style)
}

/// The style of a line of a diff; `None` if the line is not a change.
pub(crate) fn of_diff(line: &str) -> Option<Style> {
    match line.as_bytes().first() {
        Some(b'+') => Some(GOOD),
        Some(b'-') => Some(BAD),
        Some(b'@') => Some(DIM),
        _ => None,
    }
}
