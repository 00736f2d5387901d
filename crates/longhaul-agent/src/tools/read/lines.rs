//! A range of numbered lines. Long lines are cut while they are read: a line of a gigabyte takes no memory.

use std::fmt::Write;
use std::io::{self, BufRead};

use longhaul_core::figures::counted;

/// The number of characters of a line that are shown.
const LINE: usize = 2_000;

/// The number of bytes of a line that are kept for that.
const KEPT: usize = LINE * 4 + 1;

/// The maximum number of bytes in one answer.
const MOST: usize = 128 << 10;

/// What happens after the last line that is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RestOfFile {
    /// Read on, to report how many lines there are.
    Count,
    /// Stop, because reading on would take long.
    Leave,
}

/// The lines that were read.
#[derive(Default)]
pub(super) struct LinesRead {
    text: String,
    shown: u64,
    /// The number of lines seen, shown or not.
    seen: u64,
    reached_end: bool,
    cut: u64,
    not_utf8: bool,
}

/// Reads at most `limit` lines, starting at `offset`.
pub(super) fn read(
    mut reader: impl BufRead,
    offset: u64,
    limit: u64,
    rest: RestOfFile,
) -> io::Result<LinesRead> {
    let mut found = LinesRead::default();
    let mut line = Vec::new();
    loop {
        let number = found.seen + 1;
        let wanted = number >= offset && found.shown < limit && found.text.len() < MOST;
        if rest == RestOfFile::Leave && number >= offset && !wanted {
            found.reached_end = reader.fill_buf()?.is_empty();
            return Ok(found);
        }
        line.clear();
        if next_line(&mut reader, if wanted { KEPT } else { 0 }, &mut line)? == LineReadEnd::OfFile
        {
            found.reached_end = true;
            return Ok(found);
        }
        found.seen = number;
        if wanted {
            found.shown += 1;
            found.add(number, &line);
        }
    }
}

#[derive(PartialEq, Eq)]
enum LineReadEnd {
    OfLine,
    OfFile,
}

/// Reads a line and keeps its beginning.
fn next_line(
    reader: &mut impl BufRead,
    keep: usize,
    line: &mut Vec<u8>,
) -> io::Result<LineReadEnd> {
    let mut any = false;
    loop {
        let chunk = match reader.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if chunk.is_empty() {
            return Ok(if any {
                LineReadEnd::OfLine
            } else {
                LineReadEnd::OfFile
            });
        }
        any = true;
        let end = memchr::memchr(b'\n', chunk);
        let part = &chunk[..end.unwrap_or(chunk.len())];
        let room = keep.saturating_sub(line.len()).min(part.len());
        line.extend_from_slice(&part[..room]);
        let used = part.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            return Ok(LineReadEnd::OfLine);
        }
    }
}

impl LinesRead {
    fn add(&mut self, number: u64, line: &[u8]) {
        let passed_whole = line.len() < KEPT;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = match number {
            1 => line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line),
            _ => line,
        };
        let text = String::from_utf8_lossy(line);
        let (shown, is_cut) = match text.char_indices().nth(LINE) {
            Some((end, _)) => (&text[..end], true),
            None => (&text[..], false),
        };
        // A character that was cut in half is not a fault of the file.
        self.not_utf8 |= shown.contains(char::REPLACEMENT_CHARACTER)
            && std::str::from_utf8(line)
                .is_err_and(|error| passed_whole || error.error_len().is_some());
        self.cut += u64::from(is_cut);
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{number:>6}\t{shown}");
    }

    /// The text for the model, with notes about the lines.
    pub(super) fn for_the_model(&self, offset: u64) -> String {
        let mut text = self.text.clone();
        if self.shown == 0 {
            return match self.seen {
                0 => "The file is empty.".to_owned(),
                seen => format!(
                    "The file has {seen} lines; line {offset} is behind its end. Nothing is shown."
                ),
            };
        }
        let last = offset + self.shown - 1;
        let mut notes = Vec::new();
        if self.reached_end && self.seen > last {
            notes.push(format!(
                "{last} of {} lines; read on with offset {}",
                self.seen,
                last + 1
            ));
        } else if !self.reached_end {
            notes.push(format!(
                "more lines follow; read on with offset {}",
                last + 1
            ));
        }
        if self.cut > 0 {
            notes.push(format!("lines cut at {LINE} characters: {}", self.cut));
        }
        if self.not_utf8 {
            notes.push(
                "the file is not valid UTF-8; what could not be read is shown as \u{FFFD}"
                    .to_owned(),
            );
        }
        if !notes.is_empty() {
            let _ = write!(text, "\n({})", notes.join("; "));
        }
        text
    }

    /// The result in one line for people.
    pub(super) fn line(&self) -> String {
        counted(self.shown, "line")
    }
}
