//! The model's responses: what they cost, how full the window was, how much came from the cache.

use std::fmt::{self, Write};

use longhaul_core::inspect::TurnReport;

use super::{DIM, InspectPage, ListedTurns, minute, picture};
use crate::table::{Cell, Column, TextTable};
use crate::terminal::{dollars, grouped, short};
use crate::text::{columns, count};

/// The number of responses that are listed without `--turns`.
const LAST_TURNS: usize = 5;

impl InspectPage<'_> {
    pub(super) fn responses(&self, out: &mut String, turns: ListedTurns) -> fmt::Result {
        let report = self.report;
        if report.turns.is_empty() {
            return Ok(());
        }
        // Without all prices the sum is incomplete.
        let known = |turn: &TurnReport| turn.cost_usd.is_some() && !turn.output_is_partial;
        let priced = report.turns.iter().all(known);
        let is_priced = report.turns.iter().any(|turn| turn.cost_usd.is_some());
        let price = match (is_priced, priced) {
            (false, _) => "at unknown prices".to_owned(),
            (true, true) => format!("for {}", dollars(report.cost_usd)),
            (true, false) => format!("for at least {}", dollars(report.cost_usd)),
        };
        let sum = format!(
            "{} {price}, {:.1}% of prompts from the cache",
            grouped(report.rounds),
            report.cache_hit_rate * 100.0
        );
        self.heading(out, "Responses", &sum)?;
        self.curve(out)?;
        let usage = &report.usage;
        let facts = [
            format!("input {}", short(usage.input)),
            format!("cache read {}", short(usage.cache_read)),
            format!(
                "cache write {} (5 min) {} (1 h)",
                short(usage.cache_write_5m),
                short(usage.cache_write_1h)
            ),
            format!("output {}", short(usage.output)),
        ];
        self.facts(out, 2, DIM, &facts)?;
        if report.partial_outputs > 0 {
            let partial = count(
                report.partial_outputs,
                "response records",
                "responses record",
            );
            let facts = [format!("{partial} only a part of the output tokens")];
            self.facts(out, 2, DIM, &facts)?;
        }
        if let Some(beside) = report.cost_beside() {
            let runs = report.notes.runs;
            let mut facts = vec![format!(
                "with notes and summaries: {}{}",
                if priced { "" } else { "at least " },
                dollars(report.cost_usd + beside)
            )];
            if runs > 0 {
                let taken = count(runs, "time", "times");
                let cost = dollars(report.notes.cost_usd);
                facts.push(format!("notes taken {taken} for {cost}"));
            }
            self.facts(out, 2, anstyle::Style::new(), &facts)?;
        }
        let beside = &report.sidechains;
        if beside.rounds > 0 {
            let responses = count(beside.rounds, "response", "responses");
            let facts = [format!(
                "sub-agents in this file: {responses} for {}{}",
                if beside.partial_outputs == 0 {
                    ""
                } else {
                    "at least "
                },
                dollars(beside.cost_usd)
            )];
            self.facts(out, 2, anstyle::Style::new(), &facts)?;
        }
        writeln!(out)?;
        let shown = match turns {
            ListedTurns::All => report.turns.len(),
            ListedTurns::Last => LAST_TURNS.min(report.turns.len()),
        };
        out.push_str(&self.turns(&report.turns[report.turns.len() - shown..]));
        if shown < report.turns.len() {
            writeln!(
                out,
                "  {DIM}the last {shown} of {}; --turns lists all{DIM:#}",
                grouped(report.turns.len() as u64)
            )?;
        }
        Ok(())
    }

    /// How full the window was, response by response.
    fn curve(&self, out: &mut String) -> fmt::Result {
        let contexts: Vec<u64> = (self.report.turns.iter())
            .map(|turn| turn.context_tokens)
            .filter(|tokens| *tokens > 0)
            .collect();
        let Some(top) = contexts.iter().copied().max() else {
            return Ok(());
        };
        let top = format!("top {}", short(top));
        let curve = picture::curve(&contexts, self.width - 3 - columns(&top));
        writeln!(out, "  {curve} {DIM}{top}{DIM:#}")
    }

    fn turns(&self, turns: &[TurnReport]) -> String {
        let mut table = TextTable::new([
            Column::right("line"),
            Column::left("time").optional(3),
            Column::right("context"),
            Column::right("read").optional(4),
            Column::right("written").optional(5),
            Column::right("output").optional(2),
            Column::right("hit"),
            Column::right("cost"),
        ]);
        for turn in turns {
            let usage = &turn.usage;
            table.row([
                Cell::new(turn.line.to_string()),
                Cell::new(turn.timestamp.map_or_else(String::new, minute)),
                Cell::new(grouped(turn.context_tokens)),
                Cell::new(short(usage.cache_read)),
                Cell::new(short(usage.cache_write_5m + usage.cache_write_1h)),
                Cell::new(short(usage.output)),
                Cell::new(format!("{:.0}%", turn.cache_hit_rate * 100.0)),
                Cell::new(turn.cost_usd.map_or_else(|| "?".to_owned(), dollars)),
            ]);
        }
        table.render(2, self.width)
    }
}
