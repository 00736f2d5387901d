//! A request that was sent, with all that is needed to make its conversation smaller.

use std::sync::Arc;

use bytes::Bytes;
use longhaul_core::json::Object;
use longhaul_provider::Dialect;

use super::asking::Asking;
use super::element::Element;
use super::rewrites::Shelved;
use super::sending::{Sending, position};
use super::talk::Talk;
use crate::body::{self, Outline, Role};
use crate::line::{Placed, Recognised, Tenant};
use crate::store::Kind;

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
    /// What was sent, where nothing else of it is needed any more.
    pub(crate) size: Option<Size>,
}

/// How much was sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    /// Bytes.
    pub(crate) sent: usize,
    /// Bytes of the client's that were not.
    pub(crate) left_out: usize,
}

/// A conversation to be worked on, and the history that it is.
pub(crate) struct Cut {
    pub(crate) talk: Talk,
    /// Which of the client's elements is its first.
    pub(crate) from: usize,
    /// The rolling hash behind its last message.
    pub(crate) at: u128,
    /// How many messages it has.
    pub(crate) messages: u32,
    /// Bytes of the client's messages behind it.
    pub(crate) behind: usize,
}

impl Material {
    /// How much was sent.
    pub(crate) fn size(&self) -> Size {
        self.size.unwrap_or_else(|| Size {
            sent: self.sending.len(),
            left_out: self.sending.left_out(&self.body),
        })
    }

    /// Lets go of the client's bytes: bodies that wait for the books fill the memory.
    pub(crate) fn let_go(&mut self) {
        self.size = Some(self.size());
        self.body = Bytes::new();
        self.sending.parts = Vec::new();
    }

    /// Whether something else may stand for what is too long: not for what the user asks now. If that alone does not fit in
    /// `most` tokens, or nothing was said before it, the upstream is right.
    pub(crate) fn may_be_shortened(&self, most: u64) -> bool {
        let Ok(outline) = body::read(&self.body) else {
            return false;
        };
        let elements = &outline.elements;
        let answer = elements.iter().rposition(|it| it.role == Role::Assistant);
        let Some(answer) = answer else {
            return false;
        };
        let asked = elements.get(answer + 1..).unwrap_or_default();
        let asked = asked.iter().filter(|element| element.role == Role::User);
        let texts = asked.filter(|element| {
            let text = self.body.get(element.span.clone()).unwrap_or_default();
            memchr::memmem::find(text, b"\"tool_result\"").is_none()
        });
        let bytes: usize = texts.map(|element| element.span.len()).sum();
        (bytes / 4) as u64 <= most
    }

    /// Whether something may stand for the beginning of this request. What was made when the model had answered takes its
    /// answer for granted: unless that follows, it does not stand for what is asked.
    pub(crate) fn may_begin_with(&self, base: &Shelved) -> bool {
        let made = &base.rewrite.made;
        if made.waited > 0 || made.kind == Kind::Cleared {
            // It was made for a request that waited, or leaves all that is new in place.
            return true;
        }
        let Some(last) = position(&self.recognised, base.rewrite.at) else {
            return false;
        };
        let behind = last + 1..self.recognised.ends.len();
        let mut behind = behind.map_while(|index| self.role_of(index));
        let next = behind.find(|role| *role != Role::System);
        next == Some(Role::Assistant) || self.role_of(last) == Some(Role::Assistant)
    }

    /// Who speaks in a message.
    fn role_of(&self, index: usize) -> Option<Role> {
        let text = (self.recognised).message(index, |place| self.body.get(place))?;
        let role = Object::new(text).string("role")?;
        Some(Role::of(role.as_bytes()))
    }

    /// How many messages it has, those of role system not counted, and how many calls the model's last words in it make.
    /// None if those words end it: they are to be gone on with.
    pub(crate) fn spoken(&self) -> Option<(u32, u64)> {
        let outline = body::read(&self.body).ok()?;
        let spoken = outline.elements.iter();
        let mut spoken = spoken.filter(|element| element.role != Role::System);
        let newest = spoken
            .clone()
            .rfind(|element| element.role == Role::Assistant);
        let calls = newest.and_then(|newest| {
            let newest = self.body.get(newest.span.clone())?;
            Some(Element::read(newest)?.calls())
        });
        let count = u32::try_from(spoken.clone().count()).unwrap_or(u32::MAX);
        let last = spoken.next_back()?;
        (last.role != Role::Assistant).then_some((count, calls.unwrap_or(0)))
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
            from,
            at,
            messages: u32::try_from(spoken_count(last)).unwrap_or(u32::MAX),
            behind: (outline.list.end).saturating_sub(elements.get(last)?.span.end),
        })
    }
}
