//! The part of a request's conversation that is compacted: the whole of it, all before the newest reply, or the older part.

use bytes::Bytes;
use longhaul_core::plan::verbatim_tail;

use super::conversation::CompactableConversation;
use super::reduced_request::with_restored;
use super::request_context::RequestContext;
use super::weight::TokenDensity;
use crate::body::BodyRole;

/// A conversation to be compacted, and the history that it covers.
pub(crate) struct ConversationCut {
    pub(crate) conversation: CompactableConversation,
    /// The index of its first element among the client's elements.
    pub(crate) from: usize,
    /// The rolling hash after its last message.
    pub(crate) at: u128,
    /// How many messages it has.
    pub(crate) messages: u32,
    /// The token count of the client's messages after it.
    pub(crate) after: u64,
}

impl ConversationCut {
    /// How many bytes it has.
    pub(super) fn bytes(&self) -> usize {
        let elements = self
            .conversation
            .summary
            .iter()
            .chain(&self.conversation.elements);
        elements.map(Bytes::len).sum::<usize>() + self.conversation.lines.len()
    }
}

impl RequestContext {
    /// The conversation up to the last message that is not the model's: the next reply follows it.
    pub(crate) fn cut(&self, measured: Option<u64>) -> Option<ConversationCut> {
        let mut roles = self.roles().iter();
        let last = roles.rposition(|role| *role != BodyRole::Assistant)?;
        self.cut_at(last, measured)
    }

    /// The conversation without the model's newest reply and the answers to it, which the model has not seen yet.
    /// `None` if nothing new comes before that.
    pub(crate) fn cut_before_newest(&self, measured: Option<u64>) -> Option<ConversationCut> {
        let roles = self.roles();
        let reply = roles
            .iter()
            .rposition(|role| *role == BodyRole::Assistant)?;
        let mut before = roles.get(..reply)?.iter();
        let last = before.rposition(|role| *role != BodyRole::Assistant)?;
        let known = self.outgoing.replaced.as_ref();
        let cut = self.cut_at(last, measured)?;
        known
            .is_none_or(|(base, _)| cut.messages > base.prefix.messages)
            .then_some(cut)
    }

    /// Whether a compacted prefix stands for everything before the model's newest reply, so that there is nothing new to
    /// make smaller.
    pub(super) fn is_summarized_before_newest(&self) -> bool {
        self.outgoing.replaced.is_some() && self.cut_before_newest(None).is_none()
    }

    /// The older part of the conversation, without at least its newest `tokens` tokens. `None` if nothing is older.
    pub(super) fn cut_keeping(
        &self,
        density: TokenDensity,
        tokens: u64,
        measured: u64,
    ) -> Option<ConversationCut> {
        let roles = self.roles();
        let sizes = (0..roles.len())
            .map(|index| density.tokens(self.messages.weight_of(index).unwrap_or(0)));
        // A reply follows, and with it everything that answers its calls.
        let tail = verbatim_tail(sizes, tokens, |from| {
            let before = from.checked_sub(1).and_then(|before| roles.get(before));
            roles.get(from) == Some(&BodyRole::Assistant) && before == Some(&BodyRole::User)
        })?;
        let last = tail.from.checked_sub(1)?;
        let cut = self.cut_at(last, Some(measured.saturating_sub(tail.tokens)))?;
        let known = self.outgoing.replaced.as_ref();
        known
            .is_none_or(|(base, _)| cut.messages > base.prefix.messages)
            .then_some(cut)
    }

    fn cut_at(&self, last: usize, measured: Option<u64>) -> Option<ConversationCut> {
        let at = *self.messages.recognized.hashes.get(last)?;
        let base = self.outgoing.replaced.as_ref().map(|(base, _)| base);
        let root = base.and_then(|base| base.prefix.root);
        let from = self.messages.recognized.first_after(root)?;
        if from > last + 1 {
            return None;
        }
        let cleared = base.map_or_else(Vec::new, |base| base.prefix.cleared.clone());
        let restored = self.restored_until(last, root, &cleared);
        let spoken = (from..=last).map(|index| {
            let element = self.messages.element(index)?;
            Some(with_restored(self.messages.dialect, &element, &restored))
        });
        Some(ConversationCut {
            conversation: CompactableConversation {
                dialect: self.messages.dialect,
                model: self.model.clone(),
                lines: base.map_or_else(Bytes::new, |base| base.prefix.lines.clone()),
                summary: base.map_or_else(Vec::new, |base| base.summary()),
                elements: spoken.collect::<Option<_>>()?,
                cleared,
                measured,
            },
            from,
            at,
            messages: self.spoken_until(last),
            after: self.messages.weight_from(last + 1),
        })
    }
}
