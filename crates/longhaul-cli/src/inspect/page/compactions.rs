//! Compactions and clearings, in the order in which they happened, and what each replaced.

use std::fmt::{self, Write};

use longhaul_core::inspect::{BoundaryReport, ClearingReport};

use super::{DIM, Page};
use crate::table::{Cell, Column, Table};
use crate::terminal::grouped;
use crate::text::count;

/// Compactions and clearings shown; a long session has hundreds.
const LAST_EVENTS: usize = 12;

impl Page<'_> {
    pub(super) fn compactions(&self, out: &mut String) -> fmt::Result {
        let report = self.report;
        if report.boundaries.is_empty() && report.clearings.is_empty() {
            return Ok(());
        }
        let boundaries = report.boundaries.iter().map(|boundary| {
            let before = boundary.pre_tokens.or(Some(boundary.replaced.tokens));
            (boundary.line, &boundary.trigger, before, replaced(boundary))
        });
        let clearings = report.clearings.iter().map(|clearing| {
            (
                clearing.line,
                &clearing.trigger,
                clearing.pre_tokens,
                cleared(clearing),
            )
        });
        let mut events: Vec<_> = boundaries.chain(clearings).collect();
        events.sort_by_key(|(line, ..)| *line);
        let mut table = Table::new([
            Column::right("line"),
            Column::left("trigger").down_to(4).optional(2),
            Column::right("before").optional(1),
            Column::left("what happened").down_to(26),
        ]);
        let shown = LAST_EVENTS.min(events.len());
        for (line, trigger, before, what) in &events[events.len() - shown..] {
            table.row([
                Cell::new(line.to_string()),
                Cell::new(trigger.as_deref().unwrap_or("?")),
                Cell::new(before.map_or_else(|| "?".to_owned(), grouped)),
                Cell::sentence(what.clone()),
            ]);
        }
        self.heading(out, "Compactions", "")?;
        out.push_str(&table.render(2, self.width));
        if shown < events.len() {
            let all = grouped(events.len() as u64);
            writeln!(
                out,
                "  {DIM}the last {shown} of {all}; --json lists all{DIM:#}"
            )?;
        }
        Ok(())
    }
}

fn replaced(boundary: &BoundaryReport) -> String {
    let entries = count(boundary.replaced.entries, "entry", "entries");
    let summary = grouped(boundary.summary_tokens);
    let kept = match boundary.preserved {
        0 => String::new(),
        kept => format!(", {} kept", grouped(kept)),
    };
    let said = boundary.report.as_ref().map(|report| &report.user_messages);
    let said = match said {
        Some(said) if said.verbatim == said.total => "; all that the user said is there".to_owned(),
        Some(said) => {
            let (whole, all) = (grouped(said.verbatim), grouped(said.total));
            format!("; {whole} of {all} user messages word for word")
        }
        None => String::new(),
    };
    format!("{entries} replaced by a summary of {summary} tokens{kept}{said}")
}

fn cleared(clearing: &ClearingReport) -> String {
    let results = count(clearing.results, "tool result", "tool results");
    match clearing.tokens_saved {
        Some(saved) => format!("{results} cleared, {} tokens saved", grouped(saved)),
        None => format!("{results} cleared"),
    }
}
