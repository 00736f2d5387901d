//! The sub-agents of a session whose transcripts are beside it: they are part of what the session has cost.

use std::path::Path;

use longhaul_store::layout::subagents_folder;

use super::ReportBasis;
use crate::reading;

/// What the sub-agents beside a transcript have cost.
#[derive(Debug, Default)]
pub(super) struct SubAgentFiles {
    pub(super) files: u64,
    pub(super) cost_usd: f64,
    /// Whether it may be more: not all output is recorded.
    pub(super) at_least: bool,
}

impl SubAgentFiles {
    /// Reads the transcripts beside one. One that cannot be read is left out.
    pub(super) fn beside(transcript: &Path, basis: &ReportBasis) -> Self {
        let mut sum = Self::default();
        let Ok(folder) = std::fs::read_dir(subagents_folder(transcript)) else {
            return sum;
        };
        let paths = folder.flatten().map(|file| file.path());
        for path in paths.filter(|path| path.extension().is_some_and(|end| end == "jsonl")) {
            let report = reading::file(&path).and_then(|inspection| basis.report(inspection));
            let Ok(report) = report else { continue };
            let beside = report.cost_beside().unwrap_or_default();
            let partial = report.partial_outputs + report.sidechains.partial_outputs;
            sum.files += 1;
            sum.cost_usd += report.cost_usd + report.sidechains.cost_usd + beside;
            sum.at_least |= partial + report.lost_replies.replies > 0;
        }
        sum
    }
}
