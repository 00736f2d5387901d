//! All transcripts below a folder: read one after the other, with totals. How they are shown to a person is in
//! `rows.rs`.

mod rows;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

use longhaul_core::inspect::{BilledResponse, InspectionReport};
use longhaul_store::layout::transcripts_under;
use serde::Serialize;

use super::{FileReport, ReportBasis};
use crate::args::InspectArgs as Command;
use crate::failure::{CliError, CliOutcome};
use crate::output;
use crate::progress;
use crate::reading;
use crate::text::{clean, keep_start};

/// The reports about a folder.
#[derive(Default)]
struct InspectedFolder {
    reports: Vec<(PathBuf, InspectionReport)>,
    skipped: Vec<SkippedFile>,
}

/// A file or folder that could not be read.
#[derive(Serialize)]
struct SkippedFile {
    file: String,
    reason: String,
}

/// Totals over all reports. A response that is in several files, because they are copies of a session, counts once.
#[derive(Serialize)]
struct FolderTotals {
    files: u64,
    entries: u64,
    rounds: u64,
    cost_usd: f64,
    /// Responses that are also in another file.
    repeated_rounds: u64,
    /// Responses whose recorded output is clearly incomplete: `cost_usd` is then a lower bound.
    partial_outputs: u64,
    problems: u64,
}

pub(super) fn run(
    command: &Command,
    path: &Path,
    basis: &ReportBasis,
) -> Result<CliOutcome, CliError> {
    let folder = read(path, basis)?;
    let totals = folder.totals();
    if command.json {
        output::json(&folder.json(path, &totals))?;
    } else {
        output::page(&rows::render(&folder, path, &totals))?;
    }
    Ok(if totals.problems == 0 && folder.skipped.is_empty() {
        CliOutcome::Fine
    } else {
        CliOutcome::Problems
    })
}

fn read(path: &Path, basis: &ReportBasis) -> Result<InspectedFolder, CliError> {
    let mut found = transcripts_under(path);
    if found.paths.is_empty() {
        let unreadable = found.problems.pop();
        return Err(unreadable.map_or_else(
            || CliError::EmptyFolder {
                path: path.to_owned(),
            },
            |unlisted| CliError::Read {
                path: unlisted.path,
                source: unlisted.source,
            },
        ));
    }
    let progress = progress::bytes(found.paths.iter().map(|path| size(path)).sum());
    let mut folder = InspectedFolder::default();
    folder
        .skipped
        .extend(found.problems.iter().map(|unlisted| SkippedFile {
            file: unlisted.path.display().to_string(),
            reason: unlisted.source.to_string(),
        }));
    for file in found.paths {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        progress.set_message(keep_start(&clean(&name), 40));
        match reading::file(&file).and_then(|read| basis.report(read)) {
            Ok(report) => folder.reports.push((file.clone(), report)),
            // A window that is too small is the caller's mistake, and the same for every file.
            Err(failure @ CliError::Window(_)) => return Err(failure),
            Err(failure) => folder.skipped.push(SkippedFile {
                file: file.display().to_string(),
                reason: failure.without_name(),
            }),
        }
        progress.inc(size(&file));
    }
    progress.finish_and_clear();
    if folder.reports.is_empty() {
        let count = folder.skipped.len() as u64;
        return Err(CliError::NoneReadable {
            path: path.to_owned(),
            count,
        });
    }
    Ok(folder)
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}

impl InspectedFolder {
    fn totals(&self) -> FolderTotals {
        let sum = |of: fn(&InspectionReport) -> u64| {
            self.reports.iter().map(|(_, report)| of(report)).sum()
        };
        // The files that hold a response may have recorded more or less of it: the most expensive record counts.
        let mut once: BTreeMap<_, BilledResponse> = BTreeMap::new();
        let mut totals = FolderTotals {
            files: self.reports.len() as u64,
            entries: sum(|report| report.entries),
            rounds: 0,
            cost_usd: 0.0,
            repeated_rounds: 0,
            partial_outputs: 0,
            problems: sum(|report| report.problems.len() as u64),
        };
        let mut unnamed = Vec::new();
        for response in self.reports.iter().flat_map(|(_, report)| &report.billed) {
            let Some(message) = response.message else {
                unnamed.push(*response);
                continue;
            };
            match once.entry(message) {
                Entry::Vacant(new) => {
                    new.insert(*response);
                }
                Entry::Occupied(mut known) => {
                    totals.repeated_rounds += 1;
                    if known.get().cost_usd < response.cost_usd {
                        known.insert(*response);
                    }
                }
            }
        }
        for response in once.values().chain(&unnamed) {
            totals.rounds += 1;
            totals.cost_usd += response.cost_usd;
            totals.partial_outputs += u64::from(response.is_partial);
        }
        totals
    }

    fn json<'a>(&'a self, path: &Path, totals: &'a FolderTotals) -> impl Serialize + 'a {
        #[derive(Serialize)]
        struct FolderJson<'a> {
            folder: String,
            files: Vec<FileReport<'a>>,
            skipped: &'a [SkippedFile],
            totals: &'a FolderTotals,
        }
        let files = self.reports.iter().map(|(file, report)| FileReport {
            file: Some(file.display().to_string()),
            report,
        });
        FolderJson {
            folder: path.display().to_string(),
            files: files.collect(),
            skipped: &self.skipped,
            totals,
        }
    }
}
