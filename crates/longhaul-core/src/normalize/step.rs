//! The steps that an entry contributes: a line of a response, results of calls, input from the user's side (Z1).

use crate::message::{BlockKind, EntryView, Sent};

/// A part of the conversation, not yet rendered.
#[derive(Debug, Clone, Copy)]
pub(super) struct RenderStep<'a> {
    /// The entry's position in the history.
    pub(super) at: usize,
    pub(super) view: EntryView<'a>,
    pub(super) ask: RenderStepKind,
}

/// The kind of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RenderStepKind {
    /// A line of a response, with all of its blocks.
    Line,
    /// A result, which is the entry's block at this index.
    Result(usize),
    /// Other input from the user's side, which is the entry's block at this index.
    Input(usize),
    /// An attachment.
    Attachment,
}

/// Returns the steps of an entry at this position of the history.
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
