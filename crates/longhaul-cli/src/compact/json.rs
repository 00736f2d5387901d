//! The result of a compaction, for programs. `docs/compact.md` is the reference.

use longhaul::session::CompactOutcome;
use longhaul_core::engine::Summarizer;
use longhaul_core::report::LossReport;
use serde::Serialize;

use super::page::CompactionPage;
use crate::failure::CliError;
use crate::output;

#[derive(Serialize)]
struct CompactJson<'a> {
    file: String,
    /// None for a preview.
    output: Option<String>,
    trigger: &'static str,
    before: u64,
    after: u64,
    #[serde(rename = "summariser")]
    summarizer: Summarizer,
    model: Option<&'a str>,
    cost_usd: Option<f64>,
    kept: u64,
    boundary: Option<&'a str>,
    milliseconds: Option<u64>,
    report: &'a LossReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}

pub(super) fn print(shown: &CompactionPage<'_>) -> Result<(), CliError> {
    let report = shown.report();
    let (boundary, milliseconds, summary, message) = match shown.outcome {
        CompactOutcome::Done(done) => (Some(&*done.boundary), Some(done.milliseconds), None, None),
        CompactOutcome::Preview(preview) => {
            (None, None, Some(&*preview.summary), Some(&*preview.message))
        }
    };
    let is_models = matches!(shown.by(), Summarizer::Fork | Summarizer::Plain);
    output::json(&CompactJson {
        file: shown.file.display().to_string(),
        output: shown
            .place
            .as_ref()
            .map(|place| place.display().to_string()),
        trigger: "manual",
        before: report.tokens.before,
        after: report.tokens.after,
        summarizer: shown.by(),
        model: shown.model.filter(|_| is_models),
        cost_usd: shown.cost().map(|cost| cost.to_f64()),
        kept: match shown.outcome {
            CompactOutcome::Done(_) => shown.kept,
            CompactOutcome::Preview(_) => 0,
        },
        boundary,
        milliseconds,
        report,
        summary,
        message,
    })
}
