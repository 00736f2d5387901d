//! The result of a compaction, for people.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use longhaul::session::CompactOutcome;
use longhaul_core::engine::Summarizer;
use longhaul_core::money::Usd;
use longhaul_core::report::LossReport;

use crate::args::CompactArgs as Command;
use crate::failure::CliError;
use crate::output;
use crate::terminal::dollars;
use crate::text::{clean, count};

/// What the sizes on the page count.
const SIZES: &str = "Sizes are padded estimates of the messages; `longhaul inspect` shows what the provider measured.";

/// The data of the page.
pub(super) struct CompactionPage<'a> {
    pub(super) file: &'a Path,
    /// The path that it was written to, if it was.
    pub(super) place: Option<PathBuf>,
    /// The model that was asked.
    pub(super) model: Option<&'a str>,
    pub(super) outcome: &'a CompactOutcome,
    /// Messages kept word for word.
    pub(super) kept: u64,
}

impl CompactionPage<'_> {
    pub(super) fn report(&self) -> &LossReport {
        match self.outcome {
            CompactOutcome::Done(done) => &done.report,
            CompactOutcome::Preview(preview) => &preview.report,
        }
    }

    pub(super) fn by(&self) -> Summarizer {
        match self.outcome {
            CompactOutcome::Done(done) => done.by,
            CompactOutcome::Preview(preview) => preview.by,
        }
    }

    pub(super) fn cost(&self) -> Option<Usd> {
        match self.outcome {
            CompactOutcome::Done(done) => done.cost,
            CompactOutcome::Preview(preview) => preview.cost,
        }
    }
}

pub(super) fn print(shown: &CompactionPage<'_>, command: &Command) -> Result<(), CliError> {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = match shown.outcome {
        CompactOutcome::Preview(preview) => lines(&mut out, &preview.message)
            .and_then(|()| writeln!(out))
            .and_then(|()| {
                lines(
                    &mut out,
                    &preview.report.tell_preview_of(preview.report.tokens),
                )
            })
            .and_then(|()| writeln!(out))
            .and_then(|()| writeln!(out, "{} Nothing was changed.", by(shown))),
        CompactOutcome::Done(done) => writeln!(out, "{}.", done.report.status_line())
            .and_then(|()| writeln!(out, "{}", by(shown)))
            .and_then(|()| writeln!(out, "{SIZES}"))
            .and_then(|()| {
                if command.report {
                    lines(&mut out, &done.report.tell())
                } else {
                    Ok(())
                }
            }),
    };
    output::page(&out)
}

/// Lines of a text that comes from a file.
fn lines(out: &mut String, text: &str) -> std::fmt::Result {
    text.lines()
        .try_for_each(|line| writeln!(out, "{}", clean(line)))
}

/// Who wrote the summary, what was kept, and where the result is.
fn by(shown: &CompactionPage<'_>) -> String {
    let mut text = match (shown.by(), shown.model) {
        (Summarizer::Local, _) => "Summarized without a model".to_owned(),
        (Summarizer::Approved, _) => "With the summary that was given".to_owned(),
        (_, Some(model)) => format!("Summarized by {}", clean(model)),
        (_, None) => "Summarized by a model".to_owned(),
    };
    if let Some(cost) = shown.cost() {
        let _ = write!(text, " for {}", dollars(cost.to_f64()));
    }
    if shown.kept > 0 && matches!(shown.outcome, CompactOutcome::Done(_)) {
        let kept = count(shown.kept, "message", "messages");
        let _ = write!(text, "; {kept} kept word for word");
    }
    if let Some(place) = &shown.place {
        let _ = write!(text, "; written to {}", clean(&place.display().to_string()));
    }
    text.push('.');
    text
}
