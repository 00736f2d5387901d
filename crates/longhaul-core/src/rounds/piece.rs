//! The facts about an entry that grouping and cutting need.

use crate::hash::Set;
use crate::message::{BlockKind, EntryView, Id, Sent, Subtype};
use crate::transcript::{TranscriptRow, TranscriptTable};

/// The role of an entry in the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceKind {
    /// A compaction's boundary. Nothing before it is in view.
    Boundary,
    /// An entry that is never sent: notices, progress, records of errors.
    Unsent,
    /// Input from the user, a tool or the host.
    Input,
    /// A line of a response. Lines of one message share its id; a line without an id is a response of its own.
    Response(Option<Id>),
    /// A line of a response that holds only reasoning.
    Reasoning(Option<Id>),
}

impl PieceKind {
    /// Whether the model sees the entry.
    pub fn is_sent(self) -> bool {
        !matches!(self, Self::Boundary | Self::Unsent)
    }

    /// Whether the entry is a line of a response.
    pub fn is_response(self) -> bool {
        matches!(self, Self::Response(_) | Self::Reasoning(_))
    }

    /// Returns the message that the entry is a line of.
    pub(crate) fn message(self) -> Option<Id> {
        match self {
            Self::Response(message) | Self::Reasoning(message) => message,
            Self::Boundary | Self::Unsent | Self::Input => None,
        }
    }
}

/// One entry of a view, reduced to the facts that decide where the view may be cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewPiece {
    /// The role of the entry.
    pub part: PieceKind,
    /// The calls that the entry makes.
    pub calls: Vec<Id>,
    /// The calls that the entry answers.
    pub answers: Vec<Id>,
}

impl ViewPiece {
    /// Creates the piece of an entry.
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

    /// Creates the piece of a row.
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

/// Returns where the messages of a request begin among the pieces of a view: everything from the user's side up to the
/// next reply is one message, and so are the lines of a reply, also where results of its first calls stand between them.
pub fn message_begins(pieces: &[ViewPiece]) -> Vec<usize> {
    let mut replies: Set<Id> = Set::default();
    let mut begins = Vec::new();
    let mut is_reply_before = None;
    for (at, piece) in pieces.iter().enumerate() {
        if !piece.part.is_sent() {
            continue;
        }
        if let PieceKind::Response(Some(id)) | PieceKind::Reasoning(Some(id)) = piece.part
            && !replies.insert(id)
        {
            continue;
        }
        let is_reply = piece.part.is_response();
        if is_reply_before.replace(is_reply) != Some(is_reply) {
            begins.push(at);
        }
    }
    begins
}

/// The facts that both forms of an entry provide.
struct PieceFacts {
    subtype: Subtype,
    message: Option<Id>,
    sent: Option<Sent>,
}
