//! Where the prompt cache broke, as far as usage shows.

use std::fmt::{self, Write};

use super::{DIM, InspectPage};
use crate::table::{Cell, Column, TextTable};
use crate::terminal::{dollars, grouped};
use crate::text::count;

/// The most breaks to list; --json lists all.
const LAST_BREAKS: usize = 8;

impl InspectPage<'_> {
    pub(super) fn cache_breaks(&self, out: &mut String) -> fmt::Result {
        let breaks = &self.report.cache_breaks;
        if breaks.is_empty() {
            return Ok(());
        }
        let total = &self.report.cache_break_totals;
        let sum = format!(
            "{}, {} tokens read before and not again, {}",
            count(total.breaks, "break", "breaks"),
            grouped(total.lost_tokens),
            dollars(total.cost_usd)
        );
        self.heading(out, "Cache", &sum)?;
        let mut table = TextTable::new([
            Column::right("line"),
            Column::right("read before").optional(3),
            Column::right("read now").optional(2),
            Column::right("lost"),
            Column::right("cost").optional(4),
            Column::left("why").down_to(20),
        ]);
        let shown = LAST_BREAKS.min(breaks.len());
        for found in &breaks[breaks.len() - shown..] {
            table.row([
                Cell::new(found.line.to_string()),
                Cell::new(grouped(found.from)),
                Cell::new(grouped(found.to)),
                Cell::new(grouped(found.lost_tokens)),
                Cell::new(found.cost_usd.map_or_else(|| "?".to_owned(), dollars)),
                Cell::sentence(why(found.cause, found.idle_seconds)),
            ]);
        }
        out.push_str(&table.render(2, self.width));
        if shown < breaks.len() {
            let all = grouped(breaks.len() as u64);
            writeln!(
                out,
                "  {DIM}the last {shown} of {all}; --json lists all{DIM:#}"
            )?;
        }
        Ok(())
    }
}

fn why(cause: &str, idle_seconds: Option<i64>) -> String {
    let idle = match idle_seconds {
        None => "some time".to_owned(),
        Some(seconds @ ..120) => format!("{seconds} s"),
        Some(seconds @ 120..7_200) => format!("{} min", seconds / 60),
        Some(seconds) => format!("{} h", seconds / 3_600),
    };
    match cause {
        "model" => "another model".to_owned(),
        "rewind" => "continued from an earlier point".to_owned(),
        "shorter_prompt" => "there was less to read".to_owned(),
        "expired_5m" => format!("idle for {idle}, cached for 5 min"),
        "expired_1h" => format!("idle for {idle}, cached for 1 h"),
        _ => format!("usage does not show why; {idle} after the last"),
    }
}
