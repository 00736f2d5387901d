//! Puts the blocks of one response into the order and form that the API accepts, when they are written.

use super::block;
use super::piece::{BlockPart, BlockPiece, ServerAnswerer};
use crate::hash::Map;
use crate::message::{BlockKind, Id};

/// The position of the blocks in the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockPlacement {
    /// The blocks come first.
    First,
    /// The blocks come after something.
    Behind,
}

/// Whether the blocks are only reasoning and white space.
pub(super) fn only_thinks(said: &[BlockPiece]) -> bool {
    said.iter()
        .all(|piece| matches!(piece.part, BlockPart::Thinking | BlockPart::Blank))
}

/// Applies the rules that depend on neighboring blocks: white space, server-side tools, the provider's summary, the
/// position of calls.
pub(super) fn settle(mut said: Vec<BlockPiece>, place: BlockPlacement) -> Vec<BlockPiece> {
    drop_blanks(&mut said);
    pair_server_tools(&mut said);
    for (index, piece) in said.iter_mut().enumerate() {
        if piece.part == BlockPart::SignedSummary && (place, index) != (BlockPlacement::First, 0) {
            block::become_text(piece);
        }
    }
    calls_last(said)
}

/// Drops blank text: the API refuses a message that has no other text, and a stored one would block the session for
/// good. Models do write it, before reasoning and before calls; on disk it stays.
fn drop_blanks(said: &mut Vec<BlockPiece>) {
    said.retain(|piece| piece.part != BlockPart::Blank);
}

/// Makes sure that each server-side call has its answer after it in the same message. Unmatched blocks become text.
fn pair_server_tools(said: &mut [BlockPiece]) {
    let mut open: Map<Id, (ServerAnswerer, usize)> = Map::default();
    let mut left_over = Vec::new();
    for (index, piece) in said.iter().enumerate() {
        match piece.part {
            BlockPart::ServerCall(id, server) => {
                open.insert(id, (server, index));
            }
            BlockPart::ServerResult(id, server) => match open.get(&id) {
                Some((asked, _)) if *asked == server => {
                    open.remove(&id);
                }
                _ => left_over.push(index),
            },
            _ => {}
        }
    }
    left_over.extend(open.into_values().map(|(_, index)| index));
    for index in left_over {
        block::become_text(&mut said[index]);
    }
}

/// Moves calls to the end, because the API accepts no text after a call. Only damaged responses have text there.
fn calls_last(said: Vec<BlockPiece>) -> Vec<BlockPiece> {
    let is_call = |piece: &BlockPiece| matches!(piece.part, BlockPart::Call(_));
    let last_text = said.iter().rposition(|piece| piece.kind == BlockKind::Text);
    let first_call = said.iter().position(is_call);
    match (first_call, last_text) {
        (Some(call), Some(text)) if call < text => {
            let mut before = Vec::with_capacity(said.len());
            let (mut calls, mut behind) = (Vec::new(), Vec::new());
            for (index, piece) in said.into_iter().enumerate() {
                match () {
                    () if index > text => behind.push(piece),
                    () if is_call(&piece) => calls.push(piece),
                    () => before.push(piece),
                }
            }
            before.append(&mut calls);
            before.append(&mut behind);
            before
        }
        _ => said,
    }
}
