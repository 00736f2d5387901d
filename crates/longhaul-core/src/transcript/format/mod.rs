//! Detects the format of a transcript from the beginning of the file, before the rest is read.
//!
//! Each format has a file here that recognizes it and names it in a word or two. Only Claude Code's format is read so
//! far; the others are refused by name. To support another one, add a reader beside its recognizer and let
//! [`DetectedFormat`] return it.

mod aider;
mod claude_code;
mod codex;
mod goose;
mod openhands;
mod other;
mod stream_json;
mod swe_agent;
mod tau_bench;

use crate::json::{JsonCursor, ObjectReader};

/// How many bytes of a file's beginning are enough to detect its format.
pub const HEAD_BYTES: usize = 64 * 1024;

/// The format that the beginning of a file shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DetectedFormat {
    /// The file has entries in the on-disk format of Claude Code, which is also Longhaul's.
    Transcript,
    /// The file has another format, which Longhaul does not read.
    Foreign(ForeignFormat),
    /// The beginning does not show the format: it is empty or damaged. Reading further will tell.
    Unclear,
}

/// A format that is recognized but not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForeignFormat {
    /// The name of the format, to follow "this is": "a SWE-agent trajectory".
    pub what: &'static str,
    /// What to do instead, as a sentence.
    pub advice: &'static str,
}

const READS_ONLY_CLAUDE_CODE: &str =
    "Longhaul reads Claude Code transcripts (JSONL, one entry a line) for now.";

/// A function that recognizes a format: it returns `Some` if it is sure.
type FormatRecognizer = fn(&FileStart<'_>) -> Option<DetectedFormat>;

/// The recognizers, in order: the most specific first, those that only know the outer shape last.
const FORMATS: [FormatRecognizer; 9] = [
    claude_code::recognize,
    stream_json::recognize,
    codex::recognize,
    swe_agent::recognize,
    openhands::recognize,
    goose::recognize,
    tau_bench::recognize,
    aider::recognize,
    other::recognize,
];

/// Detects a file's format from its first [`HEAD_BYTES`] bytes, or from all of it if it is shorter.
pub fn recognize(bytes: &[u8]) -> DetectedFormat {
    let head = FileStart::new(bytes);
    FORMATS
        .iter()
        .find_map(|recognize| recognize(&head))
        .unwrap_or(DetectedFormat::Unclear)
}

/// The beginning of a file.
struct FileStart<'a> {
    bytes: &'a [u8],
    /// Whether the file may continue after these bytes.
    is_cut: bool,
}

impl<'a> FileStart<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let is_cut = bytes.len() >= HEAD_BYTES;
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        Self {
            bytes: bytes.trim_ascii_start(),
            is_cut,
        }
    }

    /// Returns the lines that are JSON objects, as far as they are complete.
    fn objects(&self) -> impl Iterator<Item = ObjectReader<'a>> {
        let lines = self.bytes.split(|byte| *byte == b'\n');
        lines.filter(|line| is_object(line)).map(ObjectReader::new)
    }

    /// Whether the file begins like a JSON text and contains this word in its first bytes. Documents are longer than
    /// that, so they are recognized by a word rather than parsed.
    fn opens_with_and_holds(&self, opening: u8, word: &str) -> bool {
        self.bytes.first() == Some(&opening)
            && memchr::memmem::find(self.bytes, word.as_bytes()).is_some()
    }
}

fn is_object(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let mut cursor = JsonCursor::new(line);
    line.first() == Some(&b'{')
        && std::str::from_utf8(line).is_ok()
        && cursor.skip().is_ok()
        && cursor.end().is_ok()
}

fn foreign(what: &'static str) -> Option<DetectedFormat> {
    Some(DetectedFormat::Foreign(ForeignFormat {
        what,
        advice: READS_ONLY_CLAUDE_CODE,
    }))
}
