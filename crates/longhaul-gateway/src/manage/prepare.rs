//! Prepares what is sent for a request: its compacted prefix is looked up and put in place, and a request that would
//! not fit is compacted before it is sent. The core decides (`history/plan_request.rs`); here the figures are gathered,
//! and what was decided is done.

use std::pin::Pin;
use std::sync::Arc;

use longhaul_core::history::{
    BeginningChoice, BeginningOrigin, BeginningUse, FormerBeginning, FoundBeginning,
    MeasuredContinuation, MeasuredReply, OverflowEvidence, OversizedRequest, PreparedPrefix,
    RequestStep, RoomNeed, SentElsewhere, room_limit, room_need,
};
use longhaul_core::tokens::calibrated::UnscaledTokens;
use longhaul_provider::Dialect;

use super::breakpoint_owner::BreakpointOwner;
use super::compactor::Compactor;
use super::loaded_prefix::LoadedPrefix;
use super::occasion::{RoomRequirement, WorkOccasion};
use super::outgoing_body::OutgoingRequestBody;
use super::reduce::ReductionPurpose;
use super::request_context::RequestContext;
use super::settle;
use super::sized_history::SizedHistory;
use super::weight::TokenDensity;
use crate::body::BodyRole;
use crate::branch::BranchRelation;
use crate::breakpoints::BreakpointMode;
use crate::store::StoreError;

/// How often the gateway tries to make a request fit, with less content each time.
pub(super) const TRIES: u32 = 4;

/// The outcome of preparing a request.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    /// How long the request waited, in milliseconds.
    pub(crate) waited: u64,
}

impl Compactor {
    /// Decides what is sent. Waits only if the request would not fit.
    pub(crate) async fn prepare(self: &Arc<Self>, context: &mut RequestContext) -> Prepared {
        let began = std::time::Instant::now();
        // The future is large, and few requests have new results.
        Box::pin(self.reduce(context, ReductionPurpose::Sending)).await;
        if !self.repeat(context).await {
            self.find(context).await;
            let prepared = self.choose_prefix(context).await;
            let (measured, step) = self.next_step(context, prepared);
            self.measure_additions(context, &measured);
            match step {
                RequestStep::ClearAfterRest => self.clear_after_rest(context, measured.used).await,
                RequestStep::DecideByPrice(policy) => self.economize(context, policy).await,
                RequestStep::Nothing => {}
            }
            self.make_room(context, &measured).await;
        }
        let known = self.windows.of_tenant(context.of_key, &context.model);
        if known.spec.thinking.binding.may_bind() {
            settle::settle(&self.prefixes, context, self.clock.now()).await;
        }
        self.mark(context);
        context.fresh = self.begins_anew(context);
        // The next request may come before this one's usage is recorded.
        let line = context.placed.line;
        self.branch_states.started(line, self.clock.now());
        Prepared {
            waited: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// Sends a request that was answered already as it was sent then. Returns whether it is such a request.
    async fn repeat(&self, context: &mut RequestContext) -> bool {
        let measured = self.branch_states.measured(context.placed.line);
        let last = context.messages.recognized.hashes.last();
        let (Some(window), Some(last)) = (
            self.windows
                .of_tenant(context.tenant, &context.model)
                .window,
            last,
        ) else {
            return false;
        };
        if !measured.answers(*last, &window) {
            return false;
        }
        let before = self.outgoing_with_beginning(context, measured.beginning);
        let Some(before) = before.await else {
            return false;
        };
        context.outgoing = before;
        true
    }

    /// The body of a request that begins with the prefix of this hash, or with the client's own messages.
    async fn outgoing_with_beginning(
        &self,
        context: &RequestContext,
        beginning: Option<u128>,
    ) -> Option<OutgoingRequestBody> {
        match beginning {
            None => Some(OutgoingRequestBody::unchanged(&context.messages.body)),
            Some(at) => {
                let found = self.prefixes.find(context.tenant, &[at]).await;
                self.with_prefix(context, &found.ok().flatten()?)
            }
        }
    }

    /// What was measured last, and what is done to a request while it has room.
    fn next_step(
        &self,
        context: &RequestContext,
        prepared: PreparedPrefix,
    ) -> (MeasuredReply, RequestStep) {
        let history = self.branch_states.history(context.placed.line);
        let config = &self.settings.config;
        let rules = (&config.switches, &config.micro);
        let policy = self.economy_of(context);
        let step = history.before_request(policy, prepared, rules, self.clock.now());
        (history.measured, step)
    }

    /// Clears old results, because the conversation was idle for so long that the provider's cache is cold (U3).
    async fn clear_after_rest(self: &Arc<Self>, context: &mut RequestContext, used: u64) {
        if self.work_on(context, WorkOccasion::Rested { used }).await {
            self.find(context).await;
        }
    }

    /// Whether the prefix differs from that of the branch's last request. A fork continues with the prefix of the
    /// branch that it left.
    pub(super) fn begins_anew(&self, context: &RequestContext) -> bool {
        let replaced = context.outgoing.replaced.as_ref();
        let beginning = replaced.map(|(base, _)| base.beginning());
        let from = match context.placed.relation {
            BranchRelation::Branches(from, _) => Some(from),
            _ => None,
        };
        self.branch_states
            .sends(context.placed.line, from, beginning)
    }

    /// Work that a request waits for. It is boxed because it is seldom needed: an awaited future is part of each
    /// request's future, which is copied several times.
    pub(super) fn work_on<'w>(
        self: &'w Arc<Self>,
        context: &RequestContext,
        occasion: WorkOccasion,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'w>> {
        Box::pin(self.work(context.clone(), occasion))
    }

    /// Sets the gateway's cache breakpoints instead of the client's, if that is configured or if the client sets none.
    pub(super) fn mark(&self, context: &mut RequestContext) {
        if context.messages.dialect != Dialect::Anthropic {
            return;
        }
        let line = context.placed.line;
        context.marked = match self.breakpoints {
            BreakpointMode::Manage => BreakpointOwner::Managed,
            BreakpointMode::Keep if self.branch_states.is_unmarked(line) => {
                BreakpointOwner::Managed
            }
            BreakpointMode::Keep if context.messages.recognized.breakpoints.are_set() => {
                BreakpointOwner::Kept
            }
            // A call that may never be continued is left as it is.
            BreakpointMode::Keep if self.branch_states.measured(line).used == 0 => {
                BreakpointOwner::None
            }
            BreakpointMode::Keep => {
                self.branch_states.unmarked(line);
                BreakpointOwner::ManagedNow
            }
        };
        if matches!(
            context.marked,
            BreakpointOwner::Managed | BreakpointOwner::ManagedNow
        ) {
            let trail = self.branch_states.trail(line);
            let mode = BreakpointMode::Manage;
            (context.outgoing).set_breakpoints(&context.messages, mode, trail.as_deref());
        }
    }

    /// Prepares a request that only counts tokens: nothing is made for it.
    pub(crate) async fn found(&self, context: &mut RequestContext) {
        Box::pin(self.reduce(context, ReductionPurpose::Counting)).await;
        self.find(context).await;
        let known = self.windows.of_tenant(context.of_key, &context.model);
        if known.spec.thinking.binding.may_bind() {
            settle::as_if_settled(context, self.clock.now());
        }
    }

    /// Puts the compacted prefix in place, if there is one.
    pub(super) async fn find(&self, context: &mut RequestContext) {
        match self.beginning(context).await {
            Ok(Some(base)) => {
                let behind = self.with_prefix(context, &base);
                context.outgoing = behind.unwrap_or_else(|| context.outgoing.clone());
            }
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(%error, "summaries cannot be looked up; the whole history is sent");
            }
        }
    }

    /// The body of a request with a compacted prefix, whose messages are made from the client's if they are not at hand.
    pub(super) fn with_prefix(
        &self,
        context: &RequestContext,
        base: &Arc<LoadedPrefix>,
    ) -> Option<OutgoingRequestBody> {
        if !base.is_incomplete() {
            return context.outgoing_with(base);
        }
        let whole = self
            .prefixes
            .keep_loaded(context.completed(base.prefix.clone())?);
        context.outgoing_with(&whole)
    }

    /// Chooses between the prefix that was found and the one that was sent last. Returns whether the newer one is held
    /// back.
    async fn choose_prefix(&self, context: &mut RequestContext) -> PreparedPrefix {
        let standing = self.branch_states.of(context.placed.line);
        let known = self.windows.of_tenant(context.of_key, &context.model);
        let (Some(window), Some((newer, _))) = (&known.window, &context.outgoing.replaced) else {
            return PreparedPrefix::None;
        };
        let found = FoundBeginning {
            beginning: newer.beginning(),
            origin: origin(newer),
            // It is settled with its first use, where thinking is bound.
            used: match newer.prefix.settled {
                true => BeginningUse::Sent,
                false => BeginningUse::Prepared,
            },
            sent_elsewhere: match self.prefixes.are_all_known() {
                true => SentElsewhere::No,
                false => SentElsewhere::Possibly,
            },
        };
        let former = standing.beginning;
        if standing.history.choose_beginning(former, &found) == BeginningChoice::Found {
            return PreparedPrefix::None;
        }
        let before = self.outgoing_with_beginning(context, former).await;
        let Some(before) = before else {
            return PreparedPrefix::None;
        };
        let newer = std::mem::replace(&mut context.outgoing, before);
        let binds = known.spec.thinking.binding.may_bind();
        let measured = &standing.history.measured;
        let former = FormerBeginning {
            beginning: former,
            continuation: match context.first_after(measured.at) {
                // Other replies came with another beginning, and their thinking may be bound to that.
                Some(first) if !binds || replies_from(context, first) == 0 => {
                    MeasuredContinuation::Continues
                }
                _ => MeasuredContinuation::Differs,
            },
            expected: self.expected(context, measured),
        };
        let prepared = standing.history.keeps_former(&former, window);
        if prepared == PreparedPrefix::None {
            context.outgoing = newer;
        }
        prepared
    }

    /// The compacted prefix that a request may begin with.
    pub(super) async fn beginning(
        &self,
        context: &RequestContext,
    ) -> Result<Option<Arc<LoadedPrefix>>, StoreError> {
        let mut hashes = &*context.messages.recognized.hashes;
        loop {
            let found = self.prefixes.find(context.tenant, hashes).await?;
            match found {
                // The prefix also replaces the current question: the client never saw the answer, and asks again.
                Some(base) if !context.may_begin_with(&base) => {
                    let at = context.messages.recognized.position(base.prefix.at);
                    hashes = hashes.get(..at.unwrap_or(0)).unwrap_or_default();
                }
                found => return Ok(found),
            }
        }
    }

    /// The upstream rejects thinking that followed a different beginning, as when the store was lost or the client
    /// edits its history: leaves the thinking out. Returns whether it did.
    pub(crate) async fn unbind(&self, context: &mut RequestContext) -> bool {
        let unbound = settle::without_thinking(&self.prefixes, context, self.clock.now()).await;
        self.mark(context);
        unbound
    }

    /// Compacts a request that would not fit.
    pub(super) async fn make_room(
        self: &Arc<Self>,
        context: &mut RequestContext,
        measured: &MeasuredReply,
    ) {
        let known = self.windows.of_tenant(context.of_key, &context.model);
        let Some(window) = &known.window else {
            return;
        };
        let timing = self.timing();
        // A token is at least one byte.
        if (context.outgoing.len() as u64) < room_limit(window, timing) {
            return;
        }
        let tokenizer = known.spec.tokenizer;
        let switches = &self.settings.config.switches;
        let mut expected = self.expected(context, measured);
        if room_need(expected, window, timing, switches) != RoomNeed::None
            && context.is_summarized_before_newest()
            && self.shorten_newest(context, window, (expected, None)).await
        {
            self.find(context).await;
            context.expected = None;
            expected = self.expected(context, measured);
        }
        let need = room_need(expected, window, timing, switches);
        if need == RoomNeed::None || !context.may_be_shortened(window.auto_compact, tokenizer) {
            return;
        }
        for tries in 0..TRIES {
            let need = RoomRequirement {
                density: TokenDensity::measured(expected, context.weight().total()),
                pressing: OversizedRequest {
                    refused: OverflowEvidence::Expected,
                    limit: None,
                    tries,
                },
                refused_with: None,
            };
            if self.work_on(context, WorkOccasion::Full(need)).await {
                return self.find(context).await;
            }
        }
    }

    /// The first message that came since the last measurement, if that is of what is sent now.
    fn first_unmeasured(
        &self,
        context: &RequestContext,
        measured: &MeasuredReply,
    ) -> Option<usize> {
        let tokenizer = self
            .windows
            .of_tenant(context.tenant, &context.model)
            .spec
            .tokenizer;
        let base = context.outgoing.replaced.as_ref();
        let same = measured.used > 0
            && measured.tokenizer == tokenizer
            && measured.beginning == base.map(|(base, _)| base.beginning());
        context.first_after(measured.at).filter(|_| same)
    }

    /// Counts what came since the last measurement, so that the next one shows how far off the count is (X4).
    fn measure_additions(&self, context: &mut RequestContext, measured: &MeasuredReply) {
        let new = self.first_unmeasured(context, measured);
        let sizes = new.and_then(|new| {
            let sizes = SizedHistory::of(context, &self.sizes, &self.settings)?;
            Some(sizes.from(new))
        });
        context.additions = sizes;
    }

    /// How many tokens a request will have: what was measured, plus a calibrated count of what is new with its bound
    /// (X4). If nothing was measured of what is sent now, all of it is counted.
    pub(super) fn expected(&self, context: &RequestContext, measured: &MeasuredReply) -> u64 {
        if let Some(expected) = context.expected {
            return expected;
        }
        let tokenizer = self
            .windows
            .of_tenant(context.tenant, &context.model)
            .spec
            .tokenizer;
        let counter = self.branch_states.counter(context.placed.line, tokenizer);
        let careful = |count: UnscaledTokens| {
            let estimate = counter.scaled(count);
            estimate.tokens + estimate.bound
        };
        let Some(sizes) = SizedHistory::of(context, &self.sizes, &self.settings) else {
            return TokenDensity::careful(tokenizer).tokens(context.weight().total());
        };
        if let Some(new) = self.first_unmeasured(context, measured) {
            let beside = context.size().beside.saturating_sub(measured.beside);
            // The parts besides the messages are English and JSON.
            return measured.used + careful(sizes.from(new)) + beside as u64 / 2;
        }
        match &context.outgoing.replaced {
            // It was made while no request waited, so it was counted with nothing after it.
            Some((base, until)) if base.prefix.made.waited.is_none() && !base.prefix.settled => {
                base.prefix.made.after + careful(sizes.from(*until))
            }
            _ => careful(UnscaledTokens::whole(sizes.unscaled_total())),
        }
    }
}

/// How many messages of the model a request has from this one on.
fn replies_from(context: &RequestContext, first: usize) -> usize {
    let roles = context.roles().iter().skip(first);
    roles.filter(|role| **role == BodyRole::Assistant).count()
}

/// Why a compacted prefix was made.
fn origin(prefix: &LoadedPrefix) -> BeginningOrigin {
    let made = &prefix.prefix.made;
    if made.economy().is_some() {
        BeginningOrigin::Price
    } else if made.waited.is_some() {
        BeginningOrigin::Waited
    } else {
        BeginningOrigin::Ahead
    }
}
