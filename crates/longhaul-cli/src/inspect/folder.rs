//! All transcripts below a folder: a row each, and the sums.

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use anstyle::Style;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use longhaul_core::inspect::Report;
use longhaul_store::layout::transcripts_under;
use serde::Serialize;

use super::page::{dollars, level_style};
use super::{Basis, FileReport, print_json, reading};
use crate::args::Inspect as Command;
use crate::failure::{Failure, Outcome};
use crate::terminal::{cut, grouped, is_watched, short, width};

const DIM: Style = Style::new().dimmed();

/// What a folder holds.
#[derive(Default)]
struct Folder {
    reports: Vec<(PathBuf, Report)>,
    skipped: Vec<Skipped>,
}

/// A file or folder that could not be read.
#[derive(Serialize)]
struct Skipped {
    file: String,
    reason: String,
}

/// Sums over all reports.
#[derive(Serialize)]
struct Totals {
    files: u64,
    entries: u64,
    rounds: u64,
    cost_usd: f64,
    problems: u64,
}

pub(super) fn run(command: &Command, path: &Path, basis: &Basis) -> Result<Outcome, Failure> {
    let folder = read(path, basis)?;
    let totals = folder.totals();
    let mut out = anstream::stdout().lock();
    if command.json {
        print_json(&mut out, &folder.json(path, &totals))?;
    } else {
        let table = folder.table(path, &totals);
        out.write_all(table.as_bytes()).map_err(Failure::Stdout)?;
    }
    Ok(match totals.problems == 0 && folder.skipped.is_empty() {
        true => Outcome::Fine,
        false => Outcome::Problems,
    })
}

fn read(path: &Path, basis: &Basis) -> Result<Folder, Failure> {
    let found = transcripts_under(path);
    if found.paths.is_empty() {
        return Err(Failure::EmptyFolder {
            path: path.to_owned(),
        });
    }
    let progress = progress(&found.paths);
    let mut folder = Folder::default();
    folder
        .skipped
        .extend(found.problems.iter().map(|unlisted| Skipped {
            file: unlisted.path.display().to_string(),
            reason: unlisted.source.to_string(),
        }));
    for file in found.paths {
        progress.set_message(cut(
            &file.file_name().unwrap_or_default().to_string_lossy(),
            40,
        ));
        match reading::file(&file, basis) {
            Ok(report) => folder.reports.push((file.clone(), report)),
            // A window that is too small is the caller's mistake, and the same for every file.
            Err(failure @ Failure::Window(_)) => return Err(failure),
            Err(failure) => folder.skipped.push(Skipped {
                file: file.display().to_string(),
                reason: failure.to_string(),
            }),
        }
        progress.inc(size(&file));
    }
    progress.finish_and_clear();
    if folder.reports.is_empty() {
        let count = folder.skipped.len();
        return Err(Failure::NoneReadable {
            path: path.to_owned(),
            count,
        });
    }
    Ok(folder)
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// Progress by bytes, for a person who watches; nothing otherwise.
fn progress(paths: &[PathBuf]) -> ProgressBar {
    let target = match is_watched() {
        true => ProgressDrawTarget::stderr(),
        false => ProgressDrawTarget::hidden(),
    };
    let bar =
        ProgressBar::with_draw_target(Some(paths.iter().map(|path| size(path)).sum()), target);
    let style = ProgressStyle::with_template("{bar:30} {bytes}/{total_bytes} {eta} left  {msg}");
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

impl Folder {
    fn totals(&self) -> Totals {
        let sum = |of: fn(&Report) -> u64| self.reports.iter().map(|(_, report)| of(report)).sum();
        Totals {
            files: self.reports.len() as u64,
            entries: sum(|report| report.entries),
            rounds: sum(|report| report.rounds + report.sidechains.rounds),
            cost_usd: self
                .reports
                .iter()
                .map(|(_, report)| report.cost_usd + report.sidechains.cost_usd)
                .sum(),
            problems: sum(|report| report.problems.len() as u64),
        }
    }

    fn json<'a>(&'a self, path: &Path, totals: &'a Totals) -> impl Serialize + 'a {
        #[derive(Serialize)]
        struct Json<'a> {
            folder: String,
            files: Vec<FileReport<'a>>,
            skipped: &'a [Skipped],
            totals: &'a Totals,
        }
        let files = self.reports.iter().map(|(file, report)| FileReport {
            file: Some(file.display().to_string()),
            report,
        });
        Json {
            folder: path.display().to_string(),
            files: files.collect(),
            skipped: &self.skipped,
            totals,
        }
    }

    fn table(&self, root: &Path, totals: &Totals) -> String {
        let room = width().saturating_sub(58).max(20);
        let mut text = format!(
            "{DIM}{:<room$} {:>8} {:>9} {:>6} {:>5} {:>7} {:>8} {:>8}{DIM:#}\n",
            "file", "entries", "responses", "tokens", "left", "compact", "cost", "problems"
        );
        for (path, report) in &self.reports {
            let name = path
                .strip_prefix(root)
                .unwrap_or(path)
                .display()
                .to_string();
            let level = level_style(report.level);
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{:<room$} {:>8} {:>9} {level}{:>6} {:>4}%{level:#} {:>7} {:>8} {:>8}",
                tail(&name, room),
                grouped(report.entries),
                grouped(report.rounds),
                short(report.context_tokens),
                report.thresholds.percent_left,
                report.boundaries.len(),
                dollars(report.cost_usd + report.sidechains.cost_usd),
                report.problems.len(),
            );
        }
        let _ = writeln!(
            text,
            "\n{} files, {} entries, {} responses, {}, {} problems",
            grouped(totals.files),
            grouped(totals.entries),
            grouped(totals.rounds),
            dollars(totals.cost_usd),
            grouped(totals.problems)
        );
        for skipped in &self.skipped {
            let _ = writeln!(text, "skipped {}", skipped.reason);
        }
        text
    }
}

/// The end of a path, which tells more than its beginning, in this many columns.
fn tail(name: &str, columns: usize) -> String {
    let count = name.chars().count();
    match count > columns {
        true => format!(
            "…{}",
            name.chars().skip(count - columns + 1).collect::<String>()
        ),
        false => name.to_owned(),
    }
}
