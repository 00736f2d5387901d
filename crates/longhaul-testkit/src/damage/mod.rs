//! Ways to damage a transcript on purpose.
//!
//! Every function takes the bytes of a healthy file and returns the damaged bytes with the numbers (from 1, in the
//! damaged file) of the lines that a reader should report. Line numbers beyond the end mean the last line. If there is
//! nothing to damage (a parent on a line without one), a function returns the bytes unchanged and no lines.
//!
//! Modules: `text` damages the text of a line or of the file; `links` keeps lines well-formed but makes them point to
//! the wrong place.

mod links;
mod text;

pub use links::{
    broken_segment, cycle, dangling_parent, duplicate_uuid, orphan_call, orphan_result,
};
pub use text::{
    binary_line, blank_lines, bom, crlf, deep_nesting, garbage_line, huge_garbage_line, huge_line,
    invalid_utf8, lone_surrogate, no_final_newline, non_object_line, tear_last_line,
    trailing_garbage,
};

/// A damaged file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedFile {
    /// The bytes of the damaged file.
    pub bytes: Vec<u8>,
    /// The lines that a reader should report, from 1.
    pub lines: Vec<usize>,
}

/// The numbers of the lines that contain `needle`; use it to find a line to damage.
#[must_use]
pub fn lines_with(bytes: &[u8], needle: &str) -> Vec<usize> {
    let finder = memchr::memmem::Finder::new(needle);
    SplitLines::of(bytes)
        .0
        .iter()
        .enumerate()
        .filter(|(_, line)| finder.find(line).is_some())
        .map(|(at, _)| at + 1)
        .collect()
}

/// A file split into lines, each with its line end; the last may lack one.
struct SplitLines(Vec<Vec<u8>>);

impl SplitLines {
    fn of(bytes: &[u8]) -> Self {
        Self(
            bytes
                .split_inclusive(|byte| *byte == b'\n')
                .map(<[u8]>::to_vec)
                .collect(),
        )
    }

    /// The index of the line with that number, or the last one if there are fewer; `None` if there are none.
    fn index(&self, line: usize) -> Option<usize> {
        line.max(1).min(self.0.len()).checked_sub(1)
    }

    /// The line at index `at` without its end.
    fn body(&self, at: usize) -> &[u8] {
        let line = &self.0[at];
        line.strip_suffix(b"\n").unwrap_or(line)
    }

    /// Inserts a line before the one with that number, or at the end if there are fewer; returns its number.
    fn insert(&mut self, line: usize, body: &[u8]) -> usize {
        let at = line.saturating_sub(1).min(self.0.len());
        if let Some(last) = self
            .0
            .last_mut()
            .filter(|last| at > 0 && !last.ends_with(b"\n"))
        {
            last.push(b'\n');
        }
        let mut body = body.to_vec();
        body.push(b'\n');
        self.0.insert(at, body);
        at + 1
    }

    fn named(self, lines: Vec<usize>) -> DamagedFile {
        DamagedFile {
            bytes: self.0.concat(),
            lines,
        }
    }
}
