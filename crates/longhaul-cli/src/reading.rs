//! Reads the lines of one transcript, from wherever they come, into an [`Inspection`].

use std::fs::File;
use std::io::{self, Cursor, IsTerminal, Read, StdinLock};
use std::path::Path;

use longhaul_core::inspect::{Inspection, LineEnd};
use longhaul_core::message::LineScanner;
use longhaul_core::transcript::format::{self, DetectedFormat};
use longhaul_core::transcript::{EndsTheFile, TranscriptProblem};
use longhaul_store::{LineEnding, LineReader};

use crate::failure::{CliError, tell};
use crate::text::count;

/// The name of standard input in messages.
pub(crate) const STDIN: &str = "standard input";

/// Reads a file.
pub(crate) fn file(path: &Path) -> Result<Inspection, CliError> {
    let failed = |source| CliError::Read {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(failed)?;
    inspection(file, &path.display().to_string(), failed)
}

/// Reads standard input. On a terminal, the user is told how to end the input.
pub(crate) fn stdin() -> StdinLock<'static> {
    if io::stdin().is_terminal() {
        tell("Reading a transcript from the terminal; Ctrl-D ends it.");
    }
    io::stdin().lock()
}

/// Decides by its beginning whether a source is a transcript. The bytes that were read are returned.
pub(crate) fn recognize(
    source: &mut impl Read,
    name: &str,
    failed: impl Fn(io::Error) -> CliError,
) -> Result<(Vec<u8>, DetectedFormat), CliError> {
    let mut head = Vec::with_capacity(format::HEAD_BYTES);
    let head_bytes = format::HEAD_BYTES as u64;
    source
        .by_ref()
        .take(head_bytes)
        .read_to_end(&mut head)
        .map_err(failed)?;
    match format::recognize(&head) {
        DetectedFormat::Foreign(foreign) => Err(CliError::Foreign {
            name: name.to_owned(),
            foreign,
        }),
        verdict => Ok((head, verdict)),
    }
}

/// The most bytes of a pipe that are kept in memory.
const MOST_BUFFERED: u64 = 1 << 30;

/// Reads a source that can be read only once, if it is a transcript.
pub(crate) fn buffered(
    mut source: impl Read,
    name: &str,
    failed: impl Fn(io::Error) -> CliError,
) -> Result<Vec<u8>, CliError> {
    let (mut bytes, _) = recognize(&mut source, name, &failed)?;
    let mut rest = source.take(MOST_BUFFERED);
    rest.read_to_end(&mut bytes).map_err(&failed)?;
    if rest.limit() == 0 {
        return Err(CliError::PipeTooLong {
            name: name.to_owned(),
        });
    }
    Ok(bytes)
}

/// Reads all lines.
#[tracing::instrument(level = "debug", skip_all, fields(%name))]
pub(crate) fn inspection(
    mut source: impl Read,
    name: &str,
    failed: impl Fn(io::Error) -> CliError,
) -> Result<Inspection, CliError> {
    let (head, verdict) = recognize(&mut source, name, &failed)?;
    let mut lines = LineReader::new(Cursor::new(head).chain(source));
    let mut inspection = Inspection::new();
    while let Some(line) = lines.next().map_err(&failed)? {
        let end = match line.ending {
            LineEnding::Lf => LineEnd::Lf,
            LineEnding::CrLf => LineEnd::CrLf,
            LineEnding::None => LineEnd::EndOfFile,
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
    // Everything is damaged, or the lines are something else: refusing it is better than reporting it as an odd
    // transcript.
    if verdict == DetectedFormat::Unclear && inspection.is_no_transcript() {
        return Err(CliError::NotATranscript {
            name: name.to_owned(),
        });
    }
    Ok(inspection)
}

/// The damaged lines of a file, which nobody can find anything in. Only the lines are read, not the conversation, so that
/// it takes a fraction of the time of an [`Inspection`].
pub(crate) fn damaged_lines(path: &Path) -> Result<Vec<TranscriptProblem>, CliError> {
    let failed = |source| CliError::Read {
        path: path.to_owned(),
        source,
    };
    let mut lines = LineReader::new(File::open(path).map_err(failed)?);
    let mut scanner = LineScanner::default();
    let mut problems = Vec::new();
    while let Some(line) = lines.next().map_err(failed)? {
        if line.bytes.trim_ascii().is_empty() {
            continue;
        }
        if let Err(damage) = scanner.scan(line.bytes) {
            let ends_the_file = match line.ending {
                LineEnding::None => EndsTheFile::Yes,
                LineEnding::Lf | LineEnding::CrLf => EndsTheFile::No,
            };
            problems.push(TranscriptProblem::damaged(
                line.number,
                &damage,
                ends_the_file,
            ));
        }
    }
    Ok(problems)
}

/// The number of problems that are listed one by one in messages.
const MOST_PROBLEMS: usize = 5;

/// Problems of a file in sentences, for messages: the first few, and how many more there are.
pub(crate) fn in_sentences(problems: &[TranscriptProblem]) -> Vec<String> {
    let mut sentences: Vec<String> = (problems.iter().take(MOST_PROBLEMS))
        .map(|problem| format!("line {}: {}", problem.line, problem.message))
        .collect();
    if let more @ 1.. = problems.len().saturating_sub(MOST_PROBLEMS) {
        let more = count(more as u64, "problem", "problems");
        sentences.push(format!("and {more} more; `longhaul inspect` lists them"));
    }
    sentences
}

/// Refuses a file that is not a transcript, as [`inspection`] does. A file that begins like one is not read to its end.
pub(crate) fn refuse_no_transcript(path: &Path) -> Result<(), CliError> {
    let name = path.display().to_string();
    let failed = |source| CliError::Read {
        path: path.to_owned(),
        source,
    };
    let mut file = File::open(path).map_err(failed)?;
    let (head, verdict) = recognize(&mut file, &name, failed)?;
    if verdict == DetectedFormat::Unclear {
        inspection(Cursor::new(head).chain(file), &name, failed)?;
    }
    Ok(())
}
