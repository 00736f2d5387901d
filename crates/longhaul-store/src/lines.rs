//! Reads lines forward, in big chunks, from any reader: a file, a part of one, standard input.
//!
//! A line is bytes, not text: nothing is decoded or checked here, and [`longhaul_core::message::LineScanner`] decides
//! whether a line is an intact entry. Reading backwards lives in [`tail`](crate::tail), reading a whole file to keep it
//! in [`load`](mod@crate::load).

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

/// The first size of the buffer. It doubles whenever one line fills it.
const BUFFER: usize = 1 << 20;

/// A UTF-8 byte order mark.
pub(crate) const BOM: &[u8] = b"\xEF\xBB\xBF";

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineEnding {
    /// `\n`
    Lf,
    /// `\r\n`
    CrLf,
    /// The file ends here: this is the last line, perhaps torn.
    None,
}

impl LineEnding {
    /// The bytes of the line end.
    pub fn bytes(self) -> &'static [u8] {
        match self {
            Self::Lf => b"\n",
            Self::CrLf => b"\r\n",
            Self::None => b"",
        }
    }

    /// Splits a line into its content and its end.
    pub(crate) fn split(line: &[u8]) -> (&[u8], Self) {
        match line {
            [content @ .., b'\r', b'\n'] => (content, Self::CrLf),
            [content @ .., b'\n'] => (content, Self::Lf),
            _ => (line, Self::None),
        }
    }
}

/// A line, valid until the reader is asked for the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawLine<'a> {
    /// The number of the line; the first line read is 1.
    pub number: u64,
    /// The offset of its first byte in the file.
    pub offset: u64,
    /// The line without its end.
    pub bytes: &'a [u8],
    /// How the line ends.
    pub ending: LineEnding,
}

/// Yields the lines of a reader, one after the other.
///
/// A byte is copied only if its line did not fit into the buffer; nothing is allocated per line.
#[derive(Debug)]
pub struct LineReader<R> {
    reader: R,
    buffer: Vec<u8>,
    /// The bytes not yet yielded are `buffer[start..filled]`, of which those before `searched` hold no `\n`.
    start: usize,
    searched: usize,
    filled: usize,
    /// Position in the file of `buffer[start]`.
    offset: u64,
    /// The number of lines yielded.
    number: u64,
    bom: ByteOrderMark,
    at_end: bool,
}

/// The known facts about a byte order mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ByteOrderMark {
    NotLooked,
    Absent,
    Present,
}

impl LineReader<File> {
    /// Opens a file.
    ///
    /// # Errors
    /// Fails if the file cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        File::open(path).map(Self::new)
    }
}

impl<R: Read + Seek> LineReader<R> {
    /// Reads from an offset in the file, which should be the first byte of a line. Line numbers count from there.
    ///
    /// # Errors
    /// Fails if the reader cannot go to the offset.
    pub fn starting_at(mut reader: R, offset: u64) -> io::Result<Self> {
        reader.seek(SeekFrom::Start(offset))?;
        let mut lines = Self::new(reader);
        lines.offset = offset;
        if offset > 0 {
            lines.bom = ByteOrderMark::Absent;
        }
        Ok(lines)
    }
}

impl<R: Read> LineReader<R> {
    /// Reads from the reader's current position, which counts as the beginning of the file.
    pub fn new(reader: R) -> Self {
        Self::with_buffer(reader, BUFFER)
    }

    /// Reads like [`Self::new`], with another buffer size: a smaller one suits callers that want only a few lines.
    pub fn with_buffer(reader: R, size: usize) -> Self {
        Self {
            reader,
            buffer: vec![0; size.max(BOM.len())],
            start: 0,
            searched: 0,
            filled: 0,
            offset: 0,
            number: 0,
            bom: ByteOrderMark::NotLooked,
            at_end: false,
        }
    }

    /// Whether the file begins with a byte order mark. This is known once the first line has been read.
    pub fn had_bom(&self) -> bool {
        self.bom == ByteOrderMark::Present
    }

    /// Where the next line begins in the file; after the last one, where reading ended.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The next line; `None` at the end. (Not an [`Iterator`]: a line borrows the reader's buffer.)
    ///
    /// # Errors
    /// Fails if the file cannot be read; a damaged line is no error.
    #[expect(
        clippy::should_implement_trait,
        reason = "a line borrows the buffer, which Iterator cannot say"
    )]
    pub fn next(&mut self) -> io::Result<Option<RawLine<'_>>> {
        if self.bom == ByteOrderMark::NotLooked {
            self.detect_bom()?;
        }
        let end = loop {
            let fresh = &self.buffer[self.searched..self.filled];
            if let Some(at) = memchr::memchr(b'\n', fresh) {
                break self.searched + at + 1;
            }
            self.searched = self.filled;
            if self.at_end {
                break self.filled;
            }
            self.fill()?;
        };
        let whole = &self.buffer[self.start..end];
        if whole.is_empty() {
            return Ok(None);
        }
        let (bytes, ending) = LineEnding::split(whole);
        let offset = self.offset;
        self.offset += whole.len() as u64;
        self.start = end;
        self.searched = end;
        self.number += 1;
        Ok(Some(RawLine {
            number: self.number,
            offset,
            bytes,
            ending,
        }))
    }

    fn detect_bom(&mut self) -> io::Result<()> {
        while self.filled < BOM.len() && !self.at_end {
            self.fill()?;
        }
        self.bom = if self.buffer[..self.filled].starts_with(BOM) {
            self.start = BOM.len();
            self.searched = BOM.len();
            self.offset += BOM.len() as u64;
            ByteOrderMark::Present
        } else {
            ByteOrderMark::Absent
        };
        Ok(())
    }

    /// Reads once, and appends to the bytes in the buffer.
    fn fill(&mut self) -> io::Result<()> {
        // Little space is left: start the buffer again with the partial line, or grow it for a line that fills it. The
        // bound keeps a pipe, which gives few bytes at a time, from moving a line at every read.
        if self.buffer.len() - self.filled <= self.buffer.len() / 4 {
            self.buffer.copy_within(self.start..self.filled, 0);
            self.filled -= self.start;
            self.searched -= self.start;
            self.start = 0;
            if self.filled > self.buffer.len() / 2 {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
        }
        let room = &mut self.buffer[self.filled..];
        let read = loop {
            match self.reader.read(room) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => break other?.min(room.len()),
            }
        };
        self.at_end = read == 0;
        self.filled += read;
        Ok(())
    }
}
