//! The usage log for a person: one line that says it all, a line of bars, and a table.

use anstyle::Style;
use jiff::Timestamp;
use longhaul_gateway::savings::{SavingsGrouping, SavingsReport, SavingsRow};

use super::{period, sparkline};
use crate::table::{Cell, Column, TextTable};
use crate::terminal::{dollars, short, width};
use crate::text::{count, wrap};

/// The most rows that are listed before the rest is only counted.
const LISTED: usize = 40;

/// The page. `days` is the same log, day by day.
pub(super) fn render(
    report: &SavingsReport,
    days: &SavingsReport,
    since: Option<Timestamp>,
    now: Timestamp,
) -> String {
    let width = width();
    let mut text = String::new();
    for total in [Some(&report.total), report.simulated.as_ref()]
        .into_iter()
        .flatten()
    {
        for line in wrap(&headline(total, since), width) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    let by_day: Vec<_> = days
        .rows
        .iter()
        .filter(|row| row.simulated == report.total.simulated)
        .filter_map(|row| Some((row.key.parse().ok()?, row.saved_usd.unwrap_or(0.0))))
        .collect();
    let bars = sparkline::of(&by_day, width.saturating_sub(30));
    if by_day.len() > 1 {
        let last = now.strftime("%Y-%m-%d");
        let first = days.rows.first().map_or("", |row| row.key.as_str());
        text.push_str(&format!("{first} {bars} {last}: saved by day\n"));
    }
    text.push('\n');
    text.push_str(&table(report).render(0, width));
    let more = report.rows.len().saturating_sub(LISTED);
    if more > 0 {
        text.push_str(&format!("{more} more; --json lists all\n"));
    }
    text
}

fn headline(total: &SavingsRow, since: Option<Timestamp>) -> String {
    let since = period::in_words(since);
    let saved = match total.saved_usd {
        Some(saved) if saved > 0.0 => format!("at least {} saved", dollars(saved)),
        Some(saved) if saved < 0.0 => format!(
            "making room cost {} more than it has saved so far",
            dollars(-saved)
        ),
        Some(_) => "nothing saved: no conversation had to be made smaller".to_owned(),
        None => "saved at prices that are not known".to_owned(),
    };
    let spent = match total.cost_usd {
        Some(cost) => format!("{} spent", dollars(cost)),
        None => "spent at prices that are not known".to_owned(),
    };
    let managing = match total.summaries_cost_usd {
        cost if cost > 0.0 => format!(" ({} of it to make room)", dollars(cost)),
        _ => String::new(),
    };
    let unknown = match (total.cost_usd, total.unpriced) {
        (None, _) | (_, 0) => String::new(),
        (Some(_), number) => format!(
            " (without {} at unknown prices)",
            count(number, "call", "calls")
        ),
    };
    let unmeasured = match total.unmeasured {
        0 => String::new(),
        number => format!(
            " Of {}, the upstream did not say what was used.",
            count(number, "call", "calls")
        ),
    };
    let own = match total.own_calls {
        0 => String::new(),
        number => format!(" and {number} of the gateway's own"),
    };
    let simulated = match total.simulated {
        true => "Simulated, so that nothing was paid: ",
        false => "",
    };
    format!(
        "{simulated}{}{own}{since}: {spent}{managing}{unknown}, {saved}; {} tokens not sent, {}.{unmeasured}",
        count(total.calls, "call", "calls"),
        short(total.saved_tokens),
        count(total.compactions, "compaction", "compactions"),
    )
}

fn table(report: &SavingsReport) -> TextTable<9> {
    let mut table = TextTable::new([
        Column::left(report.by.name()).down_to(24),
        Column::right("calls"),
        Column::right("in").optional(4),
        Column::right("from cache").optional(5),
        Column::right("to cache").optional(6),
        Column::right("out").optional(3),
        Column::right("spent"),
        Column::right("not sent").optional(2),
        Column::right("saved"),
    ]);
    let listed = match report.by {
        // The newest days matter most.
        SavingsGrouping::Day => report.rows.len().saturating_sub(LISTED)..report.rows.len(),
        _ => 0..report.rows.len().min(LISTED),
    };
    for row in report.rows.get(listed).unwrap_or_default() {
        let key = if row.key.is_empty() {
            "(unknown)"
        } else {
            &row.key
        };
        let key = match row.simulated {
            true => format!("{key}, simulated"),
            false => key.to_owned(),
        };
        table.row(cells(&key, row));
    }
    let bold = Style::new().bold();
    for total in [Some(&report.total), report.simulated.as_ref()]
        .into_iter()
        .flatten()
    {
        let name = match total.simulated {
            true => "all, simulated",
            false => "all",
        };
        table.row(cells(name, total).map(|cell| cell.styled(bold)));
    }
    table
}

fn cells(key: &str, row: &SavingsRow) -> [Cell; 9] {
    let saved = match row.saved_usd {
        Some(saved) => dollars(saved),
        None => "?".to_owned(),
    };
    [
        Cell::new(key),
        Cell::new(row.calls.to_string()),
        Cell::new(short(row.input_tokens)),
        Cell::new(short(row.cache_read_tokens)),
        Cell::new(short(row.cache_write_tokens)),
        Cell::new(short(row.output_tokens)),
        Cell::new(row.cost_usd.map_or_else(|| "?".to_owned(), dollars)),
        Cell::new(short(row.saved_tokens)),
        Cell::new(saved),
    ]
}
