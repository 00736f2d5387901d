//! Reads one transcript into a report.

use std::fs::File;
use std::io::{self, Cursor, IsTerminal, Read};
use std::path::Path;

use longhaul_core::inspect::{Inspection, LineEnd, Report};
use longhaul_core::transcript::format::{self, Verdict};
use longhaul_store::{Ending, LineReader};

use super::Basis;
use crate::failure::{Failure, tell};

pub(super) fn file(path: &Path, basis: &Basis) -> Result<Report, Failure> {
    let failed = |source| Failure::Read {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(failed)?;
    report(file, &path.display().to_string(), basis, failed)
}

pub(super) fn stdin(basis: &Basis) -> Result<Report, Failure> {
    if io::stdin().is_terminal() {
        tell("Reading a transcript from the terminal; Ctrl-D ends it.");
    }
    report(io::stdin().lock(), "standard input", basis, Failure::Stdin)
}

#[tracing::instrument(level = "debug", skip_all, fields(%name))]
fn report(
    mut source: impl Read,
    name: &str,
    basis: &Basis,
    failed: impl Fn(io::Error) -> Failure,
) -> Result<Report, Failure> {
    let mut head = Vec::with_capacity(format::HEAD_BYTES);
    let head_bytes = format::HEAD_BYTES as u64;
    source
        .by_ref()
        .take(head_bytes)
        .read_to_end(&mut head)
        .map_err(&failed)?;
    let verdict = format::recognise(&head);
    if let Verdict::Foreign(foreign) = verdict {
        let name = name.to_owned();
        return Err(Failure::Foreign { name, foreign });
    }
    let mut lines = LineReader::new(Cursor::new(head).chain(source));
    let mut inspection = Inspection::new();
    while let Some(line) = lines.next().map_err(&failed)? {
        let end = match line.ending {
            Ending::Lf => LineEnd::Lf,
            Ending::CrLf => LineEnd::CrLf,
            Ending::None => LineEnd::EndOfFile,
        };
        inspection.line(line.number, line.offset, line.bytes, end);
    }
    if lines.had_bom() {
        inspection.byte_order_mark();
    }
    tracing::debug!(
        entries = inspection.entries(),
        damaged = inspection.damaged_lines(),
        "read"
    );
    // Damage all through, or lines of something else: better refused than reported as an odd transcript.
    if verdict == Verdict::Unclear && inspection.is_no_transcript() {
        return Err(Failure::NotATranscript {
            name: name.to_owned(),
        });
    }
    inspection
        .report(&basis.models, &basis.window, basis.model.as_deref())
        .map_err(Failure::Window)
}
