//! Tools: how often each was called, the largest results, and files that were read twice.

use std::fmt::{self, Write};

use super::{InspectPage, sorted};
use crate::table::{Cell, Column, TextTable};
use crate::terminal::grouped;
use crate::text::{count, wrap};

/// The most files to list that were read again.
const FILES: usize = 5;

impl InspectPage<'_> {
    pub(super) fn tools(&self, out: &mut String) -> fmt::Result {
        let tools = &self.report.tools;
        if tools.is_empty() {
            return Ok(());
        }
        let mut table = TextTable::new([
            Column::left("").down_to(16),
            Column::right("calls"),
            Column::right("result tokens"),
            Column::right("call tokens").optional(1),
        ]);
        for (name, _) in sorted(tools.iter().map(|(name, tool)| (name, &tool.tokens))) {
            let tool = &tools[name];
            table.row([
                Cell::path(name),
                Cell::new(grouped(tool.calls)),
                Cell::new(grouped(tool.tokens)),
                Cell::new(grouped(tool.request_tokens)),
            ]);
        }
        self.heading(out, "Tools", "in the whole file")?;
        out.push_str(&table.render(2, self.width));
        self.reduced_results(out)
    }

    /// Results that were made smaller before they were sent.
    fn reduced_results(&self, out: &mut String) -> fmt::Result {
        let tools = || self.report.tools.values();
        let reduced: u64 = tools().map(|tool| tool.reduced_results).sum();
        if reduced == 0 {
            return Ok(());
        }
        let tokens = tools().map(|tool| tool.reduced_tokens).sum();
        let sentence = format!(
            "{} sent in a smaller form, {} tokens less each time; the file keeps what came, and `longhaul recall` shows it.",
            count(reduced, "result was", "results were"),
            grouped(tokens)
        );
        for line in wrap(&sentence, self.width - 2) {
            writeln!(out, "  {line}")?;
        }
        Ok(())
    }

    pub(super) fn largest_results(&self, out: &mut String) -> fmt::Result {
        let results = &self.report.largest_results;
        if results.is_empty() {
            return Ok(());
        }
        let mut table = TextTable::new([
            Column::right("tokens"),
            Column::right("line"),
            Column::left("").optional(1),
            Column::left("tool").down_to(8),
            Column::left("about").down_to(16),
        ]);
        for result in results {
            table.row([
                Cell::new(grouped(result.tokens)),
                Cell::new(result.line.to_string()),
                Cell::new(match (result.in_view, result.reduced) {
                    (true, true) => "in view, reduced",
                    (true, false) => "in view",
                    (false, _) => "gone",
                }),
                Cell::path(result.tool.as_deref().unwrap_or("?")),
                about(result.about.as_deref().unwrap_or_default()).dim(),
            ]);
        }
        self.heading(out, "Largest tool results", "")?;
        out.push_str(&table.render(2, self.width));
        Ok(())
    }

    pub(super) fn repeated_reads(&self, out: &mut String) -> fmt::Result {
        let repeated = &self.report.duplicate_reads;
        if repeated.count == 0 {
            return Ok(());
        }
        let mut table = TextTable::new([
            Column::right("tokens"),
            Column::right("times"),
            Column::left("file").down_to(20),
        ]);
        let tokens = (repeated.files.iter()).map(|(path, file)| (path, &file.tokens));
        for (path, tokens) in sorted(tokens).into_iter().take(FILES) {
            table.row([
                Cell::new(grouped(tokens)),
                Cell::new(grouped(repeated.files[path].count)),
                Cell::path(path),
            ]);
        }
        let times = count(repeated.count, "time", "times");
        let sum = format!("{times}, {} tokens", grouped(repeated.tokens));
        self.heading(out, "Files read again", &sum)?;
        out.push_str(&table.render(2, self.width));
        Ok(())
    }
}

/// The subject of a call. The end of a path says the most, the beginning of a command does.
fn about(text: &str) -> Cell {
    let text = text.trim();
    if text.starts_with(['/', '~']) && !text.contains(char::is_whitespace) {
        Cell::path(text)
    } else {
        Cell::new(text)
    }
}
