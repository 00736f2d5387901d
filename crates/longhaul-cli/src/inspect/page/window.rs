//! The window: its picture, how full it is, its limits, and what fills it (H, T4).

use std::fmt::{self, Write};

use super::{DIM, InspectPage, picture, sorted};
use crate::inspect::level;
use crate::table::{Cell, Column, TextTable};
use crate::terminal::{grouped, share};
use crate::text::wrap;

/// The number of tools that are listed below the tool results.
const TOOLS: usize = 6;

impl InspectPage<'_> {
    pub(super) fn window(&self, out: &mut String) -> fmt::Result {
        let report = self.report;
        let model = report.window.model.as_deref().unwrap_or("no model named");
        let size = grouped(report.window.size);
        self.heading(out, "Window", &format!("{model}, {size} tokens"))?;
        let width = self.width - 2;
        writeln!(out, "  {}", picture::bar(report, width, self.color))?;
        writeln!(out, "  {DIM}{}{DIM:#}", picture::ruler(report, width))?;
        let style = level::style(report.level);
        let use_and_level = format!(
            "{} tokens in use, {}% left until {}: {}",
            grouped(report.context_tokens),
            report.thresholds.percent_left,
            if report.thresholds.auto_compact_enabled {
                "compaction"
            } else {
                "input is refused"
            },
            level::word(report.level)
        );
        for line in wrap(&use_and_level, width) {
            writeln!(out, "  {style}{line}{style:#}")?;
        }
        self.facts(out, 2, DIM, &self.origin())?;
        self.facts(out, 2, DIM, &self.limits())?;
        writeln!(out)?;
        out.push_str(&self.parts());
        Ok(())
    }

    /// The source of the figure.
    fn origin(&self) -> Vec<String> {
        let report = self.report;
        if report.measured == 0 {
            let unmeasured = match report.context_tokens {
                0 => "nothing to count yet",
                _ => "all of it estimated: no reply in view was measured",
            };
            let unmeasured = unmeasured.to_owned();
            return [unmeasured].into_iter().chain(self.likely()).collect();
        }
        let mut facts = vec![
            format!("{} measured by the provider", grouped(report.measured)),
            format!("{} estimated since", signed(report.estimated)),
        ];
        if report.cleared > 0 {
            facts.push(format!("{} cleared since", grouped(report.cleared)));
        }
        facts.extend(self.likely());
        facts
    }

    /// The likely size where it was not measured, and how far it may be off.
    fn likely(&self) -> Option<String> {
        let likely = self.report.calibrated?;
        let (tokens, bound) = (grouped(likely.tokens), grouped(likely.bound));
        (likely.bound > 0).then(|| format!("likely {tokens} ± {bound} in all"))
    }

    fn limits(&self) -> Vec<String> {
        let thresholds = &self.report.thresholds;
        let compact = if thresholds.auto_compact_enabled {
            format!("auto-compact (c) {}", grouped(thresholds.auto_compact))
        } else {
            "auto-compact off".to_owned()
        };
        vec![
            format!("warning (w) {}", grouped(thresholds.warning)),
            compact,
            format!("blocking (b) {}", grouped(thresholds.blocking)),
            format!("effective window {}", grouped(self.report.window.effective)),
        ]
    }

    /// What fills the window, by category.
    fn parts(&self) -> String {
        let report = self.report;
        let mut table = TextTable::new([
            Column::left(""),
            Column::left("").down_to(20),
            Column::right(""),
            Column::right(""),
        ]);
        for part in picture::parts(report).iter().filter(|part| part.tokens > 0) {
            let mark = part.mark(self.color).to_string();
            table.row([
                Cell::new(mark).styled(part.style()),
                Cell::new(part.name),
                Cell::new(grouped(part.tokens)),
                Cell::new(share(part.tokens, report.context_tokens)),
            ]);
            for (name, tokens) in self.within(part.name) {
                table.row([
                    Cell::new(""),
                    Cell::path(format!("  {name}")).dim(),
                    Cell::new(grouped(tokens)).dim(),
                    Cell::new(""),
                ]);
            }
        }
        table.render(2, self.width)
    }

    /// The details of a part, as far as they are known.
    fn within(&self, part: &str) -> Vec<(String, u64)> {
        let shares = self.report.categories.shares(self.report.context_tokens);
        let mut inside: Vec<(String, u64)> = Vec::new();
        if part == picture::PROMPT {
            let parts = [
                ("system prompt", shares.system_prompt),
                ("tool definitions", shares.tools),
                ("memory files", shares.memory_files),
            ];
            inside.extend(parts.map(|(name, tokens)| (name.to_owned(), tokens)));
        }
        if part == picture::TOOL_RESULTS {
            let tools = sorted(shares.tool_results_by_tool.iter());
            // One tool more takes no more room than the line that says so.
            let shown = match tools.len() {
                all if all <= TOOLS + 1 => all,
                _ => TOOLS,
            };
            let (listed, others) = tools.split_at(shown);
            let listed = listed.iter();
            inside.extend(listed.map(|(tool, tokens)| ((*tool).clone(), *tokens)));
            let name = format!("{} other tools", others.len());
            inside.push((name, others.iter().map(|(_, tokens)| tokens).sum()));
            let again = "of which files read again".to_owned();
            inside.push((again, shares.duplicate_reads));
        }
        inside.retain(|(_, tokens)| *tokens > 0);
        inside
    }
}

fn signed(number: i64) -> String {
    let digits = grouped(number.unsigned_abs());
    if number < 0 {
        format!("−{digits}")
    } else {
        digits
    }
}
