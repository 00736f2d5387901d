//! A long text on its own screen, with scrolling and search. The terminal's scrollback stays as it is.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::flow::{WrappedLine, rows};
use super::style::{BOLD, FOUND, dim, styled};
use super::text::keep_start;

/// A text and the visible part of it.
#[derive(Debug, Default)]
pub(crate) struct TextPager {
    title: String,
    lines: Vec<WrappedLine>,
    /// The rows at a width, computed when they are needed.
    broken: Option<(usize, Vec<Line<'static>>)>,
    top: usize,
    /// The number of rows that were visible last.
    seen: usize,
    searching: Option<String>,
    query: String,
    start: PagerStart,
}

/// Where reading begins.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PagerStart {
    /// At the beginning.
    #[default]
    Top,
    /// At the end, with the latest events.
    End,
}

/// The effect of a key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PagerAction {
    /// The pager stays open.
    On,
    /// The user is done.
    Closed,
    /// The key has no meaning here.
    Unknown,
}

impl TextPager {
    /// A text to read.
    pub(crate) fn new(
        title: impl Into<String>,
        lines: Vec<WrappedLine>,
        start: PagerStart,
    ) -> Self {
        Self {
            title: title.into(),
            lines,
            start,
            ..Self::default()
        }
    }

    /// Replaces the text and goes to its beginning.
    pub(crate) fn replace(&mut self, title: impl Into<String>, lines: Vec<WrappedLine>) {
        *self = Self::new(title, lines, PagerStart::Top);
    }

    /// The text, for output that cannot be scrolled.
    pub(crate) fn into_lines(self) -> Vec<WrappedLine> {
        self.lines
    }

    /// Whether a search is being typed, so that every letter belongs to it.
    pub(crate) fn is_searching(&self) -> bool {
        self.searching.is_some()
    }

    fn count(&self) -> usize {
        self.broken.as_ref().map_or(0, |broken| broken.1.len())
    }

    fn go(&mut self, to: usize) {
        self.top = to.min(self.count().saturating_sub(self.seen.max(1)));
    }

    /// Handles a key.
    pub(crate) fn key(&mut self, key: KeyEvent) -> PagerAction {
        if let Some(typed) = self.searching.as_mut() {
            match key.code {
                KeyCode::Enter => {
                    self.query = self.searching.take().unwrap_or_default();
                    self.find(self.top, 1);
                }
                KeyCode::Esc => self.searching = None,
                KeyCode::Backspace => {
                    typed.pop();
                }
                KeyCode::Char(c) => typed.push(c),
                _ => {}
            }
            return PagerAction::On;
        }
        let page = self.seen.saturating_sub(1).max(1);
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc | KeyCode::Char('q') => return PagerAction::Closed,
            KeyCode::Char('o' | 'c' | 'd') if control => return PagerAction::Closed,
            KeyCode::Up | KeyCode::Char('k') => self.go(self.top.saturating_sub(1)),
            KeyCode::Down | KeyCode::Char('j') => self.go(self.top + 1),
            KeyCode::PageUp | KeyCode::Char('b') => self.go(self.top.saturating_sub(page)),
            KeyCode::PageDown | KeyCode::Char(' ') => self.go(self.top + page),
            KeyCode::Home | KeyCode::Char('g') => self.go(0),
            KeyCode::End | KeyCode::Char('G') => self.go(usize::MAX),
            KeyCode::Char('/') => self.searching = Some(String::new()),
            KeyCode::Char('n') => self.find(self.top + 1, 1),
            KeyCode::Char('N') => self.find(self.top, -1),
            _ => return PagerAction::Unknown,
        }
        PagerAction::On
    }

    fn find(&mut self, from: usize, step: isize) {
        let query = self.query.to_lowercase();
        let Some((_, broken)) = self.broken.as_ref().filter(|_| !query.is_empty()) else {
            return;
        };
        let has = |at: &usize| broken[*at].to_string().to_lowercase().contains(&query);
        let all = 0..broken.len();
        // After the end, the search continues from the beginning, and the other way round.
        let found = match step {
            1 => all.clone().skip(from).chain(all).find(|at| has(at)),
            _ => all
                .clone()
                .take(from)
                .rev()
                .chain(all.rev())
                .find(|at| has(at)),
        };
        if let Some(found) = found {
            self.go(found);
        }
    }

    /// The rows of a whole screen.
    pub(crate) fn rows(&mut self, width: usize, height: usize, keys: &str) -> Vec<Line<'static>> {
        let (width, height) = (width.max(1), height.max(1));
        if self.broken.as_ref().is_none_or(|broken| broken.0 != width) {
            // The visible part stays in view when the width changes.
            let share = self.top as f64 / self.count().max(1) as f64;
            let first = self.broken.is_none();
            self.broken = Some((width, rows(&self.lines, width)));
            self.top = match (first, self.start) {
                (true, PagerStart::Top) => 0,
                (true, PagerStart::End) => usize::MAX,
                (false, _) => (share * self.count() as f64) as usize,
            };
        }
        self.seen = height.saturating_sub(2).max(1);
        self.go(self.top);
        let total = self.count();
        let broken = self.broken.as_ref().map_or(&[][..], |broken| &broken.1);
        let mut screen = vec![Line::from(styled(keep_start(&self.title, width), BOLD))];
        screen.extend((broken.iter().skip(self.top).take(self.seen)).map(|row| self.marked(row)));
        screen.resize(height.saturating_sub(1).max(1), Line::default());
        let until = (self.top + self.seen).min(total);
        let foot = match &self.searching {
            Some(query) => format!("/{query}▏"),
            None => format!("{until}/{total} · {keys}"),
        };
        screen.push(Line::from(dim(keep_start(&foot, width))));
        screen.truncate(height);
        screen
    }

    /// A row with the matches highlighted.
    fn marked(&self, row: &Line<'static>) -> Line<'static> {
        let text = row.to_string();
        let query = self.query.to_lowercase();
        let lower = text.to_lowercase();
        // The lower-case text may have another length; then only the row is found, not the place in it.
        if query.is_empty() || lower.len() != text.len() || !lower.contains(&query) {
            return row.clone();
        }
        let mut spans = Vec::new();
        let mut from = 0;
        for (at, _) in lower.match_indices(&query) {
            let until = at + query.len();
            if at < from || !text.is_char_boundary(at) || !text.is_char_boundary(until) {
                continue;
            }
            spans.push(Span::styled(text[from..at].to_owned(), Style::new()));
            spans.push(Span::styled(text[at..until].to_owned(), FOUND));
            from = until;
        }
        spans.push(Span::raw(text[from..].to_owned()));
        Line::from(spans)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(reader: &mut TextPager, width: usize, height: usize) -> String {
        let rows = reader.rows(width, height, "q closes");
        let rows: Vec<String> = rows.iter().map(ToString::to_string).collect();
        rows.join("\n")
    }

    #[test]
    fn q2_a_reader_scrolls_searches_and_fits_any_size() {
        let lines = (1..=50).map(|n| WrappedLine::plain(format!("line {n} of a long text")));
        let mut reader = TextPager::new("Transcript", lines.collect(), PagerStart::End);
        insta::assert_snapshot!(screen(&mut reader, 30, 5), @"
        Transcript
        line 48 of a long text
        line 49 of a long text
        line 50 of a long text
        50/50 · q closes
        ");
        reader.key(KeyCode::Home.into());
        for c in "/LINE 23".chars() {
            reader.key(KeyCode::Char(c).into());
        }
        reader.key(KeyCode::Enter.into());
        assert!(screen(&mut reader, 30, 5).contains("\nline 23"));
        assert_eq!(reader.key(KeyCode::Char('q').into()), PagerAction::Closed);
        for (width, height) in [(1, 1), (20, 5), (3, 2), (200, 90)] {
            assert_eq!(reader.rows(width, height, "q").len(), height);
        }
    }
}
