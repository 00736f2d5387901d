//! What grouping and cutting need to know of an entry.

use crate::message::{BlockKind, EntryView, Id, Sent, Subtype};
use crate::transcript::{TranscriptRow, TranscriptTable};

/// What an entry is to the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceKind {
    /// A compaction's boundary: nothing before it is in view.
    Boundary,
    /// Never sent: notices, progress, records of errors.
    Unsent,
    /// From the user, a tool or the host.
    Input,
    /// A line of a response. Lines of one message share its id; a line without one is a response of its own.
    Response(Option<Id>),
    /// A line of a response that holds nothing but reasoning.
    Reasoning(Option<Id>),
}

impl PieceKind {
    /// Whether the model sees it.
    pub fn is_sent(self) -> bool {
        !matches!(self, Self::Boundary | Self::Unsent)
    }

    /// Whether it is a line of a response.
    pub fn is_response(self) -> bool {
        matches!(self, Self::Response(_) | Self::Reasoning(_))
    }

    /// The message that it is a line of.
    pub(crate) fn message(self) -> Option<Id> {
        match self {
            Self::Response(message) | Self::Reasoning(message) => message,
            Self::Boundary | Self::Unsent | Self::Input => None,
        }
    }
}

/// One entry of a view, reduced to what decides where the view may be cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewPiece {
    /// What it is.
    pub part: PieceKind,
    /// The calls it makes.
    pub calls: Vec<Id>,
    /// The calls it answers.
    pub answers: Vec<Id>,
}

impl ViewPiece {
    /// The piece that an entry is.
    pub fn of_view(entry: EntryView<'_>) -> Self {
        let facets = entry.facets;
        let blocks = facets.blocks.iter().filter(|block| !block.inner);
        let noted = blocks.map(|block| (block.kind, block.blank, entry.block_id(block)));
        let seen = PieceFacts {
            subtype: facets.subtype,
            message: entry.message_id(),
            sent: entry.sent(),
        };
        Self::new(seen, noted)
    }

    /// The piece that a row is.
    pub fn of_row(table: &TranscriptTable, row: &TranscriptRow) -> Self {
        let blocks = table.blocks(row).iter();
        let noted = blocks.map(|block| (block.kind, block.blank, block.call));
        let seen = PieceFacts {
            subtype: row.subtype,
            message: row.message,
            sent: row.sent(),
        };
        Self::new(seen, noted)
    }

    fn new(seen: PieceFacts, blocks: impl Iterator<Item = (BlockKind, bool, Option<Id>)>) -> Self {
        let (mut calls, mut answers) = (Vec::new(), Vec::new());
        let (mut reasons, mut speaks) = (false, false);
        for (kind, blank, call) in blocks {
            reasons |= kind.is_thinking();
            speaks |= !kind.is_thinking() && !blank;
            match kind {
                BlockKind::ToolUse => calls.extend(call),
                BlockKind::ToolResult => answers.extend(call),
                _ => {}
            }
        }
        let part = match seen.sent {
            None if seen.subtype == Subtype::CompactBoundary => PieceKind::Boundary,
            None => PieceKind::Unsent,
            Some(Sent::Reply) if reasons && !speaks => PieceKind::Reasoning(seen.message),
            Some(Sent::Reply) => PieceKind::Response(seen.message),
            Some(Sent::Input | Sent::Attachment) => PieceKind::Input,
        };
        Self {
            part,
            calls,
            answers,
        }
    }
}

/// The facts of an entry that both of its forms know.
struct PieceFacts {
    subtype: Subtype,
    message: Option<Id>,
    sent: Option<Sent>,
}
