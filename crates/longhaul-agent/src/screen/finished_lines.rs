//! Lines that are finished and wait to be drawn, once, above the live region.

use super::flow::WrappedLine;

/// Finished lines that have not been drawn yet.
#[derive(Debug, Default)]
pub(crate) struct FinishedLines {
    waiting: Vec<WrappedLine>,
    /// How many lines have been added in all.
    added: usize,
}

impl FinishedLines {
    pub(crate) fn push(&mut self, line: WrappedLine) {
        self.extend([line]);
    }

    /// The lines that wait; they count as drawn from now on.
    pub(crate) fn take(&mut self) -> Vec<WrappedLine> {
        std::mem::take(&mut self.waiting)
    }

    /// How many lines have been added in all: whoever compares it later knows whether any came in between.
    pub(crate) fn added(&self) -> usize {
        self.added
    }

    #[cfg(test)]
    pub(crate) fn waiting(&self) -> &[WrappedLine] {
        &self.waiting
    }
}

impl Extend<WrappedLine> for FinishedLines {
    fn extend<T: IntoIterator<Item = WrappedLine>>(&mut self, lines: T) {
        let before = self.waiting.len();
        self.waiting.extend(lines);
        self.added += self.waiting.len() - before;
    }
}
