//! Assumptions, and problems of the file.

use std::fmt::{self, Write};

use anstyle::{AnsiColor, Style};

use super::{DIM, InspectPage};
use crate::table::{Cell, Column, TextTable};
use crate::terminal::grouped;
use crate::text::{clean, wrap};

/// The number of problems that are listed before the rest is only counted.
const PROBLEMS: usize = 20;

impl InspectPage<'_> {
    pub(super) fn assumptions(&self, out: &mut String) -> fmt::Result {
        if self.report.assumptions.is_empty() {
            return Ok(());
        }
        self.heading(out, "Assumed", "")?;
        for assumption in &self.report.assumptions {
            for (at, line) in wrap(&clean(assumption), self.width - 4).iter().enumerate() {
                writeln!(
                    out,
                    "  {:indent$}{line}",
                    "",
                    indent = if at == 0 { 0 } else { 2 }
                )?;
            }
        }
        Ok(())
    }

    pub(super) fn problems(&self, out: &mut String) -> fmt::Result {
        let problems = &self.report.problems;
        if problems.is_empty() {
            return writeln!(out, "\nNo problems found.");
        }
        let red = Style::new().fg_color(Some(AnsiColor::Red.into())).bold();
        let number = grouped(problems.len() as u64);
        writeln!(out, "\n{red}Problems{red:#}  {number}")?;
        let mut table = TextTable::new([
            Column::right("line"),
            Column::left("kind").optional(1),
            Column::left("what is wrong").down_to(24),
        ]);
        for problem in problems.iter().take(PROBLEMS) {
            table.row([
                Cell::new(problem.line.to_string()),
                Cell::new(problem.kind.name()),
                Cell::sentence(&problem.message),
            ]);
        }
        out.push_str(&table.render(2, self.width));
        if problems.len() > PROBLEMS {
            let more = grouped((problems.len() - PROBLEMS) as u64);
            writeln!(out, "  {DIM}and {more} more; --json lists all{DIM:#}")?;
        }
        Ok(())
    }
}
