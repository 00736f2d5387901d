//! What an entry asks for: a line of a response, results of calls, input of the user's side (Z1).

use crate::message::{BlockKind, EntryView, Sent};

/// A part of the conversation, not yet rendered.
#[derive(Debug, Clone, Copy)]
pub(super) struct RenderStep<'a> {
    /// The entry's place in the history.
    pub(super) at: usize,
    pub(super) view: EntryView<'a>,
    pub(super) ask: RenderStepKind,
}

/// What it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RenderStepKind {
    /// A line of a response: all of its blocks.
    Line,
    /// A result: the entry's block at this index.
    Result(usize),
    /// Something else from the user's side: the entry's block at this index.
    Input(usize),
    /// An attachment.
    Attachment,
}

/// The steps of an entry, which is at this place of the history.
pub(super) fn steps(at: usize, view: EntryView<'_>) -> impl Iterator<Item = RenderStep<'_>> {
    let (whole, blocks) = match view.sent() {
        Some(Sent::Reply) => (Some(RenderStepKind::Line), &[][..]),
        Some(Sent::Attachment) => (Some(RenderStepKind::Attachment), &[][..]),
        Some(Sent::Input) => (None, view.facets.blocks.as_slice()),
        None => (None, &[][..]),
    };
    let outer = blocks.iter().enumerate().filter(|(_, block)| !block.inner);
    let parts = outer.filter_map(|(index, block)| match block.kind {
        BlockKind::ToolResult => Some(RenderStepKind::Result(index)),
        _ if block.blank => None,
        _ => Some(RenderStepKind::Input(index)),
    });
    whole
        .into_iter()
        .chain(parts)
        .map(move |ask| RenderStep { at, view, ask })
}
