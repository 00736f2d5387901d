//! Compactions and clearings, in the order in which they happened, and what each replaced.

use std::fmt::{self, Write};

use longhaul_core::inspect::{
    BoundaryReport, ClearingReport, ClearingWay, EconomyReport, SummaryOriginReport,
};

use super::{DIM, InspectPage};
use crate::table::{Cell, Column, TextTable};
use crate::terminal::{dollars, grouped};
use crate::text::{clean, count};

/// The most compactions and clearings to list; a long session has hundreds.
const LAST_EVENTS: usize = 12;

impl InspectPage<'_> {
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
        let mut table = TextTable::new([
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
        Some(said) if said.verbatim == said.total => {
            "; everything the user said is kept".to_owned()
        }
        Some(said) => {
            let (whole, all) = (grouped(said.verbatim), grouped(said.total));
            format!("; {whole} of {all} user messages word for word")
        }
        None => String::new(),
    };
    let summary = match boundary.folds {
        Some(spans) => format!("{} of {summary} tokens", count(spans, "fold", "folds")),
        None => format!("a summary of {summary} tokens"),
    };
    let made = boundary.made.as_ref().map(made).unwrap_or_default();
    let pays = pays(boundary.economy.as_ref());
    format!("{entries} replaced by {summary}{kept}{said}{made}{pays}")
}

/// Who wrote the summary, what it cost and how long a turn waited for it.
fn made(made: &SummaryOriginReport) -> String {
    let by = match made.by.as_deref() {
        Some("fork") => "a fork of the conversation",
        Some("plain") => "a request of its own",
        Some("local") => "no model",
        Some("approved") => "the user's approval",
        Some("provider") => "the provider",
        Some("notes") => "session notes",
        Some("fold") => "folding",
        Some(other) => &clean(other),
        None => "?",
    };
    let cost = match made.cost_usd {
        // What was paid was for a model that did not deliver.
        Some(cost) if made.by.as_deref() == Some("local") && cost > 0.0 => {
            format!(" (attempts with one cost {})", dollars(cost))
        }
        Some(cost) => format!(", {}", dollars(cost)),
        None => String::new(),
    };
    let took = made.took_ms.map(|took| format!(", took {}", seconds(took)));
    let waited = match (made.ahead, made.waited_ms) {
        (true, None | Some(0)) => ", prepared ahead".to_owned(),
        (true, Some(waited)) => format!(", prepared ahead, waited {}", seconds(waited)),
        (false, Some(waited)) => format!(", waited {}", seconds(waited)),
        (false, None) => String::new(),
    };
    format!("; by {by}{cost}{}{waited}", took.unwrap_or_default())
}

fn seconds(ms: u64) -> String {
    format!("{}.{} s", grouped(ms / 1_000), ms % 1_000 / 100)
}

fn cleared(clearing: &ClearingReport) -> String {
    let results = count(clearing.results, "tool result", "tool results");
    let done = match clearing.way {
        ClearingWay::Replaced => "cleared",
        ClearingWay::CacheEdits => "deleted from the provider's cache",
        _ => "taken out of the view",
    };
    let pays = pays(clearing.economy.as_ref());
    match clearing.tokens_saved {
        Some(saved) => format!("{results} {done}, {} tokens saved{pays}", grouped(saved)),
        None => format!("{results} {done}{pays}"),
    }
}

/// What a decision by price cost, and what has become of it.
fn pays(economy: Option<&EconomyReport>) -> String {
    economy.map_or_else(String::new, |economy| {
        format!("; because it pays: {}", economy.sentence())
    })
}
