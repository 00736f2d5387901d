//! The report about one file for a person: one module per section, from the most to the least urgent.

mod cache_breaks;
mod compactions;
mod findings;
mod picture;
mod responses;
mod tools;
mod window;

use std::fmt::{self, Write};

use anstyle::Style;
use jiff::Timestamp;
use longhaul_core::inspect::InspectionReport;

use super::sub_agents::SubAgentFiles;
use crate::terminal::{grouped, has_color, minute, width};
use crate::text::{clean, columns, count, wrap, wrap_items};

const HEADING: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
/// How many earlier conversations of the file are named; the others are counted.
const EARLIER: usize = 3;

/// How many responses a page lists.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ListedTurns {
    All,
    Last,
}

pub(super) fn render(
    name: &str,
    report: &InspectionReport,
    sub_agents: &SubAgentFiles,
    turns: ListedTurns,
) -> String {
    let page = InspectPage {
        report,
        sub_agents,
        width: width(),
        color: has_color(),
    };
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = page.write(&mut text, name, turns);
    text
}

struct InspectPage<'a> {
    report: &'a InspectionReport,
    sub_agents: &'a SubAgentFiles,
    width: usize,
    color: bool,
}

impl InspectPage<'_> {
    fn write(&self, out: &mut String, name: &str, turns: ListedTurns) -> fmt::Result {
        self.page_header(out, name)?;
        self.window(out)?;
        self.compactions(out)?;
        self.responses(out, turns)?;
        self.cache_breaks(out)?;
        self.tools(out)?;
        self.largest_results(out)?;
        self.repeated_reads(out)?;
        self.assumptions(out)?;
        self.problems(out)
    }

    fn page_header(&self, out: &mut String, name: &str) -> fmt::Result {
        let report = self.report;
        let name = clean(name);
        let lines = if columns(&name) <= self.width {
            vec![name]
        } else {
            wrap(&name, self.width)
        };
        for line in lines {
            writeln!(out, "{HEADING}{line}{HEADING:#}")?;
        }
        let session = report.session_id.as_deref();
        let mut facts: Vec<String> = session
            .map(|id| format!("session {}", clean(id)))
            .into_iter()
            .collect();
        facts.extend([
            count(report.entries, "entry", "entries"),
            count(report.messages, "message in view", "messages in view"),
            count(report.rounds, "response", "responses"),
        ]);
        self.facts(out, 0, Style::new(), &facts)?;
        let times = report.turns.iter().filter_map(|turn| turn.timestamp);
        if let (Some(first), Some(last)) = (times.clone().min(), times.max()) {
            writeln!(out, "{DIM}{}{DIM:#}", span(first, last))?;
        }
        self.earlier_conversations(out)
    }

    /// The newest of the conversations before this one, and how many there are before those.
    fn earlier_conversations(&self, out: &mut String) -> fmt::Result {
        let all = &self.report.earlier_conversations;
        let (unnamed, newest) = all.split_at(all.len().saturating_sub(EARLIER));
        let mut sentences: Vec<String> = (newest.iter())
            .map(|earlier| {
                let entries = count(earlier.entries, "entry", "entries");
                format!(
                    "Lines {} to {} are another conversation ({entries}): it is neither in view nor kept by compactions, and `longhaul recall` finds it.",
                    grouped(earlier.line),
                    grouped(earlier.through)
                )
            })
            .collect();
        if let Some(first) = unnamed.first() {
            let more = grouped(unnamed.len() as u64);
            sentences.push(format!(
                "So are {more} more before them, from line {} on; --json lists all.",
                grouped(first.line),
            ));
        }
        for line in sentences
            .iter()
            .flat_map(|sentence| wrap(sentence, self.width))
        {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    /// Short facts side by side, in as many lines as they need.
    fn facts(
        &self,
        out: &mut String,
        indent: usize,
        style: Style,
        facts: &[String],
    ) -> fmt::Result {
        let facts = facts.iter().map(String::as_str);
        for line in wrap_items(facts, " ·", self.width.saturating_sub(indent)) {
            writeln!(out, "{:indent$}{style}{line}{style:#}", "")?;
        }
        Ok(())
    }

    /// A heading and the text after it, or below it where there is no room.
    fn heading(&self, out: &mut String, heading: &str, about: &str) -> fmt::Result {
        let about = clean(about);
        let room = self.width.saturating_sub(heading.len() + 2);
        write!(out, "\n{HEADING}{heading}{HEADING:#}")?;
        let lines = wrap(&about, room);
        if lines.len() <= 1 {
            let gap = if about.is_empty() { "" } else { "  " };
            return writeln!(out, "{gap}{}", lines.concat());
        }
        writeln!(out)?;
        for line in wrap(&about, self.width - 2) {
            writeln!(out, "  {line}")?;
        }
        Ok(())
    }
}

/// The time span; the day only once, if it is the same.
fn span(first: Timestamp, last: Timestamp) -> String {
    let (from, to) = (minute(first), minute(last));
    let clock = |time: Timestamp| time.strftime("%H:%M").to_string();
    match (from == to, from.get(..10) == to.get(..10)) {
        (true, _) => format!("{from} UTC"),
        (_, true) => format!("{from} to {} UTC", clock(last)),
        _ => format!("{from} to {to} UTC"),
    }
}

/// Names with their counts, the largest first.
fn sorted<'a>(counts: impl Iterator<Item = (&'a String, &'a u64)>) -> Vec<(&'a String, u64)> {
    let mut counts: Vec<_> = counts.map(|(name, count)| (name, *count)).collect();
    counts.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    counts
}
