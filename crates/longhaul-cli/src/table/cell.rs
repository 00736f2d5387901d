//! A text in a table, and how it is shortened where its column is narrower.

use anstyle::Style;

use crate::text::{clean, keep_end, keep_start, wrap};

/// How a text that is wider than its column is shortened.
#[derive(Clone, Copy)]
enum CellFit {
    KeepStart,
    KeepEnd,
    Wrap,
}

/// A text in a table.
pub(crate) struct Cell {
    pub(super) text: String,
    fit: CellFit,
    pub(super) style: Style,
}

impl Cell {
    /// A word or a number; its beginning is kept if it must be cut.
    pub(crate) fn new(text: impl AsRef<str>) -> Self {
        Self {
            text: clean(text.as_ref()).trim_end().to_owned(),
            fit: CellFit::KeepStart,
            style: Style::new(),
        }
    }

    /// A path or similar text; its end is kept if it must be cut.
    pub(crate) fn path(text: impl AsRef<str>) -> Self {
        Self {
            fit: CellFit::KeepEnd,
            ..Self::new(text)
        }
    }

    /// A sentence; it is wrapped, not cut.
    pub(crate) fn sentence(text: impl AsRef<str>) -> Self {
        Self {
            fit: CellFit::Wrap,
            ..Self::new(text)
        }
    }

    pub(crate) fn styled(self, style: Style) -> Self {
        Self { style, ..self }
    }

    pub(crate) fn dim(self) -> Self {
        self.styled(Style::new().dimmed())
    }

    /// The text in a column of this width; one line, unless it is a sentence.
    pub(super) fn lines(&self, room: usize) -> Vec<String> {
        match self.fit {
            CellFit::KeepStart => vec![keep_start(&self.text, room)],
            CellFit::KeepEnd => vec![keep_end(&self.text, room)],
            CellFit::Wrap => wrap(&self.text, room),
        }
    }
}
