//! A list to choose from: typing searches it, and the arrow keys move through it.

use ratatui::text::{Line, Span};

use super::search::best;
use super::style::{CHOSEN, dim, styled};
use super::text::{columns, count, keep_start};

/// A list with something to be chosen.
#[derive(Debug, Clone)]
pub(crate) struct Picker<T> {
    title: String,
    options: Vec<PickOption<T>>,
    /// The search text.
    query: String,
    found: Vec<usize>,
    at: usize,
    /// Whether it is a menu of a few fixed choices: numbers choose, and nothing is searched.
    kind: PickerKind,
}

/// An option of a list.
#[derive(Debug, Clone)]
pub(crate) struct PickOption<T> {
    /// The value of the option.
    pub(crate) value: T,
    /// The text of the option, which is searched.
    pub(crate) text: String,
    /// The description of the option.
    pub(crate) about: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PickerKind {
    List,
    Menu,
}

/// The effect of a key on a list.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PickerAction<T> {
    /// The list stays open.
    Open,
    /// This value was chosen.
    Chosen(T),
}

impl<T: Clone> Picker<T> {
    /// A list that can be searched.
    pub(crate) fn list(title: impl Into<String>, options: Vec<PickOption<T>>) -> Self {
        Self {
            title: title.into(),
            found: (0..options.len()).collect(),
            options,
            query: String::new(),
            at: 0,
            kind: PickerKind::List,
        }
    }

    /// A menu of a few choices.
    pub(crate) fn menu(title: impl Into<String>, options: Vec<PickOption<T>>) -> Self {
        Self {
            kind: PickerKind::Menu,
            ..Self::list(title, options)
        }
    }

    /// The list with this search text.
    pub(crate) fn searching(mut self, query: &str) -> Self {
        self.query = query.to_owned();
        self.search();
        self
    }

    fn search(&mut self) {
        self.found = best(&self.query, &self.options, |option| &option.text);
        self.at = 0;
    }

    /// Handles a typed character.
    pub(crate) fn typed(&mut self, c: char) -> PickerAction<T> {
        if self.kind == PickerKind::Menu {
            let number = c.to_digit(10).and_then(|digit| digit.checked_sub(1));
            let option = number.and_then(|at| self.options.get(at as usize));
            return option.map_or(PickerAction::Open, |option| {
                PickerAction::Chosen(option.value.clone())
            });
        }
        self.query.push(c);
        self.search();
        PickerAction::Open
    }

    /// Removes the last character of the search text.
    pub(crate) fn backspace(&mut self) {
        self.query.pop();
        self.search();
    }

    /// Moves the cursor by this many rows.
    pub(crate) fn step(&mut self, by: isize) {
        let last = self.found.len().saturating_sub(1);
        self.at = self.at.saturating_add_signed(by).min(last);
    }

    /// Chooses the option under the cursor.
    pub(crate) fn choose(&self) -> PickerAction<T> {
        let option = self.found.get(self.at).map(|at| &self.options[*at]);
        option.map_or(PickerAction::Open, |option| {
            PickerAction::Chosen(option.value.clone())
        })
    }

    /// The option with this number, in line mode.
    pub(crate) fn number(&self, number: usize) -> Option<T> {
        let at = self.found.get(number.checked_sub(1)?)?;
        Some(self.options[*at].value.clone())
    }

    /// The rows in a terminal, at most `height` of them.
    pub(crate) fn rows(&self, width: usize, height: usize) -> Vec<Line<'static>> {
        let mut rows = vec![self.head(width)];
        let room = height.saturating_sub(2).max(1);
        let from = self.at.saturating_sub(room / 2);
        let from = from.min(self.found.len().saturating_sub(room));
        for (index, at) in self.found.iter().enumerate().skip(from).take(room) {
            rows.push(self.row(index, &self.options[*at], width));
        }
        if self.found.is_empty() {
            rows.push(Line::from(dim("  nothing found")));
        }
        if height > 2 {
            let hidden = self.found.len().saturating_sub(room);
            let more = if hidden > 0 {
                format!("{hidden} more · ")
            } else {
                String::new()
            };
            let keys = match self.kind {
                PickerKind::List => "type to search · ↑↓ · enter · esc",
                PickerKind::Menu => "number or ↑↓ · enter · esc",
            };
            rows.push(Line::from(dim(keep_start(
                &format!("  {more}{keys}"),
                width,
            ))));
        }
        rows
    }

    fn head(&self, width: usize) -> Line<'static> {
        let title = match self.kind {
            PickerKind::Menu => self.title.clone(),
            PickerKind::List => format!("{}: {}▏", self.title, self.query),
        };
        Line::from(styled(keep_start(&title, width), CHOSEN))
    }

    fn row(&self, index: usize, option: &PickOption<T>, width: usize) -> Line<'static> {
        let chosen = index == self.at;
        let number = match self.kind {
            PickerKind::Menu => format!("{}. ", index + 1),
            PickerKind::List => String::new(),
        };
        let mark = if chosen { "› " } else { "  " };
        let about = columns(&option.about);
        let room = width.saturating_sub(2 + columns(&number));
        // The text takes precedence over its description.
        let beside = about > 0 && room >= about + 20;
        let text = keep_start(&option.text, if beside { room - about - 2 } else { room });
        let style = if chosen {
            CHOSEN
        } else {
            ratatui::style::Style::new()
        };
        let mut spans = vec![styled(format!("{mark}{number}{text}"), style)];
        if beside {
            let pad = room - about - columns(&text);
            spans.push(Span::raw(" ".repeat(pad)));
            spans.push(dim(option.about.clone()));
        }
        Line::from(spans)
    }

    /// The whole list as numbered plain lines, for line mode.
    pub(crate) fn plain(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "{} ({}):",
            self.title,
            count(self.found.len(), "choice")
        )];
        lines.extend(self.found.iter().enumerate().map(|(index, at)| {
            let option = &self.options[*at];
            let about = if option.about.is_empty() { "" } else { "  " };
            format!("{:>4}. {}{about}{}", index + 1, option.text, option.about)
        }));
        lines.push("number, or nothing to leave:".to_owned());
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picker() -> Picker<usize> {
        let names = ["fix the parser", "漢字 in tables", "write docs", "release"];
        let options = names.iter().enumerate().map(|(value, text)| PickOption {
            value,
            text: (*text).to_owned(),
            about: format!("{value} h ago"),
        });
        Picker::list("Resume", options.collect())
    }

    fn shown(picker: &Picker<usize>, width: usize, height: usize) -> String {
        let rows = picker.rows(width, height);
        let rows: Vec<String> = rows.iter().map(ToString::to_string).collect();
        rows.join("\n")
    }

    #[test]
    fn q3_a_list_is_searched_by_typing() {
        let mut picker = picker();
        for c in "doc".chars() {
            assert_eq!(picker.typed(c), PickerAction::Open);
        }
        assert_eq!(picker.choose(), PickerAction::Chosen(2));
        picker.typed('q');
        assert_eq!(picker.choose(), PickerAction::Open, "nothing is found");
        picker.backspace();
        insta::assert_snapshot!(shown(&picker, 40, 6), @"
        Resume: doc▏
        › write docs                     2 h ago
          type to search · ↑↓ · enter · esc
        ");
    }

    #[test]
    fn q3_a_long_list_scrolls_and_fits() {
        let mut picker = picker();
        picker.step(3);
        insta::assert_snapshot!(shown(&picker, 20, 4), @"
        Resume: ▏
          write docs
        › release
          2 more · type to…
        ");
        picker.step(-9);
        assert_eq!(picker.choose(), PickerAction::Chosen(0));
        for width in 0..30 {
            for height in 0..8 {
                for row in picker.rows(width, height) {
                    assert!(row.width() <= width.max(4), "{row} in {width}");
                }
            }
        }
    }
}
