//! Where a clearing begins to change what was sent, so that everything before it is read from the cache once more.
//!
//! The first request after a clearing ends far from the last part that it shares with earlier ones: a provider looks
//! back only some positions from a cache breakpoint. So that request has one where the unchanged part ends. The place
//! follows from the entries alone, and a process that resumes the conversation chooses the same.

use crate::hash::Set;
use crate::message::{BlockKind, EntryView, Id, Sent, Subtype};
use crate::normalize::RenderedBlock;

/// The entries that clearings without a reply after them have changed. Thinking up to `stripped` is not sent.
pub(super) fn changed_entries<'a>(
    history: impl Iterator<Item = EntryView<'a>> + Clone,
    stripped: Option<Id>,
) -> Set<Id> {
    let mut cleared: Set<Id> = Set::default();
    // Earlier clearings stripped the thinking before them already.
    let (mut stripped_before, mut newest) = (0, 0);
    for (at, entry) in history.clone().enumerate() {
        let is_clearing =
            entry.facets.subtype == Subtype::MicrocompactBoundary && entry.cache_edits().is_none();
        if is_clearing {
            if cleared.is_empty() {
                (stripped_before, newest) = (newest, at);
            }
            cleared.extend(entry.cleared());
        } else if entry.sent() == Some(Sent::Reply) {
            cleared.clear();
        }
    }
    if cleared.is_empty() {
        return Set::default();
    }
    let through = stripped.and_then(|last| {
        let mut entries = history.clone();
        entries.position(|entry| entry.uuid() == Some(last))
    });
    let changed = history.enumerate().filter(|(at, entry)| {
        let is_stripped = through.is_some_and(|through| (stripped_before..=through).contains(at));
        let mut blocks = entry.facets.blocks.iter();
        blocks.any(|block| match block.kind {
            BlockKind::ToolResult => entry
                .block_id(block)
                .is_some_and(|id| cleared.contains(&id)),
            kind => is_stripped && kind.is_thinking(),
        })
    });
    changed.filter_map(|(_, entry)| entry.uuid()).collect()
}

/// The end of the blocks before the first one of these entries. Results are sent in the order of their calls, which need
/// not be that of the entries.
pub(super) fn unchanged_blocks(blocks: &[RenderedBlock], changed: &Set<Id>) -> Option<usize> {
    let is_changed = |entry: Id| changed.contains(&entry);
    let mut blocks = blocks.iter();
    blocks.position(|block| block.entry.is_some_and(is_changed))
}
