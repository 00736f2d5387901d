//! What a session had cost when it was resumed, read from its transcript and those of its sub-agents.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use longhaul_core::inspect::{Inspection, LineEnd};
use longhaul_core::message::Usage;
use longhaul_core::models::ModelTable;
use longhaul_core::money::Usd;
use longhaul_core::window::WindowSettings;
use longhaul_store::LineReader;
use longhaul_store::layout::subagents_folder;

/// What a session had used when it was resumed.
#[derive(Debug, Default)]
pub(crate) struct EarlierUsage {
    /// Tokens by class: those of replies, sub-agents, summaries, notes and lost replies.
    pub(crate) usage: Usage,
    /// Their cost.
    pub(crate) cost: Usd,
    /// Whether it may be more: not all output is recorded.
    pub(crate) at_least: bool,
}

/// The usage of the first `length` bytes of a transcript and its cost, with the summaries and notes that they record, and
/// with the sub-agents and searches whose transcripts are beside it. What is written later is counted as it happens.
pub(super) fn read(
    transcript: &Path,
    length: u64,
    models: &ModelTable,
    model: &str,
) -> io::Result<EarlierUsage> {
    let mut sum = one(transcript, length, models, model)?;
    let beside = std::fs::read_dir(subagents_folder(transcript));
    for file in beside.into_iter().flatten().flatten() {
        let path = file.path();
        if path.extension().is_some_and(|end| end == "jsonl") {
            // One that cannot be read is left out: the others are still worth knowing.
            if let Ok(its) = one(&path, u64::MAX, models, model) {
                sum.usage.add(&its.usage);
                sum.cost += its.cost;
                sum.at_least |= its.at_least;
            }
        }
    }
    Ok(sum)
}

fn one(path: &Path, length: u64, models: &ModelTable, model: &str) -> io::Result<EarlierUsage> {
    let mut inspection = Inspection::new();
    let mut lines = LineReader::new(File::open(path)?.take(length));
    while let Some(line) = lines.next()? {
        inspection.line(line.number, line.offset, line.bytes, LineEnd::Lf);
    }
    let report = inspection
        .report(models, &WindowSettings::default(), Some(model))
        .map_err(io::Error::other)?;
    let partial = report.partial_outputs + report.sidechains.partial_outputs;
    let cost = report.cost_usd + report.cost_beside().unwrap_or(0.0) + report.sidechains.cost_usd;
    Ok(EarlierUsage {
        usage: report.billed_usage(),
        cost: Usd::from_f64(cost),
        at_least: partial + report.lost_replies.replies > 0,
    })
}
