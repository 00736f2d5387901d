//! A table as lines whose columns are aligned. A table that is wider than the terminal gets narrower columns, and cells
//! of several rows.

use pulldown_cmark::Alignment;
use ratatui::text::{Line, Span};

use super::flow::WrappedLine;
use super::style::dim;
use super::text::columns;

/// Columns do not get narrower than this.
const NARROWEST: usize = 6;
/// What separates two columns.
const BETWEEN: &str = " │ ";

/// The cells of a table, row by row. The first row is its head.
pub(crate) struct MarkdownTable {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<WrappedLine>>,
    row: Vec<WrappedLine>,
}

impl MarkdownTable {
    pub(crate) fn new(alignments: Vec<Alignment>) -> Self {
        Self {
            alignments,
            rows: Vec::new(),
            row: Vec::new(),
        }
    }

    /// Adds a cell to the current row.
    pub(crate) fn cell(&mut self, spans: Vec<Span<'static>>) {
        self.row.push(WrappedLine::new(spans, 0));
    }

    /// Ends the current row.
    pub(crate) fn end_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
    }

    /// The table as lines that fit into this many columns, as far as that is possible.
    pub(crate) fn lines(self, room: usize) -> Vec<Vec<Span<'static>>> {
        let widths = self.widths(room);
        let mut lines = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            let cells: Vec<Vec<Line<'static>>> = row
                .iter()
                .zip(&widths)
                .map(|(cell, width)| cell.rows(*width))
                .collect();
            let height = cells.iter().map(Vec::len).max().unwrap_or(1);
            for line in 0..height {
                lines.push(self.line(&cells, line, &widths));
            }
            if at == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(vec![dim(rules.join("─┼─"))]);
            }
        }
        lines
    }

    fn line(
        &self,
        cells: &[Vec<Line<'static>>],
        line: usize,
        widths: &[usize],
    ) -> Vec<Span<'static>> {
        let mut spans = Vec::new();
        for (at, width) in widths.iter().enumerate() {
            if at > 0 {
                let is_last_used = cells.iter().skip(at).all(|cell| cell.len() <= line);
                spans.push(dim(if is_last_used {
                    BETWEEN.trim_end()
                } else {
                    BETWEEN
                }));
                if is_last_used {
                    break;
                }
            }
            let piece = cells.get(at).and_then(|cell| cell.get(line));
            let piece = piece.cloned().unwrap_or_default();
            let free = width.saturating_sub(piece.width());
            let before = match self.alignments.get(at) {
                Some(Alignment::Right) => free,
                Some(Alignment::Center) => free / 2,
                _ => 0,
            };
            if before > 0 {
                spans.push(Span::raw(" ".repeat(before)));
            }
            spans.extend(piece.spans);
            if at + 1 < widths.len() && free > before {
                spans.push(Span::raw(" ".repeat(free - before)));
            }
        }
        spans
    }

    /// The width of each column: as wide as its widest cell, and where that is too much, the widest columns are made
    /// narrower.
    fn widths(&self, room: usize) -> Vec<usize> {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let mut widths: Vec<usize> = (0..count)
            .map(|at| {
                let cells = self.rows.iter().filter_map(|row| row.get(at));
                cells.map(|cell| columns(&cell.text())).max().unwrap_or(0)
            })
            .map(|width| width.max(1))
            .collect();
        let room = room.saturating_sub(count.saturating_sub(1) * columns(BETWEEN));
        while widths.iter().sum::<usize>() > room {
            match widths.iter_mut().max() {
                Some(widest) if *widest > NARROWEST => *widest -= 1,
                _ => break,
            }
        }
        widths
    }
}
