//! The few styles there are. Whatever is told by colour is told by a word or a sign as well.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;

/// What matters less.
pub(crate) const DIM: Style = Style::new().add_modifier(Modifier::DIM);
/// What matters more.
pub(crate) const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
/// Emphasis in running text.
pub(crate) const ITALIC: Style = Style::new().add_modifier(Modifier::ITALIC);
/// What is chosen.
pub(crate) const CHOSEN: Style = Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD);
/// Code in running text.
pub(crate) const CODE: Style = Style::new().fg(Color::Cyan);
/// All is well; added.
pub(crate) const GOOD: Style = Style::new().fg(Color::Green);
/// Worth a look.
pub(crate) const WARNING: Style = Style::new().fg(Color::Yellow);
/// Failed; taken away.
pub(crate) const BAD: Style = Style::new().fg(Color::Red);
/// A match of what is searched for.
pub(crate) const FOUND: Style = Style::new().add_modifier(Modifier::REVERSED);

/// A piece of text that matters less.
pub(crate) fn dim(text: impl Into<String>) -> Span<'static> {
    Span::styled(text.into(), DIM)
}

/// A piece of text in a style.
pub(crate) fn styled(text: impl Into<String>, style: Style) -> Span<'static> {
    Span::styled(text.into(), style)
}

/// The style of a line of a diff; none if it is no change.
pub(crate) fn of_diff(line: &str) -> Option<Style> {
    match line.as_bytes().first() {
        Some(b'+') => Some(GOOD),
        Some(b'-') => Some(BAD),
        Some(b'@') => Some(DIM),
        _ => None,
    }
}
