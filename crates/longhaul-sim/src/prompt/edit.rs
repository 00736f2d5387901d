//! Changes blocks of a layout, as server-side clearing does to a prompt.

use std::collections::BTreeMap;

use super::extra::ProviderOverhead;
use super::layout::PromptLayout;
use super::parts::{asks_for_citations, has_image, role_mask};
use super::scheme::LayoutScheme;
use crate::call::ApiError;
use crate::request::{ApiBlock, MessagesRequest, identity};
use crate::tokens::TokenCounter;

/// A change of a block.
#[derive(Debug, Clone)]
pub(crate) enum BlockChange {
    /// The block is removed.
    Remove,
    /// The block is replaced with another.
    Replace(ApiBlock),
}

/// Changes by message index and block index.
#[derive(Debug, Clone, Default)]
pub(crate) struct BlockChanges(pub BTreeMap<(usize, usize), BlockChange>);

impl BlockChanges {
    /// The request with the changes applied. A message that becomes empty stays.
    pub(crate) fn applied(&self, request: &MessagesRequest) -> MessagesRequest {
        let mut changed = request.clone();
        // The changes are applied from the end, so that indices stay valid.
        for ((message, block), change) in self.0.iter().rev() {
            let Some(message) = changed.messages.get_mut(*message) else {
                continue;
            };
            match change {
                BlockChange::Remove if *block < message.content.len() => {
                    message.content.remove(*block);
                }
                BlockChange::Remove => {}
                BlockChange::Replace(other) => {
                    if let Some(there) = message.content.get_mut(*block) {
                        *there = other.clone();
                    }
                }
            }
        }
        changed
    }
}

impl PromptLayout {
    /// The message block at a position, with its place in the request that this layout was made from.
    pub(crate) fn block_at<'a>(
        &self,
        request: &'a MessagesRequest,
        index: usize,
    ) -> Option<((usize, usize), &'a ApiBlock)> {
        let slot = self.slots.get(index)?;
        let message = slot.message?;
        let block = request.messages.get(message)?.content.get(slot.block)?;
        Some(((message, slot.block), block))
    }

    /// The layout of a request with changes. `request` is the state before them.
    pub(crate) fn edited(
        &self,
        request: &MessagesRequest,
        changes: &BlockChanges,
        scheme: LayoutScheme<'_>,
        counter: &mut TokenCounter,
    ) -> Result<Self, ApiError> {
        let mut new = self.clone();
        new.take_back_automatic();
        let (positions, slots) = (
            std::mem::take(&mut new.prompt.positions),
            std::mem::take(&mut new.slots),
        );
        new.starts.clear();
        (new.images, new.citations) = (None, None);
        // Tokens before a removed block belong to the next block of its message.
        let mut frame = (None, 0);
        for (mut position, slot) in positions.into_iter().zip(slots) {
            let here = new.prompt.positions.len();
            let Some(index) = slot.message else {
                new.prompt.positions.push(position);
                new.slots.push(slot);
                continue;
            };
            while new.starts.len() <= index {
                new.starts.push(here);
            }
            let message = request.messages.get(index);
            let Some(block) = message.and_then(|message| message.content.get(slot.block)) else {
                continue;
            };
            if frame.0 == Some(index) {
                position.tokens += frame.1;
            }
            frame = (None, 0);
            let change = changes.0.get(&(index, slot.block));
            if let Some(change) = change {
                let own = counter.block(block, identity::of_block(block), scheme.family());
                let around = position.tokens.saturating_sub(own);
                let BlockChange::Replace(other) = change else {
                    frame = (Some(index), around);
                    continue;
                };
                let identity = identity::of_block(other);
                position.tokens = around + counter.block(other, identity, scheme.family());
                position.identity = identity ^ message.map_or(0, |m| role_mask(m.role));
            }
            let shown = match change {
                Some(BlockChange::Replace(other)) => other,
                _ => block,
            };
            new.images = new.images.or_else(|| has_image(shown).then_some(here));
            new.citations = new
                .citations
                .or_else(|| asks_for_citations(shown).then_some(here));
            new.prompt.positions.push(position);
            new.slots.push(slot);
        }
        new.keys = new.keys_of(request, scheme);
        new.extra = ProviderOverhead::of(request, scheme.spec, new.keys.features, counter);
        new.chain(0);
        new.prompt.markers.clear();
        new.note_markers(0);
        new.place_automatic(request.automatic_cache)?;
        Ok(new)
    }
}
