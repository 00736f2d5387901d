//! A replay for a person: one line that says it all, the policies of each window, the sessions, and what was assumed.

use std::fmt::Write;

use longhaul_core::money::Usd;

use super::policy_names::{APPEND_ONLY, policies};
use super::sessions::{ReplayedSession, short_name};
use super::totals::{PolicyTotal, WindowTotal};
use super::{ReplayResult, notes, window_name};
use crate::table::{Cell, Column, TextTable};
use crate::terminal::{dollars, grouped, short, width};
use crate::text::{clean, count, wrap, wrap_items};

/// The most sessions and reasons that are listed before the rest is only counted.
const LISTED: usize = 20;

pub(super) fn render(result: &ReplayResult) -> String {
    let width = width();
    let mut text = String::new();
    if !result.sessions.replayed.is_empty() {
        heading(&mut text, result);
        for window in &result.totals.windows {
            text.push('\n');
            line(&mut text, &headline(result, window), width);
            text.push('\n');
            text.push_str(&table(result, window).render(0, width));
        }
        if result.sessions.replayed.len() > 1 {
            text.push('\n');
            text.push_str(&sessions(result).render(0, width));
            let more = result.sessions.replayed.len().saturating_sub(LISTED);
            if more > 0 {
                let _ = writeln!(text, "{} more; --json lists all", grouped(more as u64));
            }
        }
        text.push_str("\nWhat is assumed:\n");
        list(&mut text, &notes::assumptions(result), width);
        let odd = notes::oddities(result);
        if !odd.is_empty() {
            text.push_str("\nWhat to know about the recordings:\n");
            list(&mut text, &odd, width);
        }
    }
    apart(&mut text, result, width);
    text
}

fn heading(text: &mut String, result: &ReplayResult) {
    let totals = &result.totals;
    let mut parts = vec![
        count(result.sessions.replayed.len() as u64, "session", "sessions"),
        count(totals.requests, "request", "requests"),
    ];
    if let Some((from, to)) = totals.span {
        let day = |time: jiff::Timestamp| time.strftime("%Y-%m-%d").to_string();
        parts.push(match (day(from), day(to)) {
            (from, to) if from == to => from,
            (from, to) => format!("{from} to {to}"),
        });
    }
    parts.push(clean(&totals.models.join(", ")));
    line(text, &parts.join(" · "), width());
}

/// All bills in one line.
pub(super) fn headline(result: &ReplayResult, window: &WindowTotal) -> String {
    let totals = &result.totals;
    let cost = |name: &str, cost: Usd| format!("{name} {}", dollars(cost.to_f64()));
    let mut parts = vec![
        cost("recorded", totals.recorded),
        cost(APPEND_ONLY, totals.append_only.cost),
    ];
    let shown = window
        .policies
        .iter()
        .filter(|policy| policy.name != "best clear");
    parts.extend(shown.map(|policy| cost(policy.name, policy.cost)));
    parts.join(" · ")
}

fn line(text: &mut String, sentence: &str, width: usize) {
    for line in wrap_items(sentence.split(" · "), " ·", width) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{line}");
    }
}

fn list(text: &mut String, sentences: &[String], width: usize) {
    for sentence in sentences {
        for (at, line) in wrap(&clean(sentence), width.saturating_sub(2))
            .iter()
            .enumerate()
        {
            let _ = writeln!(text, "{}{line}", if at == 0 { "- " } else { "  " });
        }
    }
}

fn table(result: &ReplayResult, window: &WindowTotal) -> TextTable<6> {
    let mut table = TextTable::new([
        Column::left("").down_to(12),
        Column::right("cost"),
        Column::right("of recorded"),
        Column::right("of append-only"),
        Column::right("summaries").optional(1),
        Column::right("clearings").optional(1),
    ]);
    let totals = &result.totals;
    table.section(&format!("In {}", window_name(window.window)));
    let recorded = totals.facts;
    table.row([
        Cell::new("recorded"),
        Cell::new(dollars(totals.recorded.to_f64())),
        Cell::new(""),
        Cell::new(ratio(totals.recorded, totals.append_only.cost)),
        Cell::new(grouped(recorded.compactions)),
        Cell::new(grouped(recorded.clearings)),
    ]);
    for policy in std::iter::once(&totals.append_only).chain(&window.policies) {
        table.row(row(policy, totals.recorded, totals.append_only.cost));
    }
    table
}

fn row(policy: &PolicyTotal, recorded: Usd, append_only: Usd) -> [Cell; 6] {
    [
        Cell::new(policy.name),
        Cell::new(dollars(policy.cost.to_f64())),
        Cell::new(ratio(policy.cost, recorded)),
        Cell::new(ratio(policy.cost, append_only)),
        Cell::new(grouped(policy.summaries)),
        Cell::new(grouped(policy.clearings)),
    ]
}

/// One amount as a part of another.
pub(super) fn ratio(part: Usd, whole: Usd) -> String {
    match whole.to_f64() {
        whole if whole > 0.0 => format!("{:.2}", part.to_f64() / whole),
        _ => String::new(),
    }
}

/// The sessions, the most expensive first.
fn sessions(result: &ReplayResult) -> TextTable<8> {
    let mut table = TextTable::new([
        Column::left("session").down_to(12),
        Column::right("requests").optional(2),
        Column::right("largest").optional(3),
        Column::right("recorded"),
        Column::right("off").optional(1),
        Column::right("clear"),
        Column::right("full"),
        Column::right("best"),
    ]);
    let mut all: Vec<&ReplayedSession> = result.sessions.replayed.iter().collect();
    all.sort_by_key(|session| std::cmp::Reverse(session.report.recorded.total()));
    for session in all.into_iter().take(LISTED) {
        let report = &session.report;
        let named = report.windows.first().map(policies).unwrap_or_default();
        let cost = |name: &str| {
            let policy = named.iter().find(|(known, _)| *known == name);
            Cell::new(policy.map_or(String::new(), |(_, policy)| {
                dollars(policy.total().to_f64())
            }))
        };
        table.row([
            Cell::new(clean(&short_name(&session.file))),
            Cell::new(grouped(report.requests)),
            Cell::new(short(report.append_only.peak())),
            Cell::new(dollars(report.recorded.total().to_f64())),
            cost("off"),
            cost("clear"),
            cost("full"),
            cost("best"),
        ]);
    }
    table
}

fn apart(text: &mut String, result: &ReplayResult, width: usize) {
    let apart = &result.sessions.apart;
    if apart.is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    let _ = writeln!(
        text,
        "Counted apart, in no total: {}",
        count(apart.len() as u64, "file", "files")
    );
    let listed = apart.iter().take(LISTED);
    let listed: Vec<String> = listed
        .map(|one| format!("{}: {}", one.file, one.reason))
        .collect();
    list(text, &listed, width);
    if apart.len() > LISTED {
        let more = grouped((apart.len() - LISTED) as u64);
        let _ = writeln!(text, "- {more} more; --json lists all");
    }
}
