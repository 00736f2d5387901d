//! Reads lines backwards from the end of a file: what resuming a long conversation needs, without the rest of it.
//!
//! Forward reading lives in [`lines`](crate::lines); the two agree on what a line is, to the byte.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::lines::{BOM, LineEnding};

/// The sizes of the first block and of the largest. Blocks double in between: few bytes for a near goal, few reads for
/// a far one.
const FIRST_BLOCK: usize = 64 << 10;
const LARGEST_BLOCK: usize = 4 << 20;

/// A line, valid until the reader is asked for the previous one. Its number is not known when reading from the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TailLine<'a> {
    /// The offset of its first byte in the file.
    pub offset: u64,
    /// The line without its end.
    pub bytes: &'a [u8],
    /// How the line ends.
    pub ending: LineEnding,
}

/// Yields the lines of a file, the last one first. Each byte is read once, and none before the block that holds the
/// requested line.
///
/// The file's length is taken at the start, so bytes appended later are not seen.
#[derive(Debug)]
pub struct TailReader<R> {
    reader: R,
    buffer: Vec<u8>,
    /// The bytes read and not yet yielded are `buffer[start..end]`; `buffer[start]` lies at `offset` in the file.
    start: usize,
    end: usize,
    offset: u64,
    block: usize,
    bom_at_start: bool,
}

impl TailReader<File> {
    /// Opens a file.
    ///
    /// # Errors
    /// Fails if the file cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::new(File::open(path)?)
    }
}

impl<R: Read + Seek> TailReader<R> {
    /// Reads backwards from the current end of the reader.
    ///
    /// # Errors
    /// Fails if the reader cannot go to its end.
    pub fn new(mut reader: R) -> io::Result<Self> {
        let offset = reader.seek(SeekFrom::End(0))?;
        Ok(Self {
            reader,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            offset,
            block: FIRST_BLOCK,
            bom_at_start: false,
        })
    }

    /// Whether the file begins with a byte order mark. This is known once the first line of the file has been reached.
    pub fn had_bom(&self) -> bool {
        self.bom_at_start
    }

    /// The offset where the part read so far begins; the lines before it have cost nothing yet.
    pub fn read_down_to(&self) -> u64 {
        self.offset
    }

    /// Gives the reader back.
    pub fn into_inner(self) -> R {
        self.reader
    }

    /// The line before the last one yielded; `None` at the beginning of the file.
    ///
    /// # Errors
    /// Fails if the file cannot be read; a damaged line is no error.
    #[expect(
        clippy::should_implement_trait,
        reason = "a line borrows the buffer, which Iterator cannot say"
    )]
    pub fn next(&mut self) -> io::Result<Option<TailLine<'_>>> {
        if self.start == self.end {
            self.read_block()?;
        }
        if self.start == self.end {
            return Ok(None);
        }
        let mut unsearched = LineEnding::split(&self.buffer[self.start..self.end])
            .0
            .len();
        let from = loop {
            let window = &self.buffer[self.start..self.start + unsearched];
            if let Some(at) = memchr::memrchr(b'\n', window) {
                break self.start + at + 1;
            }
            if self.offset == 0 || self.bom_at_start {
                break self.start;
            }
            unsearched = self.read_block()?;
        };
        let (bytes, ending) = LineEnding::split(&self.buffer[from..self.end]);
        self.end = from;
        Ok(Some(TailLine {
            offset: self.offset + (from - self.start) as u64,
            bytes,
            ending,
        }))
    }

    /// Reads the block before the bytes read so far, and returns how many bytes it put in front.
    fn read_block(&mut self) -> io::Result<usize> {
        if self.bom_at_start {
            return Ok(0);
        }
        let size = self
            .block
            .min(usize::try_from(self.offset).unwrap_or(usize::MAX));
        let held = self.end - self.start;
        if self.start < size {
            self.make_room(size, held);
        }
        let at = self.offset - size as u64;
        let into = self.start - size;
        self.reader.seek(SeekFrom::Start(at))?;
        self.reader.read_exact(&mut self.buffer[into..self.start])?;
        self.start = into;
        self.offset = at;
        self.block = (self.block * 2).min(LARGEST_BLOCK);
        if at == 0 && self.buffer[self.start..self.end].starts_with(BOM) {
            self.bom_at_start = true;
            self.start += BOM.len();
            self.offset = BOM.len() as u64;
            return Ok(size.saturating_sub(BOM.len()));
        }
        Ok(size)
    }

    /// Moves the partial line to the buffer's end, so that a block fits in front of it.
    fn make_room(&mut self, block: usize, held: usize) {
        let length = self.buffer.len();
        if length < held + block {
            // The size at least doubles, so that the bytes of a very long line are moved a bounded number of times.
            let grown = (held + block).max(length * 2);
            let mut buffer = vec![0; grown];
            buffer[grown - held..].copy_from_slice(&self.buffer[self.start..self.end]);
            self.buffer = buffer;
        } else {
            self.buffer.copy_within(self.start..self.end, length - held);
        }
        self.end = self.buffer.len();
        self.start = self.end - held;
    }
}

/// Whether a file of this size ends inside a line: a crash tore it, or its writer omits the last newline.
pub(crate) fn is_torn(mut file: &File, size: u64) -> io::Result<bool> {
    if size == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::Start(size - 1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}
