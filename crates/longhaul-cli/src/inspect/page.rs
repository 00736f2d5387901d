//! One file's report for a person.

use std::fmt::{self, Write};

use anstyle::{AnsiColor, Style};
use jiff::Timestamp;
use longhaul_core::inspect::{Report, Turn};
use longhaul_core::window::Level;

use super::picture;
use crate::terminal::{cut, grouped, has_colour, short, width};

/// Responses shown without `--turns`.
const LAST_TURNS: usize = 5;
/// Problems shown before the rest is only counted.
const PROBLEMS: usize = 20;

const HEADING: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

pub(super) fn render(name: &str, report: &Report, all_turns: bool) -> String {
    let page = Page {
        report,
        width: width(),
        colour: has_colour(),
    };
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = page.write(&mut text, name, all_turns);
    text
}

struct Page<'a> {
    report: &'a Report,
    width: usize,
    colour: bool,
}

impl Page<'_> {
    fn write(&self, out: &mut String, name: &str, all_turns: bool) -> fmt::Result {
        self.head(out, name)?;
        self.window(out)?;
        self.compactions(out)?;
        self.responses(out, all_turns)?;
        self.tools(out)?;
        self.results(out)?;
        self.notes(out)?;
        self.problems(out)
    }

    fn head(&self, out: &mut String, name: &str) -> fmt::Result {
        let report = self.report;
        writeln!(out, "{HEADING}{}{HEADING:#}", cut(name, self.width))?;
        let mut facts = vec![
            format!("{} entries", grouped(report.entries)),
            format!("{} messages in view", grouped(report.messages)),
            format!("{} responses", grouped(report.rounds)),
        ];
        if let Some(session) = &report.session_id {
            facts.insert(0, format!("session {}", cut(session, 40)));
        }
        writeln!(out, "{}", cut(&facts.join(" · "), self.width))?;
        let times = report.turns.iter().filter_map(|turn| turn.timestamp);
        if let (Some(first), Some(last)) = (times.clone().min(), times.max()) {
            writeln!(out, "{DIM}{} to {} UTC{DIM:#}", minute(first), minute(last))?;
        }
        Ok(())
    }

    fn window(&self, out: &mut String) -> fmt::Result {
        let report = self.report;
        let model = report.window.model.as_deref().unwrap_or("no model named");
        let size = grouped(report.window.size);
        writeln!(out, "\n{HEADING}Window{HEADING:#}  {model}, {size} tokens")?;
        let width = self.width - 2;
        writeln!(out, "  {}", picture::bar(report, width, self.colour))?;
        writeln!(out, "  {DIM}{}{DIM:#}", picture::ruler(report, width))?;
        let level = level_style(report.level);
        let left = report.thresholds.percent_left;
        let word = level_word(report.level);
        writeln!(
            out,
            "  {level}{} tokens in use, {left}% left{level:#}: {word}",
            grouped(report.context_tokens)
        )?;
        writeln!(
            out,
            "  {DIM}{} measured by the provider, {} estimated since{DIM:#}",
            grouped(report.measured),
            signed(report.estimated)
        )?;
        self.limits(out)?;
        writeln!(out)?;
        let total = report.context_tokens.max(1);
        for part in picture::parts(report).iter().filter(|part| part.tokens > 0) {
            let share = part.tokens * 100 / total;
            let (style, mark) = (part.style(), part.mark(self.colour));
            let tokens = grouped(part.tokens);
            writeln!(
                out,
                "  {style}{mark}{style:#} {:<31} {tokens:>11} {share:>4}%",
                part.name
            )?;
            if part.name == "tool results" {
                for (tool, tokens) in sorted(report.categories.tool_results_by_tool.iter())
                    .into_iter()
                    .take(6)
                {
                    writeln!(
                        out,
                        "    {DIM}{:<29} {:>11}{DIM:#}",
                        cut(tool, 29),
                        grouped(tokens)
                    )?;
                }
            }
        }
        if report.categories.duplicate_reads > 0 {
            let tokens = grouped(report.categories.duplicate_reads);
            writeln!(
                out,
                "    {DIM}of which files read again     {tokens:>11}{DIM:#}"
            )?;
        }
        Ok(())
    }

    fn limits(&self, out: &mut String) -> fmt::Result {
        let thresholds = &self.report.thresholds;
        let compact = match thresholds.auto_compact_enabled {
            true => format!("auto-compact (c) {}", grouped(thresholds.auto_compact)),
            false => "auto-compact off".to_owned(),
        };
        writeln!(
            out,
            "  {DIM}warning (w) {} · {compact} · blocking (b) {} · effective window {}{DIM:#}",
            grouped(thresholds.warning),
            grouped(thresholds.blocking),
            grouped(self.report.window.effective)
        )
    }

    fn compactions(&self, out: &mut String) -> fmt::Result {
        let report = self.report;
        if report.boundaries.is_empty() && report.clearings.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{HEADING}Compactions{HEADING:#}")?;
        for boundary in &report.boundaries {
            let before = boundary.pre_tokens.unwrap_or(boundary.replaced.tokens);
            write!(
                out,
                "  line {:<7} {:<6} {:>9} tokens: {} entries replaced by a summary of {}",
                boundary.line,
                boundary.trigger.as_deref().unwrap_or("?"),
                grouped(before),
                grouped(boundary.replaced.entries),
                grouped(boundary.summary_tokens)
            )?;
            match boundary.preserved {
                0 => writeln!(out)?,
                kept => writeln!(out, ", {} kept", grouped(kept))?,
            }
        }
        for clearing in &report.clearings {
            let saved = clearing
                .tokens_saved
                .map_or_else(|| "?".to_owned(), grouped);
            writeln!(
                out,
                "  line {:<7} {:<6} {:>9} tokens: {} tool results cleared, {saved} saved",
                clearing.line,
                clearing.trigger.as_deref().unwrap_or("?"),
                clearing.pre_tokens.map_or_else(|| "?".to_owned(), grouped),
                clearing.results,
            )?;
        }
        Ok(())
    }

    fn responses(&self, out: &mut String, all: bool) -> fmt::Result {
        let report = self.report;
        if report.turns.is_empty() {
            return Ok(());
        }
        let cost = dollars(report.cost_usd);
        let hit = report.cache_hit_rate * 100.0;
        writeln!(
            out,
            "\n{HEADING}Responses{HEADING:#}  {} for {cost}, {hit:.1}% of prompts from the cache",
            grouped(report.rounds)
        )?;
        let contexts: Vec<u64> = report
            .turns
            .iter()
            .map(|turn| turn.context_tokens)
            .filter(|tokens| *tokens > 0)
            .collect();
        let top = contexts.iter().copied().max().unwrap_or(0);
        writeln!(
            out,
            "  {} {DIM}top {}{DIM:#}",
            picture::curve(&contexts, self.width - 16),
            short(top)
        )?;
        let usage = &report.usage;
        writeln!(
            out,
            "  {DIM}input {} · cache read {} · cache write {} (5 min) {} (1 h) · output {}{DIM:#}",
            short(usage.input),
            short(usage.cache_read),
            short(usage.cache_write_5m),
            short(usage.cache_write_1h),
            short(usage.output)
        )?;
        if report.sidechains.rounds > 0 {
            let beside = &report.sidechains;
            writeln!(
                out,
                "  sub-agents in this file: {} responses for {}",
                grouped(beside.rounds),
                dollars(beside.cost_usd)
            )?;
        }
        let shown = if all {
            report.turns.len()
        } else {
            LAST_TURNS.min(report.turns.len())
        };
        writeln!(
            out,
            "\n  {DIM}{:>7} {:<16} {:>9} {:>8} {:>8} {:>8} {:>6} {:>9}{DIM:#}",
            "line", "time", "context", "read", "written", "output", "hit", "cost"
        )?;
        for turn in &report.turns[report.turns.len() - shown..] {
            writeln!(out, "  {}", turn_row(turn))?;
        }
        if shown < report.turns.len() {
            writeln!(
                out,
                "  {DIM}the last {shown} of {}; --turns lists all{DIM:#}",
                report.turns.len()
            )?;
        }
        Ok(())
    }

    fn tools(&self, out: &mut String) -> fmt::Result {
        let report = self.report;
        if report.tools.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{HEADING}Tools{HEADING:#}  {DIM}whole file{DIM:#}")?;
        writeln!(
            out,
            "  {DIM}{:<28} {:>7} {:>14} {:>14}{DIM:#}",
            "", "calls", "result tokens", "call tokens"
        )?;
        let order = sorted(report.tools.iter().map(|(name, tool)| (name, &tool.tokens)));
        for (name, _) in order {
            let tool = &report.tools[name];
            writeln!(
                out,
                "  {:<28} {:>7} {:>14} {:>14}",
                cut(name, 28),
                grouped(tool.calls),
                grouped(tool.tokens),
                grouped(tool.request_tokens)
            )?;
        }
        Ok(())
    }

    fn results(&self, out: &mut String) -> fmt::Result {
        let report = self.report;
        if !report.largest_results.is_empty() {
            writeln!(out, "\n{HEADING}Largest tool results{HEADING:#}")?;
        }
        for result in &report.largest_results {
            let place = if result.in_view { "in view" } else { "gone" };
            let about = result.about.as_deref().unwrap_or("");
            let tool = cut(result.tool.as_deref().unwrap_or("?"), 14);
            let room = self.width.saturating_sub(50).max(10);
            writeln!(
                out,
                "  {:>9} tokens  line {:<7} {place:<7} {tool:<14} {DIM}{}{DIM:#}",
                grouped(result.tokens),
                result.line,
                cut(about, room)
            )?;
        }
        let repeated = &report.duplicate_reads;
        if repeated.count > 0 {
            writeln!(
                out,
                "\n{HEADING}Files read again{HEADING:#}  {} times, {} tokens",
                grouped(repeated.count),
                grouped(repeated.tokens)
            )?;
            let order = sorted(
                repeated
                    .files
                    .iter()
                    .map(|(path, file)| (path, &file.tokens)),
            );
            for (path, tokens) in order.into_iter().take(5) {
                let times = repeated.files[path].count;
                let path = cut(path, self.width.saturating_sub(32).max(20));
                writeln!(out, "  {:>9} tokens  {times:>3}×  {path}", grouped(tokens))?;
            }
        }
        Ok(())
    }

    fn notes(&self, out: &mut String) -> fmt::Result {
        if !self.report.assumptions.is_empty() {
            writeln!(out, "\n{HEADING}Assumed{HEADING:#}")?;
        }
        for assumption in &self.report.assumptions {
            writeln!(out, "  {assumption}")?;
        }
        Ok(())
    }

    fn problems(&self, out: &mut String) -> fmt::Result {
        let problems = &self.report.problems;
        if problems.is_empty() {
            return writeln!(out, "\nNo problems found.");
        }
        let red = Style::new().fg_color(Some(AnsiColor::Red.into())).bold();
        writeln!(
            out,
            "\n{red}Problems{red:#}  {}",
            grouped(problems.len() as u64)
        )?;
        for problem in problems.iter().take(PROBLEMS) {
            writeln!(
                out,
                "  line {:<7} {:<16} {}",
                problem.line,
                problem.kind.name(),
                problem.message
            )?;
        }
        if problems.len() > PROBLEMS {
            writeln!(
                out,
                "  {DIM}and {} more; --json lists all{DIM:#}",
                problems.len() - PROBLEMS
            )?;
        }
        Ok(())
    }
}

fn turn_row(turn: &Turn) -> String {
    let usage = &turn.usage;
    format!(
        "{:>7} {:<16} {:>9} {:>8} {:>8} {:>8} {:>5.0}% {:>9}",
        turn.line,
        turn.timestamp.map_or_else(String::new, minute),
        grouped(turn.context_tokens),
        short(usage.cache_read),
        short(usage.cache_write_5m + usage.cache_write_1h),
        short(usage.output),
        turn.cache_hit_rate * 100.0,
        turn.cost_usd.map_or_else(|| "?".to_owned(), dollars)
    )
}

/// Names with their counts, the largest first.
fn sorted<'a>(counts: impl Iterator<Item = (&'a String, &'a u64)>) -> Vec<(&'a String, u64)> {
    let mut counts: Vec<_> = counts.map(|(name, count)| (name, *count)).collect();
    counts.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    counts
}

fn minute(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M").to_string()
}

pub(super) fn dollars(amount: f64) -> String {
    match amount {
        amount if amount >= 100.0 => format!("${amount:.0}"),
        amount if amount >= 1.0 || amount == 0.0 => format!("${amount:.2}"),
        amount => format!("${amount:.4}"),
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

pub(super) fn level_style(level: Level) -> Style {
    let colour = match level {
        Level::Ok => AnsiColor::Green,
        Level::Warning => AnsiColor::Yellow,
        Level::AutoCompact | Level::Blocking => AnsiColor::Red,
    };
    Style::new().fg_color(Some(colour.into())).bold()
}

fn level_word(level: Level) -> &'static str {
    match level {
        Level::Ok => "fine",
        Level::Warning => "near the limit",
        Level::AutoCompact => "due for compaction",
        Level::Blocking => "full; input would be refused",
    }
}
