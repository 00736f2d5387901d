//! The query, built from a call's input.

use std::fs::File;
use std::io::{self, Read};

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder};
use ignore::types::{Types, TypesBuilder};
use tokio_util::sync::CancellationToken;

use super::{GrepInput, GrepMode};

/// A multi-line search holds the file in memory; larger files are skipped.
const HEAP: usize = 64 << 20;

/// The maximum number of lines shown around a match.
const AROUND: u64 = 1_000;

pub(super) struct GrepQuery {
    pub(super) matcher: RegexMatcher,
    pub(super) types: Option<Types>,
    searcher: SearcherBuilder,
}

impl GrepQuery {
    pub(super) fn new(input: &GrepInput) -> Result<Self, String> {
        let several_lines = input.multiline == Some(true);
        let mut regex = RegexMatcherBuilder::new();
        regex
            .case_insensitive(input.any_case == Some(true))
            .multi_line(true)
            .dot_matches_new_line(several_lines);
        if !several_lines {
            regex.line_terminator(Some(b'\n'));
        }
        let matcher = regex.build(&input.pattern).map_err(|error| {
            let hint = if several_lines || !input.pattern.contains("\\n") {
                "Correct it; literal brackets, braces and parentheses need a backslash."
            } else {
                "Set multiline for a pattern that spans lines."
            };
            format!("The pattern does not work: {error}. {hint}")
        })?;
        let types = match input.kind.as_deref().filter(|kind| !kind.is_empty()) {
            Some(kind) => Some(types(kind)?),
            None => None,
        };
        let around = |lines: Option<u64>| match input.output_mode {
            Some(GrepMode::Content) => lines.or(input.around).unwrap_or(0).min(AROUND) as usize,
            _ => 0,
        };
        let mut searcher = SearcherBuilder::new();
        searcher
            .multi_line(several_lines)
            .before_context(around(input.before))
            .after_context(around(input.after))
            .line_number(true)
            .binary_detection(BinaryDetection::quit(0))
            .memory_map(MmapChoice::never())
            .heap_limit(Some(HEAP));
        Ok(Self {
            matcher,
            types,
            searcher,
        })
    }

    pub(super) fn searcher(&self) -> Searcher {
        self.searcher.build()
    }
}

fn types(kind: &str) -> Result<Types, String> {
    let mut types = TypesBuilder::new();
    types.add_defaults().select(kind);
    types.build().map_err(|_| {
        format!("There is no file type \"{kind}\". Use glob instead, or a type as ripgrep names it: rust, js, ts, py, go, java, c, cpp …")
    })
}

/// A file whose reading ends when the call is cancelled.
pub(super) struct InterruptibleFile<'a> {
    pub(super) file: File,
    pub(super) cancel: &'a CancellationToken,
}

impl Read for InterruptibleFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            Err(io::ErrorKind::ConnectionAborted.into())
        } else {
            self.file.read(buffer)
        }
    }
}
