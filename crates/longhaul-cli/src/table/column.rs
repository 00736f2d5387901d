//! A column: how its cells are aligned, and how it shrinks.

/// The alignment of a text in its column.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnSide {
    Left,
    Right,
}

/// A column.
pub(crate) struct Column {
    pub(super) title: &'static str,
    pub(super) side: ColumnSide,
    /// The narrowest it may become by cutting or wrapping its cells; `None` if they stay whole.
    pub(super) narrowest: Option<usize>,
    /// The column with the highest number is left out first; 0 stays.
    pub(super) rank: u8,
}

impl Column {
    /// A column of texts.
    pub(crate) const fn left(title: &'static str) -> Self {
        Self {
            title,
            side: ColumnSide::Left,
            narrowest: None,
            rank: 0,
        }
    }

    /// A column of numbers.
    pub(crate) const fn right(title: &'static str) -> Self {
        Self {
            side: ColumnSide::Right,
            ..Self::left(title)
        }
    }

    /// Lets its cells be cut or wrapped, down to this width.
    pub(crate) const fn down_to(self, narrowest: usize) -> Self {
        Self {
            narrowest: Some(narrowest),
            ..self
        }
    }

    /// Lets the column be left out where there is no room, columns with a higher rank first.
    pub(crate) const fn optional(self, rank: u8) -> Self {
        Self { rank, ..self }
    }
}
