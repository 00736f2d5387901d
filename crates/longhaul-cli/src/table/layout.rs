//! How wide each column becomes. Where there is no room, these shrink in this order: the gaps, the columns that may be
//! cut, the columns that may be left out.

use super::{TableLine, TextTable};
use crate::text::columns;

/// The layout of a table in the available width.
pub(super) struct TableLayout {
    pub(super) gap: usize,
    /// The width of each column; `None` if it is left out.
    pub(super) widths: Vec<Option<usize>>,
}

impl<const N: usize> TextTable<N> {
    pub(super) fn layout(&self, room: usize) -> TableLayout {
        let mut widths: Vec<Option<usize>> = (self.columns.iter().enumerate())
            .map(|(at, column)| {
                let cells = self.lines.iter().filter_map(|line| match line {
                    TableLine::Row(cells) => Some(columns(&cells[at].text)),
                    TableLine::Heading(..) => None,
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
                return TableLayout { gap, widths };
            }
            for gap in [2, 1] {
                let over = over(&widths, gap);
                if self.narrowed(&mut widths, over) {
                    return TableLayout { gap, widths };
                }
            }
            let optional = (0..N).filter(|at| widths[*at].is_some() && self.columns[*at].rank > 0);
            match optional.max_by_key(|at| self.columns[*at].rank) {
                Some(at) => widths[at] = None,
                // Nothing else can shrink: columns that may be cut are cut to their minimum.
                None => {
                    let over = over(&widths, 1);
                    self.squeeze(&mut widths, over);
                    return TableLayout { gap: 1, widths };
                }
            }
        }
    }

    /// Takes this much width away from the columns that may be cut, the widest first; changes nothing if that is not
    /// enough.
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
}
