//! Tables for people: columns as wide as their content, fewer of them where there is no room.
//!
//! What gives way, in this order: the gaps, the columns that may be cut, the columns that may be left out.

use std::fmt::Write;

use anstyle::Style;

use crate::text::{clean, columns, keep_end, keep_start, wrap};

const DIM: Style = Style::new().dimmed();

/// On which side of its column a text stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// A column.
pub(crate) struct Column {
    title: &'static str,
    side: Side,
    /// The narrowest it may become by cutting or wrapping its cells; none if they stay whole.
    narrowest: Option<usize>,
    /// The column with the highest number is left out first; 0 stays.
    rank: u8,
}

impl Column {
    /// A column of texts.
    pub(crate) const fn left(title: &'static str) -> Self {
        Self {
            title,
            side: Side::Left,
            narrowest: None,
            rank: 0,
        }
    }

    /// A column of numbers.
    pub(crate) const fn right(title: &'static str) -> Self {
        Self {
            side: Side::Right,
            ..Self::left(title)
        }
    }

    /// Its cells may be cut or wrapped, down to this.
    pub(crate) const fn down_to(self, narrowest: usize) -> Self {
        Self {
            narrowest: Some(narrowest),
            ..self
        }
    }

    /// It may be left out where there is no room, those of higher rank first.
    pub(crate) const fn optional(self, rank: u8) -> Self {
        Self { rank, ..self }
    }
}

/// What becomes of a text that is wider than its column.
#[derive(Clone, Copy)]
enum Fit {
    KeepStart,
    KeepEnd,
    Wrap,
}

/// A text in a table.
pub(crate) struct Cell {
    text: String,
    fit: Fit,
    style: Style,
}

impl Cell {
    /// A word or a number, of which the beginning is kept if it must be cut.
    pub(crate) fn new(text: impl AsRef<str>) -> Self {
        Self {
            text: clean(text.as_ref()).trim_end().to_owned(),
            fit: Fit::KeepStart,
            style: Style::new(),
        }
    }

    /// A path or the like, whose end tells more.
    pub(crate) fn path(text: impl AsRef<str>) -> Self {
        Self {
            fit: Fit::KeepEnd,
            ..Self::new(text)
        }
    }

    /// A sentence, which is not cut but wrapped.
    pub(crate) fn sentence(text: impl AsRef<str>) -> Self {
        Self {
            fit: Fit::Wrap,
            ..Self::new(text)
        }
    }

    pub(crate) fn styled(self, style: Style) -> Self {
        Self { style, ..self }
    }

    pub(crate) fn dim(self) -> Self {
        self.styled(DIM)
    }

    /// Its text in a column of this width; one line, unless it is a sentence.
    fn lines(&self, room: usize) -> Vec<String> {
        match self.fit {
            Fit::KeepStart => vec![keep_start(&self.text, room)],
            Fit::KeepEnd => vec![keep_end(&self.text, room)],
            Fit::Wrap => wrap(&self.text, room),
        }
    }
}

/// Rows under columns.
pub(crate) struct Table<const N: usize> {
    columns: [Column; N],
    lines: Vec<Line<N>>,
}

/// A line of a table.
enum Line<const N: usize> {
    Row([Cell; N]),
    /// A text over the whole width, above the rows that it is about.
    Heading(String),
}

/// How a table is laid out in the room there is.
struct Layout {
    gap: usize,
    /// The width of each column; none if it is left out.
    widths: Vec<Option<usize>>,
}

impl<const N: usize> Table<N> {
    pub(crate) fn new(columns: [Column; N]) -> Self {
        Self {
            columns,
            lines: Vec::new(),
        }
    }

    pub(crate) fn row(&mut self, cells: [Cell; N]) {
        self.lines.push(Line::Row(cells));
    }

    /// A heading above the rows that follow.
    pub(crate) fn heading(&mut self, text: &str) {
        self.lines.push(Line::Heading(clean(text)));
    }

    /// The table as lines of at most `room` columns, `indent` included. Titles, if any, stand above in a dim line.
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
                Line::Row(cells) => self.write(&mut text, cells, indent, &layout),
                Line::Heading(heading) => {
                    let heading = keep_end(heading, room.saturating_sub(indent));
                    let _ = writeln!(text, "{:indent$}{heading}", "");
                }
            }
        }
        text
    }

    fn layout(&self, room: usize) -> Layout {
        let mut widths: Vec<Option<usize>> = (self.columns.iter().enumerate())
            .map(|(at, column)| {
                let cells = self.lines.iter().filter_map(|line| match line {
                    Line::Row(cells) => Some(columns(&cells[at].text)),
                    Line::Heading(_) => None,
                });
                cells.chain([columns(column.title)]).max()
            })
            .collect();
        loop {
            let over = |widths: &[Option<usize>], gap: usize| {
                let gaps = widths.iter().flatten().count().saturating_sub(1) * gap;
                (widths.iter().flatten().sum::<usize>() + gaps).saturating_sub(room)
            };
            if let Some(gap) = [2, 1].into_iter().find(|gap| over(&widths, *gap) == 0) {
                return Layout { gap, widths };
            }
            for gap in [2, 1] {
                let over = over(&widths, gap);
                if self.narrowed(&mut widths, over) {
                    return Layout { gap, widths };
                }
            }
            let optional = (0..N).filter(|at| widths[*at].is_some() && self.columns[*at].rank > 0);
            match optional.max_by_key(|at| self.columns[*at].rank) {
                Some(at) => widths[at] = None,
                // Nothing gives way any more: what may be cut is cut to the bone.
                None => {
                    let over = over(&widths, 1);
                    self.squeeze(&mut widths, over);
                    return Layout { gap: 1, widths };
                }
            }
        }
    }

    /// Takes so many columns away from what may be cut, the widest first; changes nothing if that is too little.
    fn narrowed(&self, widths: &mut [Option<usize>], over: usize) -> bool {
        let give = |at: usize, width: usize| match self.columns[at].narrowest {
            Some(narrowest) => width.saturating_sub(narrowest),
            None => 0,
        };
        let mut gives: Vec<(usize, usize)> = (widths.iter().enumerate())
            .filter_map(|(at, width)| Some((give(at, (*width)?), at)))
            .collect();
        if gives.iter().map(|(give, _)| give).sum::<usize>() < over {
            return false;
        }
        gives.sort_by_key(|give| std::cmp::Reverse(*give));
        let mut over = over;
        for (give, at) in gives {
            let taken = give.min(over);
            over -= taken;
            widths[at] = widths[at].map(|width| width - taken);
        }
        true
    }

    fn squeeze(&self, widths: &mut [Option<usize>], over: usize) {
        let cut = (self.columns.iter().zip(widths)).find(|(column, _)| column.narrowest.is_some());
        if let Some((_, Some(width))) = cut {
            *width = width.saturating_sub(over).max(4);
        }
    }

    fn write(&self, text: &mut String, cells: &[Cell; N], indent: usize, layout: &Layout) {
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
                    Side::Left => (0, free),
                    Side::Right => (free, 0),
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

    fn table() -> Table<3> {
        let mut table = Table::new([
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
