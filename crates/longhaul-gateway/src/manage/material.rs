//! A request that was sent, with all that is needed to make its conversation smaller.

use std::sync::Arc;

use bytes::Bytes;
use longhaul_core::cache::Rewriting;
use longhaul_core::models::Tokenizer;
use longhaul_provider::Dialect;

use super::asking::Asking;
use super::element::Element;
use super::rewrites::Shelved;
use super::sending::{Sending, position};
use super::talk::Talk;
use super::weight::{self, Density, Weight};
use crate::body::Role;
use crate::line::{Placed, Recognised, Relation, Tenant};
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
    /// Where its messages lie, who speaks in them, and which history each of them ends.
    pub(crate) recognised: Arc<Recognised>,
    /// What was sent for them.
    pub(crate) sending: Sending,
    pub(crate) asking: Asking,
    /// What was sent, where nothing else of it is needed any more.
    pub(crate) size: Option<Size>,
    /// What was sent at first, where that was refused for its length.
    pub(super) refused: Option<Box<Sending>>,
    /// Another beginning is sent than for the line's last request.
    pub(crate) fresh: bool,
    /// Whose cache markers are sent.
    pub(crate) marked: Marked,
}

/// Whose cache markers a request was sent with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Marked {
    /// There are none, or none in this API.
    #[default]
    None,
    /// The client's.
    Kept,
    /// Ours.
    Managed,
    /// Ours, for the first time: the client sets none.
    ManagedNow,
}

impl Marked {
    /// Its name in the header.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Kept => "kept",
            Self::Managed | Self::ManagedNow => "managed",
        }
    }
}

/// How much was sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    /// Bytes.
    pub(crate) sent: usize,
    /// Bytes beside the messages.
    pub(crate) beside: usize,
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
    /// The count of the client's messages behind it.
    pub(crate) behind: u64,
}

impl Cut {
    /// How many bytes it has.
    pub(super) fn bytes(&self) -> usize {
        let elements = self.talk.summary.iter().chain(&self.talk.elements);
        elements.map(Bytes::len).sum::<usize>() + self.talk.lines.len()
    }
}

impl Material {
    /// How much was sent.
    pub(crate) fn size(&self) -> Size {
        self.size.unwrap_or_else(|| Size {
            sent: self.sending.len(),
            beside: (self.body.len()).saturating_sub(self.recognised.outline.list.len()),
        })
    }

    /// Lets go of the client's bytes: bodies that wait for the books fill the memory.
    pub(crate) fn let_go(&mut self) {
        self.size = Some(self.size());
        self.body = Bytes::new();
        self.sending.parts = Vec::new();
    }

    /// A request on its way, before anything was sent for it.
    pub(crate) fn new(
        placed: Placed,
        (dialect, model): (Dialect, String),
        body: &Bytes,
        recognised: Arc<Recognised>,
        asking: Asking,
    ) -> Self {
        Self {
            tenant: placed.tenant,
            placed,
            dialect,
            model,
            body: body.clone(),
            recognised,
            sending: Sending::as_it_came(body),
            asking,
            size: None,
            refused: None,
            fresh: false,
            marked: Marked::None,
        }
    }

    /// Who speaks in each of the client's messages. Nobody where its bytes were let go of: then nothing can be made of them.
    pub(super) fn roles(&self) -> &[Role] {
        match self.size {
            Some(_) => &[],
            None => &self.recognised.roles,
        }
    }

    /// One of the client's messages.
    pub(super) fn element(&self, index: usize) -> Option<Bytes> {
        Some(self.body.slice_ref(self.text(index)?))
    }

    /// The bytes of one.
    fn text(&self, index: usize) -> Option<&[u8]> {
        (self.recognised).message(index, |place| self.body.get(place))
    }

    /// How many messages there are up to this one, those of role system not counted.
    pub(super) fn spoken_until(&self, last: usize) -> u32 {
        let until = self.roles().iter().take(last + 1);
        let spoken = until.filter(|role| **role != Role::System);
        u32::try_from(spoken.count()).unwrap_or(u32::MAX)
    }

    /// What is sent in place of the beginning, for the cache watch.
    pub(crate) fn rewriting(&self) -> Rewriting {
        let base = self.sending.replaced.as_ref().map(|(base, _)| base);
        Rewriting {
            conversation: self.placed.line.0,
            parent: match self.placed.relation {
                Relation::Branches(from, _) => Some(from.0),
                _ => None,
            },
            beginning: base.map(|base| base.bytes_hash),
            done: base.map_or(
                "the gateway sends the older messages as they came again",
                |base| base.rewrite.made.in_words(),
            ),
        }
    }

    /// Whether the client has set cache markers anywhere. Inside of texts quotes are escaped.
    pub(super) fn has_markers(&self) -> bool {
        memchr::memmem::find(&self.body, b"\"cache_control\"").is_some()
    }

    /// What is sent, counted.
    pub(super) fn weight(&self) -> Weight {
        let list = &self.recognised.outline.list;
        let before = self.body.get(..list.start).unwrap_or_default();
        let behind = self.body.get(list.end..).unwrap_or_default();
        let lead = self.recognised.lead;
        let leads: u64 = (0..lead).filter_map(|at| self.weight_of(at)).sum();
        let (beginning, from) = match &self.sending.replaced {
            Some((base, until)) => (base.weight(), *until),
            None => (0, lead),
        };
        Weight {
            head: weight::beside(before, behind) + leads,
            messages: beginning + self.weight_from(from),
        }
    }

    /// The count of the client's messages from this one on.
    pub(super) fn weight_from(&self, first: usize) -> u64 {
        let all = first..self.recognised.ends.len();
        all.filter_map(|at| self.weight_of(at)).sum()
    }

    /// The count of the client's messages that something else stands for.
    pub(super) fn weight_replaced(&self) -> u64 {
        let until = self
            .sending
            .replaced
            .as_ref()
            .map_or(0, |(_, until)| *until);
        let replaced = self.recognised.lead..until;
        replaced.filter_map(|at| self.weight_of(at)).sum()
    }

    fn weight_of(&self, index: usize) -> Option<u64> {
        Some(weight::element(self.text(index)?))
    }

    /// The first message behind those that were measured, and behind the reply to them.
    pub(super) fn first_behind(&self, measured: u128) -> Option<usize> {
        let mut hashes = self.recognised.hashes.iter();
        let next = hashes.rposition(|hash| *hash == measured)? + 1;
        match self.roles().get(next) {
            Some(Role::Assistant) => Some(next + 1),
            _ => Some(next),
        }
    }

    /// Whether something else may stand for what is too long: not for what the user asks now. If that alone does not fit in
    /// `most` tokens, or nothing was said before it, the upstream is right.
    pub(super) fn may_be_shortened(&self, most: u64, tokenizer: Tokenizer) -> bool {
        let roles = self.roles();
        let Some(answer) = roles.iter().rposition(|role| *role == Role::Assistant) else {
            return false;
        };
        let asked = (answer + 1..roles.len()).filter(|at| roles.get(*at) == Some(&Role::User));
        let texts = asked.filter_map(|at| {
            let text = self.text(at).unwrap_or_default();
            let is_result = memchr::memmem::find(text, b"\"tool_result\"").is_some();
            (!is_result).then(|| weight::element(text))
        });
        Density::likely(tokenizer).tokens(texts.sum()) <= most
    }

    /// Whether something may stand for the beginning of this request. What was made when the model had answered takes its
    /// answer for granted: unless that follows, it does not stand for what is asked.
    pub(crate) fn may_begin_with(&self, base: &Shelved) -> bool {
        let made = &base.rewrite.made;
        if made.waited.is_some() || made.kind == Kind::Cleared {
            // It was made for a request that waited, or leaves all that is new in place.
            return true;
        }
        let Some(last) = position(&self.recognised, base.rewrite.at) else {
            return false;
        };
        let roles = self.roles();
        let mut behind = roles.iter().skip(last + 1);
        let next = behind.find(|role| **role != Role::System);
        next == Some(&Role::Assistant) || roles.get(last) == Some(&Role::Assistant)
    }

    /// How many messages it has, those of role system not counted, and how many calls the model's last words in it make.
    /// None if those words end it: they are to be gone on with.
    pub(crate) fn spoken(&self) -> Option<(u32, u64)> {
        let roles = self.roles();
        let last = roles.iter().rposition(|role| *role != Role::System)?;
        let newest = roles.iter().rposition(|role| *role == Role::Assistant);
        let calls = newest.and_then(|newest| Some(Element::read(self.text(newest)?)?.calls()));
        (newest != Some(last)).then(|| (self.spoken_until(last), calls.unwrap_or(0)))
    }

    /// The conversation up to the last message that is not the model's: behind it the next answer follows.
    pub(crate) fn cut(&self, measured: Option<u64>) -> Option<Cut> {
        let mut roles = self.roles().iter();
        let last = roles.rposition(|role| *role != Role::Assistant)?;
        self.cut_at(last, measured)
    }

    /// The conversation without the model's newest reply and what answers it, which the model has not seen yet. None if
    /// nothing new stands before that.
    pub(crate) fn cut_before_newest(&self, measured: Option<u64>) -> Option<Cut> {
        let roles = self.roles();
        let reply = roles.iter().rposition(|role| *role == Role::Assistant)?;
        let mut before = roles.get(..reply)?.iter();
        let last = before.rposition(|role| *role != Role::Assistant)?;
        let known = self.sending.replaced.as_ref();
        let cut = self.cut_at(last, measured)?;
        known
            .is_none_or(|(base, _)| cut.messages > base.rewrite.messages)
            .then_some(cut)
    }

    fn cut_at(&self, last: usize, measured: Option<u64>) -> Option<Cut> {
        let at = *self.recognised.hashes.get(last)?;
        let base = self.sending.replaced.as_ref().map(|(base, _)| base);
        let summed_up = base.and_then(|base| base.rewrite.root);
        let from = match summed_up {
            Some(root) => position(&self.recognised, root)? + 1,
            None => self.recognised.lead,
        };
        if from > last + 1 {
            return None;
        }
        let spoken = (from..=last).map(|index| self.element(index));
        Some(Cut {
            talk: Talk {
                dialect: self.dialect,
                model: self.model.clone(),
                lines: base.map_or_else(Bytes::new, |base| base.rewrite.lines.clone()),
                summary: base.map_or_else(Vec::new, |base| base.summary()),
                elements: spoken.collect::<Option<_>>()?,
                cleared: base.map_or_else(Vec::new, |base| base.rewrite.cleared.clone()),
                measured,
            },
            from,
            at,
            messages: self.spoken_until(last),
            behind: self.weight_from(last + 1),
        })
    }
}
