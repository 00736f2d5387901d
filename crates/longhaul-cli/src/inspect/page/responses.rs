//! The model's responses: what they cost, how full the window was, how much came from the cache.

use std::fmt::{self, Write};

use longhaul_core::inspect::TurnReport;

use super::{DIM, InspectPage, ListedTurns, minute, picture};
use crate::table::{Cell, Column, TextTable};
use crate::terminal::{dollars, grouped, short};
use crate::text::{columns, count};

/// The number of responses that are listed without `--turns`.
const LAST_TURNS: usize = 5;

/// An amount, which may be a lower bound.
fn bound(at_least: bool, amount: f64) -> String {
    let amount = dollars(amount);
    if at_least {
        format!("at least {amount}")
    } else {
        amount
    }
}

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
        self.costs_beside(out, priced)?;
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

    /// What was billed besides the responses, and all of it together.
    fn costs_beside(&self, out: &mut String, priced: bool) -> fmt::Result {
        let report = self.report;
        let mut total = report.cost_usd;
        let mut at_least = !priced;
        let lost = &report.lost_replies;
        if let Some(beside) = report.cost_beside() {
            total += beside;
            at_least |= lost.replies > 0;
            let name = match lost.replies {
                0 => "with notes and summaries",
                _ => "with notes, summaries and lost replies",
            };
            let mut facts = vec![format!("{name}: {}", bound(at_least, total))];
            let runs = report.notes.runs;
            if runs > 0 {
                let taken = count(runs, "time", "times");
                let cost = dollars(report.notes.cost_usd);
                facts.push(format!("notes taken {taken} for {cost}"));
            }
            if lost.replies > 0 {
                let replies = count(lost.replies, "reply", "replies");
                let cost = dollars(lost.cost_usd);
                facts.push(format!(
                    "{replies} broken off or not used for at least {cost}"
                ));
            }
            self.facts(out, 2, anstyle::Style::new(), &facts)?;
        }
        let (within, beside) = (&report.sidechains, self.sub_agents);
        if within.rounds == 0 && beside.files == 0 {
            return Ok(());
        }
        let mut facts = Vec::new();
        if within.rounds > 0 {
            let responses = count(within.rounds, "response", "responses");
            let cost = bound(within.partial_outputs > 0, within.cost_usd);
            facts.push(format!("sub-agents in this file: {responses} for {cost}"));
            at_least |= within.partial_outputs > 0;
            total += within.cost_usd;
        }
        if beside.files > 0 {
            let files = count(beside.files, "file", "files");
            let cost = bound(beside.at_least, beside.cost_usd);
            facts.push(format!(
                "sub-agents and searches in {files} beside this one: {cost}"
            ));
            at_least |= beside.at_least;
            total += beside.cost_usd;
        }
        facts.push(format!("all together: {}", bound(at_least, total)));
        self.facts(out, 2, anstyle::Style::new(), &facts)
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
