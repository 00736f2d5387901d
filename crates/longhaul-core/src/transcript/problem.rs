//! Problems of a file, line by line (M4, ruling 9). A problem never stops the reading.

use serde::Serialize;

use crate::message::LineDamage;

/// A problem on a line, which the reader survived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TranscriptProblem {
    /// The line, counted from 1.
    pub line: u64,
    /// The kind of problem.
    pub kind: TranscriptProblemKind,
    /// One sentence for a person.
    pub message: String,
}

/// The kinds of problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TranscriptProblemKind {
    /// The last line breaks off because a write was cut short.
    TornLine,
    /// The line is not JSON.
    DamagedLine,
    /// The line is not UTF-8.
    InvalidUtf8,
    /// The line is JSON but not an object.
    NotAnObject,
    /// The line is an object with something after it.
    TrailingGarbage,
    /// The file begins with a byte order mark.
    Bom,
    /// Lines end in carriage return and line feed.
    Crlf,
    /// An earlier line has the same uuid.
    DuplicateUuid,
    /// The parent is not in the file.
    DanglingParent,
    /// The parent chain leads back to itself.
    CyclicParent,
    /// A boundary names preserved messages that cannot be found.
    BrokenSegment,
    /// A compaction was cut short before its summary was written.
    IncompleteCompaction,
    /// A tool result has no call.
    OrphanResult,
    /// A tool call was never answered, though the conversation continued.
    OrphanCall,
}

impl TranscriptProblemKind {
    /// All kinds.
    pub const ALL: [Self; 14] = [
        Self::TornLine,
        Self::DamagedLine,
        Self::InvalidUtf8,
        Self::NotAnObject,
        Self::TrailingGarbage,
        Self::Bom,
        Self::Crlf,
        Self::DuplicateUuid,
        Self::DanglingParent,
        Self::CyclicParent,
        Self::BrokenSegment,
        Self::IncompleteCompaction,
        Self::OrphanResult,
        Self::OrphanCall,
    ];

    /// The name in JSON output.
    pub fn name(self) -> &'static str {
        match self {
            Self::TornLine => "torn_line",
            Self::DamagedLine => "damaged_line",
            Self::InvalidUtf8 => "invalid_utf8",
            Self::NotAnObject => "not_an_object",
            Self::TrailingGarbage => "trailing_garbage",
            Self::Bom => "bom",
            Self::Crlf => "crlf",
            Self::DuplicateUuid => "duplicate_uuid",
            Self::DanglingParent => "dangling_parent",
            Self::CyclicParent => "cyclic_parent",
            Self::BrokenSegment => "broken_segment",
            Self::IncompleteCompaction => "incomplete_compaction",
            Self::OrphanResult => "orphan_result",
            Self::OrphanCall => "orphan_call",
        }
    }
}

impl TranscriptProblem {
    pub(crate) fn new(line: u64, kind: TranscriptProblemKind, message: impl Into<String>) -> Self {
        Self {
            line,
            kind,
            message: message.into(),
        }
    }

    /// Creates the problem of a damaged line. A line is torn if the file ends inside it.
    pub fn damaged(line: u64, damage: &LineDamage, ends_the_file: EndsTheFile) -> Self {
        let kind = match damage {
            _ if ends_the_file == EndsTheFile::Yes && damage.is_cut_off() => {
                let message = "the file ends inside this line; a write was cut short";
                return Self::new(line, TranscriptProblemKind::TornLine, message);
            }
            LineDamage::InvalidUtf8(_) | LineDamage::CutInCharacter(_) => {
                TranscriptProblemKind::InvalidUtf8
            }
            LineDamage::NotJson(_) | LineDamage::TooLong => TranscriptProblemKind::DamagedLine,
            LineDamage::NotAnObject => TranscriptProblemKind::NotAnObject,
            LineDamage::TrailingGarbage(_) => TranscriptProblemKind::TrailingGarbage,
        };
        Self::new(line, kind, damage.to_string())
    }
}

/// Whether a line is the last one and has no line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndsTheFile {
    /// The file ends with this line, without a line end.
    Yes,
    /// A line end follows.
    No,
}
