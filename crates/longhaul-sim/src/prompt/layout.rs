//! Turns a request into positions, and extends the layout from one request of a conversation to the next.
//!
//! A layout is extended rather than made again: messages that are byte for byte those of the earlier request are
//! neither hashed nor counted again.

use longhaul_core::models::{ModelSpec, PriorThinking};

use super::automatic;
use super::extra::ProviderOverhead;
use super::key::{self, LevelKeys, PromptFeatures};
use super::parts::{
    ConversationStart, asks_for_citations, begin, contains_summary, discovered, has_image,
    inner_marker, is_summary, newest_turn, prefix_positions, role_mask,
};
use super::scheme::LayoutScheme;
use super::{LaidOutPrompt, PromptLevel, PromptPosition};
use crate::call::ApiError;
use crate::request::{CacheLifetime, MessagesRequest, identity};
use crate::tokens::{FIRST_MESSAGE, NEXT_MESSAGE, TokenCounter};

/// The block at a position.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PositionBlock {
    /// Whether it can carry a breakpoint.
    pub(super) able: bool,
    /// The index of its message; `None` for tools and system.
    pub(super) message: Option<usize>,
    /// The index within its message.
    pub(super) block: usize,
    /// Whether it is a summary.
    pub(super) summary: bool,
}

/// The layout of a request, with what is needed to extend it.
#[derive(Debug, Clone, Default)]
pub(crate) struct PromptLayout {
    /// The prompt with its positions.
    pub prompt: LaidOutPrompt,
    /// The number of positions of tools and system.
    pub(super) prefix_len: usize,
    /// The index of each message's first position.
    pub(super) starts: Vec<usize>,
    /// The block at each position.
    pub(super) slots: Vec<PositionBlock>,
    model: String,
    pub(super) keys: LevelKeys,
    pub(super) extra: ProviderOverhead,
    /// The first position with an image, and the first that asks for citations.
    pub(super) images: Option<usize>,
    pub(super) citations: Option<usize>,
    /// The first message with thinking.
    pub(super) thinking: Option<usize>,
    /// Where the conversation begins: after what a compaction block replaces.
    begins: ConversationStart,
    automatic: Option<usize>,
}

impl PromptLayout {
    /// Lays a request out.
    pub(crate) fn of(
        request: &MessagesRequest,
        scheme: LayoutScheme<'_>,
        counter: &mut TokenCounter,
    ) -> Result<Self, ApiError> {
        Self::default().extended(request, 0, scheme, counter)
    }

    /// Lays out a request whose first `kept` messages are those of the request that this layout was made from.
    pub(crate) fn extended(
        mut self,
        request: &MessagesRequest,
        kept: usize,
        scheme: LayoutScheme<'_>,
        counter: &mut TokenCounter,
    ) -> Result<Self, ApiError> {
        if self.model != scheme.spec.id {
            // Another model counts and strips differently.
            self = Self {
                model: scheme.spec.id.clone(),
                ..Self::default()
            };
        }
        self.take_back_automatic();
        let kept = self.keepable(request, kept, scheme.spec);
        let head = prefix_positions(request, scheme, counter);
        let moved = self.put_prefix(head);
        let from = self.truncate(kept);
        self.push_messages(request, kept, scheme, counter);
        let keys = self.keys_of(request, scheme);
        let extra = ProviderOverhead::of(request, scheme.spec, keys.features, counter);
        let first = match () {
            () if moved
                || extra != self.extra
                || keys.tools != self.keys.tools
                || keys.system != self.keys.system =>
            {
                0
            }
            () if keys.messages != self.keys.messages => self.prefix_len,
            () => from,
        };
        (self.keys, self.extra) = (keys, extra);
        self.chain(first);
        self.note_markers(if moved { 0 } else { from });
        self.place_automatic(request.automatic_cache)?;
        Ok(self)
    }

    /// Whether there is an image in the messages.
    pub(crate) fn has_images(&self) -> bool {
        self.images.is_some()
    }

    /// Whether a summary replaces the beginning of the conversation.
    pub(crate) fn has_summary(&self) -> bool {
        self.slots
            .get(self.prefix_len)
            .is_some_and(|slot| slot.summary)
    }

    pub(super) fn place_automatic(&mut self, ttl: Option<CacheLifetime>) -> Result<(), ApiError> {
        let Some(ttl) = ttl else { return Ok(()) };
        let slots = &self.slots;
        let eligible = |index: usize| slots.get(index).is_some_and(|slot| slot.able);
        self.automatic = automatic::place(&mut self.prompt, ttl, eligible)?;
        Ok(())
    }

    pub(super) fn take_back_automatic(&mut self) {
        let Some(index) = self.automatic.take() else {
            return;
        };
        if let Some(position) = self.prompt.positions.get_mut(index) {
            position.marker = None;
        }
        self.prompt.markers.retain(|&marker| marker != index);
    }

    pub(super) fn keys_of(&self, request: &MessagesRequest, scheme: LayoutScheme<'_>) -> LevelKeys {
        let features = PromptFeatures {
            images: self.images.is_some(),
            citations: self.citations.is_some(),
        };
        key::keys(request, &scheme.spec.id, scheme.betas, features)
    }

    /// The number of messages that can stay unchanged: none where a new one changes how the old ones are shown.
    fn keepable(&mut self, request: &MessagesRequest, kept: usize, spec: &ModelSpec) -> usize {
        let mut kept = kept.min(self.starts.len());
        let begins =
            if self.begins == ConversationStart::default() && !contains_summary(request, kept) {
                ConversationStart::default()
            } else {
                begin(request)
            };
        if begins != self.begins {
            self.begins = begins;
            kept = 0;
        }
        match (spec.thinking.prior, self.thinking) {
            (PriorThinking::Strip, Some(first)) => kept.min(first),
            _ => kept,
        }
    }

    /// Puts the request prefix (tools and system) in front. Returns whether anything but breakpoints changed.
    fn put_prefix(&mut self, head: Vec<PromptPosition>) -> bool {
        let old = self
            .prompt
            .positions
            .get(..self.prefix_len)
            .unwrap_or_default();
        let same = old.len() == head.len()
            && old.iter().zip(&head).all(|(old, new)| {
                old.identity == new.identity && old.tokens == new.tokens && old.level == new.level
            });
        if same {
            for (old, new) in self.prompt.positions.iter_mut().zip(head) {
                old.marker = new.marker;
            }
            return false;
        }
        let (was, is) = (self.prefix_len, head.len());
        let shift = |index: &mut usize| *index = *index - was + is;
        let slot = PositionBlock {
            able: true,
            ..PositionBlock::default()
        };
        self.slots.splice(..was, std::iter::repeat_n(slot, is));
        self.prompt.positions.splice(..was, head);
        self.starts.iter_mut().for_each(shift);
        self.images.iter_mut().for_each(shift);
        self.citations.iter_mut().for_each(shift);
        self.prompt.markers.clear();
        self.prefix_len = is;
        true
    }

    /// Drops the positions of all messages but the first `kept`, and returns where the new ones begin.
    fn truncate(&mut self, kept: usize) -> usize {
        let from = self
            .starts
            .get(kept)
            .copied()
            .unwrap_or(self.prompt.positions.len());
        self.starts.truncate(kept);
        self.slots.truncate(from);
        self.prompt.positions.truncate(from);
        self.images = self.images.filter(|&first| first < from);
        self.citations = self.citations.filter(|&first| first < from);
        self.thinking = self.thinking.filter(|&first| first < kept);
        from
    }

    fn push_messages(
        &mut self,
        request: &MessagesRequest,
        kept: usize,
        scheme: LayoutScheme<'_>,
        counter: &mut TokenCounter,
    ) {
        let family = scheme.family();
        let turn = match scheme.spec.thinking.prior {
            PriorThinking::Strip => newest_turn(request),
            PriorThinking::Keep => 0,
        };
        for (index, message) in request.messages.iter().enumerate().skip(kept) {
            self.starts.push(self.prompt.positions.len());
            let mut frame = if self.prompt.positions.len() > self.prefix_len {
                NEXT_MESSAGE
            } else {
                FIRST_MESSAGE
            };
            for (at, block) in message.content.iter().enumerate() {
                let thinks = matches!(block.kind.as_str(), "thinking" | "redacted_thinking");
                if thinks {
                    self.thinking = self.thinking.or(Some(index));
                }
                let behind = (index, at) < (self.begins.message, self.begins.block);
                let failed = block.kind == "compaction" && !is_summary(block);
                if behind || failed || (thinks && index < turn) {
                    continue;
                }
                let identity = identity::of_block(block);
                let own = counter.block(block, identity, family);
                let found = discovered(block, request, family, counter);
                let here = self.prompt.positions.len();
                if has_image(block) {
                    self.images = self.images.or(Some(here));
                }
                if asks_for_citations(block) {
                    self.citations = self.citations.or(Some(here));
                }
                let empty = block.kind == "text" && block.text("text").is_none_or(str::is_empty);
                self.slots.push(PositionBlock {
                    able: !thinks && !empty,
                    message: Some(index),
                    block: at,
                    summary: is_summary(block),
                });
                self.prompt.positions.push(PromptPosition {
                    level: PromptLevel::Messages,
                    place: format!("messages.{index}.content.{at}"),
                    prefix: 0,
                    tokens: std::mem::take(&mut frame) + own + found,
                    marker: block.marker.or_else(|| inner_marker(block)),
                    identity: identity ^ role_mask(message.role),
                    end: 0,
                });
            }
        }
    }
}
