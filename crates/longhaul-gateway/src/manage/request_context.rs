//! A request that was sent, with everything that is needed to compact its conversation. `conversation_cut` takes the part
//! out of it that is compacted.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use bytes::Bytes;
use longhaul_core::cache::PrefixReplacement;
use longhaul_core::config::ResultReduction;
use longhaul_core::economy::{EconomyPolicy, EconomyRecord};
use longhaul_core::history::{MessagesAtHand, SummaryPrice};
use longhaul_core::message::Id;
use longhaul_core::models::Tokenizer;
use longhaul_core::tokens::calibrated::UnscaledTokens;
use longhaul_provider::Dialect;

use super::breakpoint_owner::BreakpointOwner;
use super::client_messages::ClientMessages;
use super::derived_prefix::complete;
use super::element::ElementParts;
use super::loaded_prefix::LoadedPrefix;
use super::message_results::MessageResults;
use super::outgoing_body::OutgoingRequestBody;
use super::reduced_request::{ReducedRequest, RestoredResults};
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

/// How much was sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SentSize {
    /// How many bytes were sent.
    pub(crate) sent: usize,
    /// How many bytes are outside the messages.
    pub(crate) beside: usize,
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
}
