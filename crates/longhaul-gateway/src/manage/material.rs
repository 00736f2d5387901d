//! A request that was sent, with all that is needed to make its conversation smaller.

use std::sync::Arc;

use bytes::Bytes;
use longhaul_provider::Dialect;

use super::asking::Asking;
use super::sending::{Sending, position};
use super::talk::Talk;
use crate::body::{self, Outline, Role};
use crate::line::{Placed, Recognised, Tenant};

/// See the module.
#[derive(Debug, Clone)]
pub(crate) struct Material {
    pub(crate) tenant: Tenant,
    pub(crate) placed: Placed,
    pub(crate) dialect: Dialect,
    pub(crate) model: String,
    /// The client's bytes.
    pub(crate) body: Bytes,
    pub(crate) recognised: Arc<Recognised>,
    /// What was sent for them.
    pub(crate) sending: Sending,
    pub(crate) asking: Asking,
}

/// A conversation to be worked on, and the history that it is.
pub(crate) struct Cut {
    pub(crate) talk: Talk,
    /// The rolling hash behind its last message.
    pub(crate) at: u128,
    /// How many messages it has.
    pub(crate) messages: u32,
    /// Bytes of the client's messages behind it.
    pub(crate) behind: usize,
}

impl Material {
    /// Whether the model has said anything yet.
    pub(crate) fn was_answered_before(&self) -> bool {
        let outline = body::read(&self.body);
        outline.is_ok_and(|outline| {
            let mut elements = outline.elements.iter();
            elements.any(|element| element.role == Role::Assistant)
        })
    }

    /// The conversation up to the last message that is not the model's: behind it the next answer follows.
    pub(crate) fn cut(&self, measured: Option<u64>) -> Option<Cut> {
        let outline = body::read(&self.body).ok()?;
        let elements = &outline.elements;
        let last = elements
            .iter()
            .rposition(|element| element.role != Role::Assistant)?;
        self.cut_at(&outline, last, measured)
    }

    /// The conversation without the model's newest reply and what answers it, which the model has not seen yet. None if
    /// nothing new stands before that.
    pub(crate) fn cut_before_newest(&self, measured: Option<u64>) -> Option<Cut> {
        let outline = body::read(&self.body).ok()?;
        let reply = (outline.elements.iter()).rposition(|it| it.role == Role::Assistant)?;
        let before = outline.elements.get(..reply)?;
        let last = before.iter().rposition(|it| it.role != Role::Assistant)?;
        let known = self.sending.replaced.as_ref();
        let cut = self.cut_at(&outline, last, measured)?;
        known
            .is_none_or(|(base, _)| cut.messages > base.rewrite.messages)
            .then_some(cut)
    }

    fn cut_at(&self, outline: &Outline, last: usize, measured: Option<u64>) -> Option<Cut> {
        let elements = &outline.elements;
        let at = *self.recognised.hashes.get(last)?;
        let base = self.sending.replaced.as_ref().map(|(base, _)| base);
        let summed_up = base.and_then(|base| base.rewrite.root);
        let from = match summed_up {
            Some(root) => position(&self.recognised, root)? + 1,
            None => self.recognised.lead,
        };
        let spoken = elements.get(from..=last)?;
        let spans = spoken.iter().map(|element| element.span.clone());
        let spoken_count = |until: usize| {
            let counted = elements.iter().take(until + 1);
            counted
                .filter(|element| element.role != Role::System)
                .count()
        };
        Some(Cut {
            talk: Talk {
                dialect: self.dialect,
                model: self.model.clone(),
                lines: base.map_or_else(Bytes::new, |base| base.rewrite.lines.clone()),
                summary: base.map_or_else(Vec::new, |base| base.summary()),
                elements: spans.map(|span| self.body.slice(span)).collect(),
                cleared: base.map_or_else(Vec::new, |base| base.rewrite.cleared.clone()),
                measured,
            },
            at,
            messages: u32::try_from(spoken_count(last)).unwrap_or(u32::MAX),
            behind: (outline.list.end).saturating_sub(elements.get(last)?.span.end),
        })
    }
}
