//! Puts the blocks of one response in the order and form that the API takes, when they are written.

use super::block;
use super::piece::{BlockPart, BlockPiece, ServerAnswerer};
use crate::hash::Map;
use crate::message::{BlockKind, Id};

/// Where in the conversation the blocks will stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockPlacement {
    /// Before everything else.
    First,
    /// Behind something.
    Behind,
}

/// Whether there is nothing but reasoning (and white space).
pub(super) fn only_thinks(said: &[BlockPiece]) -> bool {
    said.iter()
        .all(|piece| matches!(piece.part, BlockPart::Thinking | BlockPart::Blank))
}

/// Settles what depends on the neighbours: white space, tools of the server's side, the provider's summary, the place
/// of calls.
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

/// Text of white space alone is no text: the API refuses a message that has no other, and a stored one would block the
/// session for good. Models do write it, before reasoning and before calls; on disk it stays.
fn drop_blanks(said: &mut Vec<BlockPiece>) {
    said.retain(|piece| piece.part != BlockPart::Blank);
}

/// A call on the server's side and its answer stand in this order in one message; what is left over becomes text.
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

/// The API takes no text behind a call. Responses are not made that way; damaged ones are put right.
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
