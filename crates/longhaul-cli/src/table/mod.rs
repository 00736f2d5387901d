//! Tables for people: columns as wide as their content, fewer of them where there is no room.
//!
//! `column.rs` and `cell.rs` say what may shrink, `layout.rs` decides what does.

mod cell;
mod column;
mod layout;

use std::fmt::Write;

pub(crate) use cell::Cell;
pub(crate) use column::Column;

use anstyle::Style;

use crate::text::{clean, columns, keep_end};
use column::ColumnSide;
use layout::TableLayout;

/// Rows under columns.
pub(crate) struct TextTable<const N: usize> {
    columns: [Column; N],
    lines: Vec<TableLine<N>>,
}

/// A line of a table.
enum TableLine<const N: usize> {
    Row([Cell; N]),
    /// A text over the whole width, above the rows that it is about.
    Heading(String, Style),
}

impl<const N: usize> TextTable<N> {
    pub(crate) fn new(columns: [Column; N]) -> Self {
        Self {
            columns,
            lines: Vec::new(),
        }
    }

    pub(crate) fn row(&mut self, cells: [Cell; N]) {
        self.lines.push(TableLine::Row(cells));
    }

    /// A heading above the rows that follow.
    pub(crate) fn heading(&mut self, text: &str) {
        self.lines
            .push(TableLine::Heading(clean(text), Style::new()));
    }

    /// Adds a heading that begins a new part of the page.
    pub(crate) fn section(&mut self, text: &str) {
        let bold = Style::new().bold();
        self.lines.push(TableLine::Heading(clean(text), bold));
    }

    /// The table as lines of at most `room` columns, `indent` included. Titles, if any, are in a dim line above.
    pub(crate) fn render(&self, indent: usize, room: usize) -> String {
        let layout = self.layout(room.saturating_sub(indent));
        let mut text = String::new();
        if self.columns.iter().any(|column| !column.title.is_empty()) {
            let titles = self
                .columns
                .each_ref()
                .map(|column| Cell::new(column.title).dim());
            self.write(&mut text, &titles, indent, &layout);
        }
        for line in &self.lines {
            match line {
                TableLine::Row(cells) => self.write(&mut text, cells, indent, &layout),
                TableLine::Heading(heading, style) => {
                    let heading = keep_end(heading, room.saturating_sub(indent));
                    let _ = writeln!(text, "{:indent$}{style}{heading}{style:#}", "");
                }
            }
        }
        text
    }

    fn write(&self, text: &mut String, cells: &[Cell; N], indent: usize, layout: &TableLayout) {
        let shown: Vec<_> = (cells.iter().zip(&self.columns).zip(&layout.widths))
            .filter_map(|((cell, column), width)| {
                width.map(|width| (cell, column.side, width, cell.lines(width)))
            })
            .collect();
        let height = shown
            .iter()
            .map(|(.., lines)| lines.len())
            .max()
            .unwrap_or(0);
        for line in 0..height.max(1) {
            let from = text.len();
            text.extend(std::iter::repeat_n(' ', indent));
            let mut pending = 0;
            for (cell, side, width, lines) in &shown {
                let part = lines.get(line).map_or("", String::as_str);
                let free = width.saturating_sub(columns(part));
                let (before, after) = match side {
                    ColumnSide::Left => (0, free),
                    ColumnSide::Right => (free, 0),
                };
                if !part.trim().is_empty() {
                    let style = cell.style;
                    let blank = " ".repeat(pending + before);
                    // Writing to a string cannot fail.
                    let _ = write!(text, "{blank}{style}{part}{style:#}");
                    pending = after + layout.gap;
                } else {
                    pending += width + layout.gap;
                }
            }
            if text[from..].trim().is_empty() {
                text.truncate(from);
            }
            text.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> TextTable<3> {
        let mut table = TextTable::new([
            Column::left("name").down_to(8),
            Column::right("size").optional(1),
            Column::left("why").down_to(10),
        ]);
        table.row([
            Cell::path("src/inspect/page.rs"),
            Cell::new("1,200"),
            Cell::sentence("it is too long for one idea"),
        ]);
        table.row([Cell::path("漢字.rs"), Cell::new("7"), Cell::sentence("")]);
        table
    }

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn columns_are_as_wide_as_their_content() {
        let wide = "\
name                  size  why
src/inspect/page.rs  1,200  it is too long for one idea
漢字.rs                  7
";
        assert_eq!(plain(&table().render(0, 80)), wide);
    }

    #[test]
    fn sentences_wrap_and_optional_columns_go() {
        let narrow = "  name          why
  …ect/page.rs  it is too
                long for
                one idea
  漢字.rs
";
        assert_eq!(plain(&table().render(2, 26)), narrow);
    }

    #[test]
    fn no_line_is_wider_than_the_room() {
        for room in 24..100 {
            let text = plain(&table().render(2, room));
            assert!(
                text.lines().all(|line| columns(line) <= room),
                "{room}:\n{text}"
            );
        }
    }
}
