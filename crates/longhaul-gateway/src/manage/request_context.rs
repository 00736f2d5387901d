//! A request that was sent, with all that is needed to make its conversation smaller.

use std::sync::Arc;

use bytes::Bytes;
use longhaul_core::cache::PrefixReplacement;
use longhaul_core::models::Tokenizer;
use longhaul_provider::Dialect;

use super::compacted_prefixes::LoadedPrefix;
use super::conversation::CompactableConversation;
use super::element::ElementParts;
use super::outgoing_body::{OutgoingRequestBody, position};
use super::upstream_caller::UpstreamCaller;
use super::weight::{self, RequestTokenCount, TokenDensity};
use crate::body::BodyRole;
use crate::branch::{BranchPlacement, BranchRelation, RecognizedBody, Tenant};
use crate::store::CompactedPrefixKind;

/// See the module.
#[derive(Debug, Clone)]
pub(crate) struct RequestContext {
    pub(crate) tenant: Tenant,
    pub(crate) placed: BranchPlacement,
    pub(crate) dialect: Dialect,
    pub(crate) model: String,
    /// The client's bytes.
    pub(crate) body: Bytes,
    /// Where its messages lie, who speaks in them, and which history each of them ends.
    pub(crate) recognised: Arc<RecognizedBody>,
    /// What was sent for them.
    pub(crate) outgoing: OutgoingRequestBody,
    pub(crate) asking: UpstreamCaller,
    /// What was sent, where nothing else of it is needed any more.
    pub(crate) size: Option<SentSize>,
    /// What was sent at first, where that was refused for its length.
    pub(super) refused: Option<Box<OutgoingRequestBody>>,
    /// Another beginning is sent than for the line's last request.
    pub(crate) fresh: bool,
    /// Whose cache markers are sent.
    pub(crate) marked: BreakpointOwner,
}

/// Whose cache markers a request was sent with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum BreakpointOwner {
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

impl BreakpointOwner {
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
pub(crate) struct SentSize {
    /// Bytes.
    pub(crate) sent: usize,
    /// Bytes beside the messages.
    pub(crate) beside: usize,
}

/// A conversation to be worked on, and the history that it is.
pub(crate) struct ConversationCut {
    pub(crate) talk: CompactableConversation,
    /// Which of the client's elements is its first.
    pub(crate) from: usize,
    /// The rolling hash behind its last message.
    pub(crate) at: u128,
    /// How many messages it has.
    pub(crate) messages: u32,
    /// The count of the client's messages behind it.
    pub(crate) after: u64,
}

impl ConversationCut {
    /// How many bytes it has.
    pub(super) fn bytes(&self) -> usize {
        let elements = self.talk.summary.iter().chain(&self.talk.elements);
        elements.map(Bytes::len).sum::<usize>() + self.talk.lines.len()
    }
}

impl RequestContext {
    /// How much was sent.
    pub(crate) fn size(&self) -> SentSize {
        self.size.unwrap_or_else(|| SentSize {
            sent: self.outgoing.len(),
            beside: (self.body.len()).saturating_sub(self.recognised.outline.list.len()),
        })
    }

    /// Lets go of the client's bytes: bodies that wait for the books fill the memory.
    pub(crate) fn let_go(&mut self) {
        self.size = Some(self.size());
        self.body = Bytes::new();
        self.outgoing.parts = Vec::new();
    }

    /// A request on its way, before anything was sent for it.
    pub(crate) fn new(
        placed: BranchPlacement,
        (dialect, model): (Dialect, String),
        body: &Bytes,
        recognised: Arc<RecognizedBody>,
        asking: UpstreamCaller,
    ) -> Self {
        Self {
            tenant: placed.tenant,
            placed,
            dialect,
            model,
            body: body.clone(),
            recognised,
            outgoing: OutgoingRequestBody::unchanged(body),
            asking,
            size: None,
            refused: None,
            fresh: false,
            marked: BreakpointOwner::None,
        }
    }

    /// Who speaks in each of the client's messages. Nobody where its bytes were let go of: then nothing can be made of them.
    pub(super) fn roles(&self) -> &[BodyRole] {
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
        let spoken = until.filter(|role| **role != BodyRole::System);
        u32::try_from(spoken.count()).unwrap_or(u32::MAX)
    }

    /// What is sent in place of the beginning, for the cache watch.
    pub(crate) fn rewriting(&self) -> PrefixReplacement {
        let base = self.outgoing.replaced.as_ref().map(|(base, _)| base);
        PrefixReplacement {
            conversation: self.placed.line.0,
            parent: match self.placed.relation {
                BranchRelation::Branches(from, _) => Some(from.0),
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
    pub(super) fn weight(&self) -> RequestTokenCount {
        let list = &self.recognised.outline.list;
        let before = self.body.get(..list.start).unwrap_or_default();
        let behind = self.body.get(list.end..).unwrap_or_default();
        let lead = self.recognised.lead;
        let leads: u64 = (0..lead).filter_map(|at| self.weight_of(at)).sum();
        let (beginning, from) = match &self.outgoing.replaced {
            Some((base, until)) => (base.weight(), *until),
            None => (0, lead),
        };
        RequestTokenCount {
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
            .outgoing
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
    pub(super) fn first_after(&self, measured: u128) -> Option<usize> {
        let mut hashes = self.recognised.hashes.iter();
        let next = hashes.rposition(|hash| *hash == measured)? + 1;
        match self.roles().get(next) {
            Some(BodyRole::Assistant) => Some(next + 1),
            _ => Some(next),
        }
    }

    /// Whether something else may stand for what is too long: not for what the user asks now. If that alone does not fit in
    /// `most` tokens, or nothing was said before it, the upstream is right.
    pub(super) fn may_be_shortened(&self, most: u64, tokenizer: Tokenizer) -> bool {
        let roles = self.roles();
        let Some(answer) = roles.iter().rposition(|role| *role == BodyRole::Assistant) else {
            return false;
        };
        let asked = (answer + 1..roles.len()).filter(|at| roles.get(*at) == Some(&BodyRole::User));
        let texts = asked.filter_map(|at| {
            let text = self.text(at).unwrap_or_default();
            let is_result = memchr::memmem::find(text, b"\"tool_result\"").is_some();
            (!is_result).then(|| weight::element(text))
        });
        TokenDensity::likely(tokenizer).tokens(texts.sum()) <= most
    }

    /// Whether something may stand for the beginning of this request. What was made when the model had answered takes its
    /// answer for granted: unless that follows, it does not stand for what is asked.
    pub(crate) fn may_begin_with(&self, base: &LoadedPrefix) -> bool {
        let made = &base.rewrite.made;
        if made.waited.is_some() || made.kind == CompactedPrefixKind::Cleared {
            // It was made for a request that waited, or leaves all that is new in place.
            return true;
        }
        let Some(last) = position(&self.recognised, base.rewrite.at) else {
            return false;
        };
        let roles = self.roles();
        let mut behind = roles.iter().skip(last + 1);
        let next = behind.find(|role| **role != BodyRole::System);
        next == Some(&BodyRole::Assistant) || roles.get(last) == Some(&BodyRole::Assistant)
    }

    /// How many messages it has, those of role system not counted, and how many calls the model's last words in it make.
    /// None if those words end it: they are to be gone on with.
    pub(crate) fn message_and_call_count(&self) -> Option<(u32, u64)> {
        let roles = self.roles();
        let last = roles.iter().rposition(|role| *role != BodyRole::System)?;
        let newest = roles.iter().rposition(|role| *role == BodyRole::Assistant);
        let calls = newest.and_then(|newest| Some(ElementParts::read(self.text(newest)?)?.calls()));
        (newest != Some(last)).then(|| (self.spoken_until(last), calls.unwrap_or(0)))
    }

    /// The conversation up to the last message that is not the model's: behind it the next answer follows.
    pub(crate) fn cut(&self, measured: Option<u64>) -> Option<ConversationCut> {
        let mut roles = self.roles().iter();
        let last = roles.rposition(|role| *role != BodyRole::Assistant)?;
        self.cut_at(last, measured)
    }

    /// The conversation without the model's newest reply and what answers it, which the model has not seen yet. None if
    /// nothing new stands before that.
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
            .is_none_or(|(base, _)| cut.messages > base.rewrite.messages)
            .then_some(cut)
    }

    fn cut_at(&self, last: usize, measured: Option<u64>) -> Option<ConversationCut> {
        let at = *self.recognised.hashes.get(last)?;
        let base = self.outgoing.replaced.as_ref().map(|(base, _)| base);
        let summed_up = base.and_then(|base| base.rewrite.root);
        let from = match summed_up {
            Some(root) => position(&self.recognised, root)? + 1,
            None => self.recognised.lead,
        };
        if from > last + 1 {
            return None;
        }
        let spoken = (from..=last).map(|index| self.element(index));
        Some(ConversationCut {
            talk: CompactableConversation {
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
            after: self.weight_from(last + 1),
        })
    }
}
