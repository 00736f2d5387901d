//! A folder for a person: one row per file, folder by folder, the totals, and what was left out.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use longhaul_core::inspect::InspectionReport;

use super::{FolderTotals, InspectedFolder};
use crate::inspect::level;
use crate::table::{Cell, Column, TextTable};
use crate::terminal::{dollars, grouped, short, width};
use crate::text::{clean, count, wrap, wrap_items};

/// The number of skipped files that are listed before the rest is only counted.
const SKIPPED: usize = 10;

pub(super) fn render(folder: &InspectedFolder, root: &Path, totals: &FolderTotals) -> String {
    let width = width();
    let mut text = table(folder, root).render(0, width);
    text.push('\n');
    let sums = [
        count(totals.files, "file", "files"),
        count(totals.entries, "entry", "entries"),
        count(totals.rounds, "response", "responses"),
        match totals.partial_outputs {
            0 => dollars(totals.cost_usd),
            _ => format!("at least {}", dollars(totals.cost_usd)),
        },
        count(totals.problems, "problem", "problems"),
    ];
    for line in wrap_items(sums.iter().map(String::as_str), ",", width) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{line}");
    }
    if totals.repeated_rounds > 0 {
        let repeated = count(
            totals.repeated_rounds,
            "response is in more than one file and counts",
            "responses are in more than one file and count",
        );
        for line in wrap(&format!("{repeated} once."), width) {
            let _ = writeln!(text, "{line}");
        }
    }
    for skipped in folder.skipped.iter().take(SKIPPED) {
        let sentence = clean(&format!("skipped {}: {}", skipped.file, skipped.reason));
        for (at, line) in wrap(&sentence, width - 2).iter().enumerate() {
            let _ = writeln!(text, "{}{line}", if at == 0 { "" } else { "  " });
        }
    }
    if folder.skipped.len() > SKIPPED {
        let more = grouped((folder.skipped.len() - SKIPPED) as u64);
        let _ = writeln!(text, "skipped {more} more; --json lists all");
    }
    text
}

fn table(folder: &InspectedFolder, root: &Path) -> TextTable<8> {
    let mut table = TextTable::new([
        Column::left("file").down_to(24),
        Column::right("entries").optional(5),
        Column::right("responses").optional(3),
        Column::right("tokens"),
        Column::right("left"),
        Column::right("compacted").optional(4),
        Column::right("cost").optional(1),
        Column::right("problems").optional(2),
    ]);
    let mut reports: Vec<&(PathBuf, InspectionReport)> = folder.reports.iter().collect();
    // Sorted by folder first: a session's sub-agents are in a folder of their own, between it and the next session.
    reports.sort_by_key(|(path, _)| (path.parent(), path.file_name()));
    let mut heading = None;
    for (path, report) in reports {
        let inside = path.strip_prefix(root).unwrap_or(path);
        let parent = inside.parent().filter(|parent| *parent != Path::new(""));
        if heading != Some(parent) {
            heading = Some(parent);
            if let Some(parent) = parent {
                table.heading(&format!("{}/", parent.display()));
            }
        }
        table.row(row(path, parent, report));
    }
    table
}

fn row(path: &Path, parent: Option<&Path>, report: &InspectionReport) -> [Cell; 8] {
    let level = level::style(report.level);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let indent = if parent.is_some() { "  " } else { "" };
    [
        // The beginning is kept: the beginning of a session's id is enough to name it.
        Cell::new(format!("{indent}{name}")),
        Cell::new(grouped(report.entries)),
        Cell::new(grouped(report.rounds + report.sidechains.rounds)),
        Cell::new(short(report.context_tokens)).styled(level),
        Cell::new(format!("{}%", report.thresholds.percent_left)).styled(level),
        Cell::new(grouped(report.boundaries.len() as u64)),
        Cell::new(dollars(report.cost_usd + report.sidechains.cost_usd)),
        Cell::new(grouped(report.problems.len() as u64)),
    ]
}
