//! The results of a search, as the model reads them: in the order of paths, and no more than it asked for.

use std::fmt::Write;
use std::io;

use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};
use longhaul_core::figures::{counted, counted_as};

use super::{GrepInput, GrepMode};
use crate::tool::ToolCallOutput;

/// The number of lines or files that are shown if the call does not set a limit.
const HEAD: u64 = 250;

/// The number of characters of a line that are shown: minified code is all on one line.
const LINE: usize = 500;

/// The maximum number of characters in an answer.
const MOST: usize = 30_000;

/// Whether the limit is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResultsFull {
    Yes,
    No,
}

pub(super) struct GrepResults {
    mode: GrepMode,
    numbers: bool,
    most: u64,
    text: String,
    /// The number of lines or files in the text.
    shown: u64,
    matches: u64,
    files: u64,
    full: ResultsFull,
    file: String,
    in_file: u64,
}

impl GrepResults {
    pub(super) fn new(input: &GrepInput) -> Self {
        Self {
            mode: input.output_mode.unwrap_or_default(),
            numbers: input.numbers != Some(false),
            most: match input.head_limit {
                None => HEAD,
                Some(0) => u64::MAX,
                Some(most) => most,
            },
            text: String::new(),
            shown: 0,
            matches: 0,
            files: 0,
            full: ResultsFull::No,
            file: String::new(),
            in_file: 0,
        }
    }

    /// The sink for the matches in a file.
    pub(super) fn in_file(&mut self, file: String) -> &mut Self {
        self.file = file;
        self.in_file = 0;
        self
    }

    pub(super) fn end_of_file(&mut self) -> ResultsFull {
        if self.in_file > 0 {
            self.files += 1;
            let line = match self.mode {
                GrepMode::Content => None,
                GrepMode::FilesWithMatches => Some(self.file.clone()),
                GrepMode::Count => Some(format!("{}:{}", self.file, self.in_file)),
            };
            if let Some(line) = line {
                self.add(&line);
            }
        }
        self.full
    }

    fn add(&mut self, line: &str) {
        if self.shown >= self.most || self.text.len() >= MOST {
            self.full = ResultsFull::Yes;
            return;
        }
        self.shown += 1;
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn add_lines(&mut self, bytes: &[u8], first: Option<u64>, mark: char) {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        for (line, number) in bytes.split(|byte| *byte == b'\n').zip(first.unwrap_or(1)..) {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let text = String::from_utf8_lossy(&line[..line.len().min(LINE * 4)]);
            let mut shown = self.file.clone();
            if self.numbers {
                // Writing to a string does not fail.
                let _ = write!(shown, "{mark}{number}");
            }
            shown.push(mark);
            match text.char_indices().nth(LINE) {
                Some((end, _)) => {
                    shown.push_str(&text[..end]);
                    shown.push_str(" […]");
                }
                None => shown.push_str(&text),
            }
            self.add(&shown);
        }
    }

    pub(super) fn output(self) -> ToolCallOutput {
        if self.files == 0 {
            return ToolCallOutput::text(
                "No matches. Ignored (.gitignore) and binary files were not searched.",
                "no matches",
            );
        }
        let line = match self.mode {
            GrepMode::Content | GrepMode::Count => format!(
                "{} in {}",
                counted_as(self.matches, "match", "matches"),
                counted(self.files, "file")
            ),
            GrepMode::FilesWithMatches => counted(self.files, "file"),
        };
        let mut text = self.text;
        if self.full == ResultsFull::Yes {
            let what = if self.mode == GrepMode::Content {
                "lines"
            } else {
                "files"
            };
            let _ = write!(
                text,
                "(the first {} {what}; there are more: narrow the search, or raise head_limit)",
                self.shown
            );
        }
        ToolCallOutput::text(text.trim_end(), line)
    }
}

impl Sink for &mut GrepResults {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.matches += 1;
        self.in_file += 1;
        if self.mode == GrepMode::Content {
            self.add_lines(found.bytes(), found.line_number(), ':');
        }
        Ok(self.mode != GrepMode::FilesWithMatches && self.full == ResultsFull::No)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        self.add_lines(context.bytes(), context.line_number(), '-');
        Ok(self.full == ResultsFull::No)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        if self.mode == GrepMode::Content && self.full == ResultsFull::No && self.shown < self.most
        {
            self.text.push_str("--\n");
        }
        Ok(true)
    }
}
