//! Loads a whole transcript to keep it: every intact line as an [`Entry`], every other line as its bytes.
//!
//! Nothing is copied per line: entries are slices of the big chunks that the file was read into. Everything in the file
//! (byte order mark, CRLF, blank and damaged lines, a torn end) is kept, so [`write_back`] writes it again byte for
//! byte (M2, M4). `longhaul_core` interprets how the entries relate to each other.

mod chunk;
mod line;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use bytes::Bytes;
use longhaul_core::message::{Entry, LineDamage, LineScanner};

pub use line::{LoadedContent, LoadedLine};

use crate::ReadError;
use crate::lines::{BOM, LineEnding};
use chunk::Chunk;

/// A transcript in memory.
#[derive(Debug, Default)]
pub struct LoadedTranscript {
    bom: Bytes,
    lines: Vec<LoadedLine>,
}

impl LoadedTranscript {
    /// Whether the file begins with a byte order mark.
    pub fn had_bom(&self) -> bool {
        !self.bom.is_empty()
    }

    /// All lines in file order, including blank and damaged ones.
    pub fn lines(&self) -> &[LoadedLine] {
        &self.lines
    }

    /// All lines in file order, by value.
    pub fn into_lines(self) -> Vec<LoadedLine> {
        self.lines
    }

    /// The intact entries in file order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.lines.iter().filter_map(LoadedLine::entry)
    }

    /// The damaged lines in file order, each with its damage.
    pub fn damaged(&self) -> impl Iterator<Item = (&LoadedLine, LineDamage)> {
        self.lines
            .iter()
            .filter_map(|line| line.damage().map(|damage| (line, damage)))
    }

    /// The size of the file that was read.
    pub fn size(&self) -> u64 {
        self.lines
            .last()
            .map_or(self.bom.len() as u64, LoadedLine::end_offset)
    }
}

/// Reads a file.
///
/// # Errors
/// Fails if the file cannot be read.
pub fn load(path: &Path) -> Result<LoadedTranscript, ReadError> {
    let _span = tracing::debug_span!("load", path = %path.display()).entered();
    let read = || {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        load_from(file, size)
    };
    read().map_err(|source| ReadError {
        path: path.to_owned(),
        source,
    })
}

/// Reads lines that were kept elsewhere than in a file; none has a line end.
///
/// # Errors
/// Fails if the lines do not fit into memory once more.
pub fn load_lines(lines: &[Bytes]) -> io::Result<LoadedTranscript> {
    let mut bytes = Vec::new();
    let size = lines.iter().map(|line| line.len() + 1).sum();
    bytes.try_reserve_exact(size).map_err(io::Error::from)?;
    for line in lines {
        bytes.extend_from_slice(line);
        bytes.push(b'\n');
    }
    load_from(bytes.as_slice(), size as u64)
}

/// Reads anything to its end. `expected` is its size if known, else 0; it only guides how memory is allocated.
///
/// # Errors
/// Fails if the reader fails.
pub fn load_from(mut reader: impl Read, expected: u64) -> io::Result<LoadedTranscript> {
    let mut loaded = LoadedTranscript::default();
    let mut scanner = LineScanner::default();
    let mut position = 0;
    let mut carried = Bytes::new();
    loop {
        let left = expected.saturating_sub(position + carried.len() as u64);
        let mut chunk = Chunk::new(&carried, left)?;
        let at_end = chunk.fill(&mut reader)?;
        let mut bytes = chunk.freeze();
        if position == 0 && bytes.starts_with(BOM) && !loaded.had_bom() {
            loaded.bom = bytes.split_to(BOM.len());
            position = BOM.len() as u64;
        }
        let whole = if at_end {
            bytes.len()
        } else {
            memchr::memrchr(b'\n', &bytes).map_or(0, |at| at + 1)
        };
        loaded.take_lines(&mut scanner, &bytes.slice(..whole), position);
        position += whole as u64;
        carried = bytes.slice(whole..);
        if at_end {
            break;
        }
    }
    tracing::debug!(
        bytes = position,
        lines = loaded.lines.len(),
        damaged = loaded.damaged().count(),
        "loaded"
    );
    Ok(loaded)
}

impl LoadedTranscript {
    /// Adds the lines of `block`, which consists of whole lines and begins at `offset` of the file.
    fn take_lines(&mut self, scanner: &mut LineScanner, block: &Bytes, offset: u64) {
        let mut start = 0;
        let ends = memchr::memchr_iter(b'\n', block).map(|at| at + 1);
        let last = (block.last().is_some_and(|byte| *byte != b'\n')).then_some(block.len());
        for end in ends.chain(last) {
            let (content, ending) = LineEnding::split(&block[start..end]);
            let bytes = block.slice(start..start + content.len());
            self.lines.push(LoadedLine {
                number: self.lines.len() as u64 + 1,
                offset: offset + start as u64,
                ending,
                content: LoadedContent::read(scanner, bytes),
            });
            start = end;
        }
    }
}

/// Writes the transcript as it was read, byte for byte.
///
/// # Errors
/// Fails if the writer fails.
pub fn write_back(loaded: &LoadedTranscript, mut out: impl Write) -> io::Result<()> {
    out.write_all(&loaded.bom)?;
    for line in &loaded.lines {
        out.write_all(line.bytes())?;
        out.write_all(line.ending.bytes())?;
    }
    out.flush()
}
