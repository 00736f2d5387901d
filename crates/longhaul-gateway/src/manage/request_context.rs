//! A request that was sent, with everything that is needed to compact its conversation.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use bytes::Bytes;
use longhaul_core::cache::PrefixReplacement;
use longhaul_core::config::ResultReduction;
use longhaul_core::economy::{EconomyPolicy, EconomyRecord};
use longhaul_core::history::{MessagesAtHand, SummaryPrice};
use longhaul_core::message::Id;
use longhaul_core::models::Tokenizer;
use longhaul_core::plan::verbatim_tail;
use longhaul_core::tokens::calibrated::UnscaledTokens;
use longhaul_provider::Dialect;

use super::client_messages::ClientMessages;
use super::conversation::CompactableConversation;
use super::derived_prefix::complete;
use super::element::ElementParts;
use super::loaded_prefix::LoadedPrefix;
use super::message_results::MessageResults;
use super::outgoing_body::OutgoingRequestBody;
use super::reduced_request::{ReducedRequest, RestoredResults, with_restored};
use super::reduction_records::MessageReductions;
use super::upstream_caller::UpstreamCaller;
use super::weight::{self, RequestTokenCount, TokenDensity};
use super::went::Recallability;
use crate::body::BodyRole;
use crate::branch::{BranchPlacement, BranchRelation, RecognizedBody, Tenant};
use crate::store::{CompactedPrefix, CompactedPrefixKind};

/// A request that was sent, with everything that is needed to compact its conversation.
#[derive(Debug, Clone)]
pub(crate) struct RequestContext {
    pub(crate) tenant: Tenant,
    pub(crate) placed: BranchPlacement,
    pub(crate) model: String,
    /// The client's messages, with reduced results in their smaller form.
    pub(crate) messages: ClientMessages,
    /// What was sent for them.
    pub(crate) outgoing: OutgoingRequestBody,
    pub(crate) asking: UpstreamCaller,
    /// The size of what was sent, once nothing else of it is needed.
    pub(crate) size: Option<SentSize>,
    /// The body that was sent first, if it was rejected as too long.
    pub(super) refused: Option<Box<OutgoingRequestBody>>,
    /// Whether the prefix differs from that of the branch's last request.
    pub(crate) fresh: bool,
    /// Whose cache breakpoints are sent.
    pub(crate) marked: BreakpointOwner,
    /// The tenant by its key alone: records of reduced results are found by it.
    pub(crate) of_key: Tenant,
    /// How new results are made smaller (V8).
    pub(crate) reduce: ResultReduction,
    /// The results that are sent in a smaller form; then `messages` has them in that form.
    pub(crate) reduced: Option<Arc<ReducedRequest>>,
    /// Whether the model has a tool that brings back what is no longer sent.
    pub(crate) recall: Recallability,
    /// Which actions are decided by their price (V5).
    pub(crate) economy: EconomyPolicy,
    /// The decision by which results were cleared for this request.
    pub(crate) cleared_by_price: Option<EconomyRecord>,
    /// The decision that a summary pays, which is begun after the reply.
    pub(crate) summary_pays: Option<EconomyRecord>,
    /// How many tokens the request is expected to have, if that is known better than from its parts.
    pub(super) expected: Option<u64>,
    /// How many tokens it has by our own count, where the answer may not say that.
    pub(super) estimated: Option<u64>,
    /// The size of what came since the last measurement, by which the count is calibrated (X4).
    pub(super) additions: Option<UnscaledTokens>,
}

/// Whose cache breakpoints a request was sent with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum BreakpointOwner {
    /// There are none, or the API has none.
    #[default]
    None,
    /// The client's breakpoints.
    Kept,
    /// The gateway's breakpoints.
    Managed,
    /// The gateway's breakpoints, for the first time: the client sets none.
    ManagedNow,
}

impl BreakpointOwner {
    /// The name in the response header.
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
    /// How many bytes were sent.
    pub(crate) sent: usize,
    /// How many bytes are outside the messages.
    pub(crate) beside: usize,
}

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
    /// How much was sent.
    pub(crate) fn size(&self) -> SentSize {
        self.size.unwrap_or_else(|| SentSize {
            sent: self.outgoing.len(),
            beside: (self.messages.body.len())
                .saturating_sub(self.messages.recognized.outline.list.len()),
        })
    }

    /// Drops the client's bytes: bodies that wait for the usage log would fill the memory.
    pub(crate) fn let_go(&mut self) {
        self.size = Some(self.size());
        self.messages.body = Bytes::new();
        self.outgoing.parts = Vec::new();
    }

    /// The context of a request for which nothing was sent yet.
    pub(crate) fn new(
        placed: BranchPlacement,
        (dialect, model): (Dialect, String),
        body: &Bytes,
        recognized: Arc<RecognizedBody>,
        asking: UpstreamCaller,
    ) -> Self {
        Self {
            tenant: placed.tenant,
            placed,
            model,
            messages: ClientMessages {
                dialect,
                body: body.clone(),
                recognized,
            },
            outgoing: OutgoingRequestBody::unchanged(body),
            asking,
            size: None,
            refused: None,
            fresh: false,
            marked: BreakpointOwner::None,
            of_key: placed.tenant,
            reduce: ResultReduction::Off,
            reduced: None,
            recall: Recallability::NotRecallable,
            economy: EconomyPolicy::Off,
            cleared_by_price: None,
            summary_pays: None,
            expected: None,
            estimated: None,
            additions: None,
        }
    }

    /// Sends results in a smaller form: `reduced` by the message that holds them.
    pub(super) fn apply_reductions(
        &mut self,
        results: &[Arc<MessageResults>],
        reduced: &BTreeMap<usize, MessageReductions>,
    ) {
        let before = self.reduced.as_deref();
        if let Some((messages, reduced)) =
            ReducedRequest::apply(before, &self.messages, results, reduced)
        {
            self.messages = messages;
            self.outgoing = OutgoingRequestBody::unchanged(&self.messages.body);
            self.reduced = Some(Arc::new(reduced));
        }
    }

    /// The results that are sent as they came in the part after the root of a prefix, up to this message, if the prefix
    /// clears these results.
    pub(super) fn restored_until(
        &self,
        last: usize,
        root: Option<u128>,
        cleared: &[String],
    ) -> RestoredResults {
        self.reduced
            .as_ref()
            .map_or_else(RestoredResults::new, |reduced| {
                reduced.restored_until(last, &self.messages.recognized, root, cleared)
            })
    }

    /// The results that others refer to with the prefix that is in place.
    pub(super) fn referred_results(&self) -> HashSet<Id> {
        let prefix = self.outgoing.replaced.as_ref();
        let prefix = prefix.map(|(prefix, _)| &prefix.prefix);
        self.reduced.as_ref().map_or_else(HashSet::new, |reduced| {
            reduced.referred(&self.messages.recognized, prefix)
        })
    }

    /// A prefix with the messages after its summary, which are made from the client's if the prefix is derived. `None`
    /// if the request's messages do not have what it is made of.
    pub(super) fn completed(&self, prefix: CompactedPrefix) -> Option<CompactedPrefix> {
        let last = self.messages.recognized.position(prefix.at)?;
        let restored = self.restored_until(last, prefix.root, &prefix.cleared);
        complete(prefix, &self.messages, &restored)
    }

    /// The body with a compacted prefix, which has all that is sent for it. `None` if the request does not begin with
    /// the history that the prefix replaces.
    pub(super) fn outgoing_with(&self, loaded: &Arc<LoadedPrefix>) -> Option<OutgoingRequestBody> {
        let last = self.messages.recognized.position(loaded.prefix.at)?;
        let restored = self
            .reduced
            .as_ref()
            .and_then(|reduced| reduced.restored_after(&self.messages, &loaded.prefix, last));
        OutgoingRequestBody::with_prefix(&self.messages, loaded, restored)
    }

    /// Whether the client's messages can still be read.
    pub(super) fn at_hand(&self) -> MessagesAtHand {
        match self.size {
            Some(_) => MessagesAtHand::Dropped,
            None => MessagesAtHand::Kept,
        }
    }

    /// Whether it was decided that a summary pays.
    pub(super) fn summary_price(&self) -> SummaryPrice {
        match self.summary_pays {
            Some(_) => SummaryPrice::Pays,
            None => SummaryPrice::NotEarned,
        }
    }

    /// The role of each of the client's messages. Empty if their bytes were dropped: then nothing can be made of them.
    pub(super) fn roles(&self) -> &[BodyRole] {
        match self.size {
            Some(_) => &[],
            None => &self.messages.recognized.roles,
        }
    }

    /// Whether the client has the provider clear old results (`context_management`).
    pub(super) fn is_cleared_by_the_provider(&self) -> bool {
        let place = self
            .messages
            .recognized
            .outline
            .members
            .context_management
            .clone();
        let edits = place.and_then(|place| self.messages.body.get(place));
        self.messages.dialect == Dialect::Anthropic
            && edits
                .is_some_and(|edits| memchr::memmem::find(edits, b"\"clear_tool_uses_").is_some())
    }

    /// How many messages there are up to this one, those of role system not counted.
    pub(super) fn spoken_until(&self, last: usize) -> u32 {
        let until = self.roles().iter().take(last + 1);
        let spoken = until.filter(|role| **role != BodyRole::System);
        u32::try_from(spoken.count()).unwrap_or(u32::MAX)
    }

    /// The prefix that is sent instead of the beginning, for the cache watch.
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
                |base| base.prefix.made.in_words(),
            ),
        }
    }

    /// The token count of what is sent.
    pub(super) fn weight(&self) -> RequestTokenCount {
        let [before, after] = self.messages.beside();
        let lead = self.messages.recognized.lead;
        let leads: u64 = (0..lead).filter_map(|at| self.messages.weight_of(at)).sum();
        let (beginning, from) = match &self.outgoing.replaced {
            Some((base, until)) => (base.weight(), *until),
            None => (0, lead),
        };
        RequestTokenCount {
            head: weight::beside(before, after) + leads,
            messages: beginning + self.messages.weight_from(from),
        }
    }

    /// The token count of the client's messages that are replaced.
    pub(super) fn weight_replaced(&self) -> u64 {
        let until = self
            .outgoing
            .replaced
            .as_ref()
            .map_or(0, |(_, until)| *until);
        let replaced = self.messages.recognized.lead..until;
        replaced.filter_map(|at| self.messages.weight_of(at)).sum()
    }

    /// The first message after those that were measured, and after the reply to them.
    pub(super) fn first_after(&self, measured: u128) -> Option<usize> {
        let mut hashes = self.messages.recognized.hashes.iter();
        let next = hashes.rposition(|hash| *hash == measured)? + 1;
        match self.roles().get(next) {
            Some(BodyRole::Assistant) => Some(next + 1),
            _ => Some(next),
        }
    }

    /// Whether the request may be shortened: what the user asks now may not be replaced. If that alone does not fit in
    /// `most` tokens, or nothing was said before it, the upstream's error stands.
    pub(super) fn may_be_shortened(&self, most: u64, tokenizer: Tokenizer) -> bool {
        let roles = self.roles();
        let Some(answer) = roles.iter().rposition(|role| *role == BodyRole::Assistant) else {
            return false;
        };
        let asked = (answer + 1..roles.len()).filter(|at| roles.get(*at) == Some(&BodyRole::User));
        let texts = asked.filter_map(|at| {
            let text = self.messages.text(at).unwrap_or_default();
            let is_result = memchr::memmem::find(text, b"\"tool_result\"").is_some();
            (!is_result).then(|| weight::element(text))
        });
        TokenDensity::likely(tokenizer).tokens(texts.sum()) <= most
    }

    /// Whether this request may begin with a compacted prefix. A prefix that was made after the model's answer
    /// presupposes that answer: unless the answer follows, the prefix does not fit the request.
    pub(crate) fn may_begin_with(&self, base: &LoadedPrefix) -> bool {
        let made = &base.prefix.made;
        if made.waited.is_some() || made.kind == CompactedPrefixKind::Cleared {
            // It was made for a request that waited, or leaves everything new in place.
            return true;
        }
        let Some(last) = self.messages.recognized.position(base.prefix.at) else {
            return false;
        };
        let roles = self.roles();
        let mut behind = roles.iter().skip(last + 1);
        let next = behind.find(|role| **role != BodyRole::System);
        next == Some(&BodyRole::Assistant) || roles.get(last) == Some(&BodyRole::Assistant)
    }

    /// How many messages it has, those of role system not counted, and how many calls the model's last message makes.
    /// `None` if the model's message comes last: the model is to continue it.
    pub(crate) fn message_and_call_count(&self) -> Option<(u32, u64)> {
        let roles = self.roles();
        let last = roles.iter().rposition(|role| *role != BodyRole::System)?;
        let newest = roles.iter().rposition(|role| *role == BodyRole::Assistant);
        let calls = newest
            .and_then(|newest| Some(ElementParts::read(self.messages.text(newest)?)?.call_count()));
        (newest != Some(last)).then(|| (self.spoken_until(last), calls.unwrap_or(0)))
    }

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
