//! A text that grows by whole lines up to a size.

use crate::tokens::utf16_len;

/// A text of lines within a limit of UTF-16 units.
#[derive(Debug, Clone, Default)]
pub(crate) struct BoundedText {
    text: String,
    units: usize,
    limit: usize,
}

impl BoundedText {
    /// Creates an empty text.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// Adds a line, or several separated by line breaks, if it fits; returns whether it did.
    pub(crate) fn line(&mut self, line: &str) -> bool {
        let units = utf16_len(line) + 1;
        let fits = units <= self.room();
        if fits {
            self.text.push_str(line);
            self.text.push('\n');
            self.units += units;
        }
        fits
    }

    /// The number of units that still fit.
    pub(crate) fn room(&self) -> usize {
        self.limit - self.units
    }

    /// The number of units so far.
    pub(crate) fn units(&self) -> usize {
        self.units
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }
}
