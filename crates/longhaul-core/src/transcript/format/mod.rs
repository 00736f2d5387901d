//! Whose transcript is this? Told by the beginning of a file, before the rest is read.
//!
//! A format is one file here: it recognises its own, and says what it is in a word or two. Only Claude Code's is read
//! so far; the others are refused by name. To have another one read, give it a reader beside its recogniser and let
//! [`Verdict`] hand that out.

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

/// How much of a file's beginning is enough to tell.
pub const HEAD_BYTES: usize = 64 * 1024;

/// What the beginning of a file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DetectedFormat {
    /// Entries in the on-disk shape that Claude Code writes; ours too.
    Transcript,
    /// Something else, which we do not read.
    Foreign(ForeignFormat),
    /// It does not say: empty, or damaged at the start. Reading on will tell.
    Unclear,
}

/// A format that is recognised and not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForeignFormat {
    /// What it is, to follow "this is": "a SWE-agent trajectory".
    pub what: &'static str,
    /// What to do instead, as a sentence.
    pub advice: &'static str,
}

const READS_ONLY_CLAUDE_CODE: &str =
    "Longhaul reads Claude Code transcripts (JSONL, one entry a line) for now.";

/// A format's recogniser: `Some` if it is sure.
type Recogniser = fn(&FileStart<'_>) -> Option<DetectedFormat>;

/// Asked in order: what is sure of itself first, what knows only the outer shape last.
const FORMATS: [Recogniser; 9] = [
    claude_code::recognise,
    stream_json::recognise,
    codex::recognise,
    swe_agent::recognise,
    openhands::recognise,
    goose::recognise,
    tau_bench::recognise,
    aider::recognise,
    other::recognise,
];

/// Tells a file by its first [`HEAD_BYTES`] bytes, or all of it if it is shorter.
pub fn recognise(bytes: &[u8]) -> DetectedFormat {
    let head = FileStart::new(bytes);
    FORMATS
        .iter()
        .find_map(|recognise| recognise(&head))
        .unwrap_or(DetectedFormat::Unclear)
}

/// The beginning of a file.
struct FileStart<'a> {
    bytes: &'a [u8],
    /// Whether there may be more of the file.
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

    /// The lines that are JSON objects, as far as they are whole.
    fn objects(&self) -> impl Iterator<Item = ObjectReader<'a>> {
        let lines = self.bytes.split(|byte| *byte == b'\n');
        lines.filter(|line| is_object(line)).map(ObjectReader::new)
    }

    /// Whether the file begins like a JSON text and has this within the head. Documents are longer than the head,
    /// so they are told by a word rather than parsed.
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
