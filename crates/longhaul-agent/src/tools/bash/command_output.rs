//! The output of a command: all of it is read, so that the command never waits; its beginning and its end are kept in
//! memory, and all of it, up to a limit, in a file once that is needed.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::clean::clean;

/// The number of bytes kept of the beginning, and again of the end.
const KEPT: usize = 128 << 10;

/// The number of characters that the model sees, half of them from the beginning.
pub(super) const SHOWN: usize = 30_000;

/// The maximum size of the file: a command may print without end.
const FILED: u64 = 64 << 20;

const LEFT_OUT: &str = include_str!("left_out.md");

/// The output of a command.
pub(super) struct CommandOutput {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// The number of bytes since the output was last taken.
    total: u64,
    /// The number of line ends among them.
    line_ends: u64,
    /// Whether the last of them ends a line.
    is_at_line_end: bool,
    path: PathBuf,
    file: OutputFile,
}

enum OutputFile {
    /// No file is needed yet: memory holds everything.
    NotYet,
    /// The file is open, and this many bytes were written.
    Open(File, u64),
    Failed(io::Error),
}

impl CommandOutput {
    /// An empty output that uses this file if it needs one.
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            total: 0,
            line_ends: 0,
            is_at_line_end: true,
            path,
            file: OutputFile::NotYet,
        }
    }

    /// Adds output.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if matches!(self.file, OutputFile::NotYet)
            && self.head.len() + self.tail.len() + bytes.len() > 2 * KEPT
        {
            self.open_file();
        }
        self.write(bytes);
        self.total += bytes.len() as u64;
        self.line_ends += memchr::memchr_iter(b'\n', bytes).count() as u64;
        if let Some(last) = bytes.last() {
            self.is_at_line_end = *last == b'\n';
        }
        let room = (KEPT - self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        self.tail.extend(&bytes[room..]);
        let excess = self.tail.len().saturating_sub(KEPT);
        self.tail.drain(..excess);
    }

    /// The last lines of the output, for people.
    pub(super) fn newest(&self, lines: usize) -> String {
        let from = match self.tail.len() {
            0 => &self.head[self.head.len().saturating_sub(4_096)..],
            _ => &[],
        };
        let end = self.tail.iter().skip(self.tail.len().saturating_sub(4_096));
        let bytes: Vec<u8> = from.iter().chain(end).copied().collect();
        let text = clean(&bytes);
        let all: Vec<&str> = text.trim_end().lines().collect();
        all[all.len().saturating_sub(lines)..].join("\n")
    }

    /// What the model sees of the output.
    pub(super) fn text(&mut self) -> String {
        let (head, tail) = self.tail.as_slices();
        let end = [head, tail].concat();
        let kept = (self.head.len() + end.len()) as u64;
        let (first, last) = if kept == self.total {
            let text = clean(&[&self.head[..], &end].concat());
            if text.chars().count() <= SHOWN {
                return text;
            }
            (beginning(&text).to_owned(), ending(&text).to_owned())
        } else {
            (
                beginning(&clean(&self.head)).to_owned(),
                ending(&clean(&end)).to_owned(),
            )
        };
        if matches!(self.file, OutputFile::NotYet) {
            self.open_file();
        }
        let left = self.total.saturating_sub((first.len() + last.len()) as u64);
        let note = LEFT_OUT
            .replace("{left}", &left.to_string())
            .replace("{total}", &self.total.to_string())
            .replace("{where}", &self.place());
        format!("{first}{note}{last}")
    }

    /// Takes the output: returns what the model sees and starts over. Everything is written to the file, which then has
    /// the whole output.
    pub(super) fn take(&mut self) -> String {
        if self.total > 0 && matches!(self.file, OutputFile::NotYet) {
            self.open_file();
        }
        let text = self.text();
        self.head.clear();
        self.tail.clear();
        self.total = 0;
        self.line_ends = 0;
        self.is_at_line_end = true;
        text
    }

    /// The number of lines, of which the model may see only a part.
    pub(super) fn lines(&self) -> u64 {
        self.line_ends + u64::from(!self.is_at_line_end)
    }

    fn place(&self) -> String {
        match &self.file {
            OutputFile::Open(_, FILED..) => format!(
                "the first {} MiB are in {}",
                FILED >> 20,
                self.path.display()
            ),
            OutputFile::Open(..) => format!("all of it is in {}", self.path.display()),
            OutputFile::NotYet => "it was not kept".to_owned(),
            OutputFile::Failed(error) => format!("it could not be kept ({error})"),
        }
    }

    /// Opens the file while memory still holds everything, so that nothing is missing in it.
    fn open_file(&mut self) {
        self.file = match create(&self.path) {
            Ok(file) => OutputFile::Open(file, 0),
            Err(error) => OutputFile::Failed(error),
        };
        let (head, tail) = self.tail.as_slices();
        let so_far = [&self.head[..], head, tail].concat();
        self.write(&so_far);
    }

    fn write(&mut self, bytes: &[u8]) {
        if let OutputFile::Open(file, length) = &mut self.file {
            let room = usize::try_from(FILED.saturating_sub(*length)).unwrap_or(usize::MAX);
            let part = &bytes[..bytes.len().min(room)];
            *length += part.len() as u64;
            if let Err(error) = file.write_all(part) {
                self.file = OutputFile::Failed(error);
            }
        }
    }
}

fn create(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    File::create(path)
}

fn beginning(text: &str) -> &str {
    match text.char_indices().nth(SHOWN / 2) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

fn ending(text: &str) -> &str {
    match text.char_indices().rev().nth(SHOWN / 2 - 1) {
        Some((start, _)) => &text[start..],
        None => text,
    }
}
