//! The conversation as the API sees it: messages of one role that follow each other are one turn.

use crate::call::ApiError;
use crate::request::{ApiBlock, ApiRole, MessagesRequest};

/// A block and where it stands.
#[derive(Clone, Copy)]
pub(super) struct PlacedBlock<'a> {
    pub(super) message: usize,
    pub(super) index: usize,
    pub(super) block: &'a ApiBlock,
}

impl PlacedBlock<'_> {
    /// `messages.3.content.1`
    pub(super) fn path(&self) -> String {
        format!("messages.{}.content.{}", self.message, self.index)
    }
}

/// Messages of one role that follow each other.
pub(super) struct RoleTurn<'a> {
    pub(super) role: ApiRole,
    /// Its first message.
    pub(super) first: usize,
    /// Its last message.
    pub(super) last: usize,
    pub(super) blocks: Vec<PlacedBlock<'a>>,
}

impl RoleTurn<'_> {
    /// Whether it has a block of this kind.
    pub(super) fn has(&self, kind: &str) -> bool {
        self.blocks.iter().any(|placed| placed.block.kind == kind)
    }
}

/// A problem of the conversation; of several the one that stands first is reported.
pub(super) struct ConversationProblem {
    pub(super) message: usize,
    pub(super) error: ApiError,
}

impl ConversationProblem {
    /// A 400 about a message.
    pub(super) fn at(message: usize, text: impl Into<String>) -> ConversationProblem {
        ConversationProblem {
            message,
            error: ApiError::invalid(text),
        }
    }
}

/// The turns of a conversation.
pub(super) fn turns(request: &MessagesRequest) -> Vec<RoleTurn<'_>> {
    let mut turns: Vec<RoleTurn<'_>> = Vec::new();
    for (index, message) in request.messages.iter().enumerate() {
        let blocks = message
            .content
            .iter()
            .enumerate()
            .map(|(at, block)| PlacedBlock {
                message: index,
                index: at,
                block,
            });
        match turns.last_mut() {
            Some(turn) if turn.role == message.role => {
                turn.last = index;
                turn.blocks.extend(blocks);
            }
            _ => turns.push(RoleTurn {
                role: message.role,
                first: index,
                last: index,
                blocks: blocks.collect(),
            }),
        }
    }
    turns
}
