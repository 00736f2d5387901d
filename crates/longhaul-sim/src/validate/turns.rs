//! The conversation as the API sees it: consecutive messages of one role are one turn.

use crate::call::ApiError;
use crate::request::{ApiBlock, ApiRole, MessagesRequest};

/// A block and its position.
#[derive(Clone, Copy)]
pub(super) struct PlacedBlock<'a> {
    pub(super) message: usize,
    pub(super) index: usize,
    pub(super) block: &'a ApiBlock,
}

impl PlacedBlock<'_> {
    /// The path of the block, such as `messages.3.content.1`.
    pub(super) fn path(&self) -> String {
        format!("messages.{}.content.{}", self.message, self.index)
    }
}

/// Consecutive messages of one role.
pub(super) struct RoleTurn<'a> {
    pub(super) role: ApiRole,
    /// The index of the first message.
    pub(super) first: usize,
    /// The index of the last message.
    pub(super) last: usize,
    pub(super) blocks: Vec<PlacedBlock<'a>>,
}

impl RoleTurn<'_> {
    /// Whether the turn has a block of this kind.
    pub(super) fn has(&self, kind: &str) -> bool {
        self.blocks.iter().any(|placed| placed.block.kind == kind)
    }
}

/// A problem in the conversation; if there are several, the first by position is reported.
pub(super) struct ConversationProblem {
    pub(super) message: usize,
    pub(super) error: ApiError,
}

impl ConversationProblem {
    /// A 400 error about a message.
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
