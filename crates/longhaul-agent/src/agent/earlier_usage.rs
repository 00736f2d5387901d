//! What a session had cost when it was resumed, read from its transcript.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use longhaul_core::inspect::{Inspection, LineEnd};
use longhaul_core::message::Usage;
use longhaul_core::models::ModelTable;
use longhaul_core::money::Usd;
use longhaul_core::window::WindowSettings;
use longhaul_store::LineReader;

/// The usage of the first `length` bytes of a transcript and its cost, with the summaries, notes and sub-agents that they
/// record. What is written later is counted as it happens.
pub(super) fn read(
    transcript: &Path,
    length: u64,
    models: &ModelTable,
    model: &str,
) -> io::Result<(Usage, Usd)> {
    let mut inspection = Inspection::new();
    let mut lines = LineReader::new(File::open(transcript)?.take(length));
    while let Some(line) = lines.next()? {
        inspection.line(line.number, line.offset, line.bytes, LineEnd::Lf);
    }
    let report = inspection
        .report(models, &WindowSettings::default(), Some(model))
        .map_err(io::Error::other)?;
    let usage = Usage {
        input: report.usage.input,
        cache_read: report.usage.cache_read,
        cache_write_5m: report.usage.cache_write_5m,
        cache_write_1h: report.usage.cache_write_1h,
        output: report.usage.output,
        ..Usage::default()
    };
    let cost = report.cost_usd + report.cost_beside().unwrap_or(0.0) + report.sidechains.cost_usd;
    Ok((usage, Usd::from_f64(cost)))
}
