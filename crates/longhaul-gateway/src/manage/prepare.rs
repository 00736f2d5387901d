//! Prepares what is sent for a request: its compacted prefix is looked up and put in place, and a request that would
//! not fit is compacted before it is sent.

use std::pin::Pin;
use std::sync::Arc;

use longhaul_core::history::{MeasuredReply, OverflowEvidence, OversizedRequest};
use longhaul_core::micro::is_rested;
use longhaul_core::window::SwitchableAction;
use longhaul_provider::Dialect;

use super::compacted_prefixes::LoadedPrefix;
use super::compactor::Compactor;
use super::outgoing_body::{OutgoingRequestBody, position};
use super::request_context::{BreakpointOwner, RequestContext};
use super::settle;
use super::weight::TokenDensity;
use super::work::{RoomRequirement, WorkOccasion};
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
    pub(crate) async fn prepare(self: &Arc<Self>, material: &mut RequestContext) -> Prepared {
        let began = std::time::Instant::now();
        self.find(material).await;
        self.not_yet(material).await;
        let measured = self.branch_states.measured(material.placed.line);
        // The provider's cache is cold then, so old results are cleared as well (U3).
        let limits = &self.settings.config.micro;
        let rested = is_rested(limits, measured.answered, self.clock.now());
        let used = measured.used;
        if rested
            && self.may(SwitchableAction::Micro)
            && self.work_on(material, WorkOccasion::Rested { used }).await
        {
            self.find(material).await;
        }
        self.make_room(material, &measured).await;
        let known = self.windows.of(&material.model);
        if known.spec.thinking.binding.may_bind() {
            settle::settle(&self.rewrites, material).await;
        }
        self.mark(material);
        material.fresh = self.begins_anew(material);
        Prepared {
            waited: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// Whether the prefix differs from that of the branch's last request. A fork continues with the prefix of the
    /// branch that it left.
    pub(super) fn begins_anew(&self, material: &RequestContext) -> bool {
        let replaced = material.outgoing.replaced.as_ref();
        let beginning = replaced.map(|(base, _)| base.beginning());
        let from = match material.placed.relation {
            BranchRelation::Branches(from, _) => Some(from),
            _ => None,
        };
        self.branch_states
            .sends(material.placed.line, from, beginning)
    }

    /// Work that a request waits for. It is boxed because it is seldom needed: an awaited future is part of each
    /// request's future, which is copied several times.
    pub(super) fn work_on<'w>(
        self: &'w Arc<Self>,
        material: &RequestContext,
        occasion: WorkOccasion,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'w>> {
        Box::pin(self.work(material.clone(), occasion))
    }

    /// Sets the gateway's cache breakpoints instead of the client's, if that is configured or if the client sets none.
    pub(super) fn mark(&self, material: &mut RequestContext) {
        if material.dialect != Dialect::Anthropic {
            return;
        }
        let line = material.placed.line;
        material.marked = match self.breakpoints {
            BreakpointMode::Manage => BreakpointOwner::Managed,
            BreakpointMode::Keep if self.branch_states.is_unmarked(line) => {
                BreakpointOwner::Managed
            }
            BreakpointMode::Keep if material.has_markers() => BreakpointOwner::Kept,
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
            material.marked,
            BreakpointOwner::Managed | BreakpointOwner::ManagedNow
        ) {
            let trail = self.branch_states.trail(line);
            let (body, recognised) = (&material.body, &material.recognized);
            material.outgoing.set_breakpoints(
                body,
                recognised,
                BreakpointMode::Manage,
                trail.as_deref(),
            );
        }
    }

    /// Prepares a request that only counts tokens: nothing is made for it.
    pub(crate) async fn found(&self, material: &mut RequestContext) {
        self.find(material).await;
        let known = self.windows.of(&material.model);
        if known.spec.thinking.binding.may_bind() {
            settle::as_if_settled(material);
        }
    }

    /// Puts the compacted prefix in place, if there is one.
    pub(super) async fn find(&self, material: &mut RequestContext) {
        match self.beginning(material).await {
            Ok(Some(base)) => {
                let behind =
                    OutgoingRequestBody::with_prefix(&material.body, &material.recognized, &base);
                material.outgoing = behind.unwrap_or_else(|| material.outgoing.clone());
            }
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(%error, "summaries cannot be looked up; the whole history is sent");
            }
        }
    }

    /// A prefix that was made ahead waits until the threshold is reached: until then, the beginning stays as it was
    /// sent last, and so does the cache.
    async fn not_yet(&self, material: &mut RequestContext) {
        let standing = self.branch_states.of(material.placed.line);
        let known = self.windows.of(&material.model);
        let (Some(window), Some((newer, _))) = (&known.window, &material.outgoing.replaced) else {
            return;
        };
        let same = standing.beginning == Some(newer.beginning());
        // Another gateway may have sent it already.
        if same
            || !self.rewrites.are_all_known()
            || newer.rewrite.made.waited.is_some()
            || standing.history.measured.used == 0
        {
            return;
        }
        let before = match standing.beginning {
            None => Some(OutgoingRequestBody::unchanged(&material.body)),
            Some(at) => {
                let found = self.rewrites.find(material.tenant, &[at]).await;
                let found = found.ok().flatten();
                found.and_then(|base| {
                    OutgoingRequestBody::with_prefix(&material.body, &material.recognized, &base)
                })
            }
        };
        let Some(before) = before else {
            return;
        };
        let newer = std::mem::replace(&mut material.outgoing, before);
        let was_measured = standing.history.measured.beginning == standing.beginning
            && material.first_after(standing.history.measured.at).is_some();
        let fits = self.expected(material, &standing.history.measured) < window.auto_compact;
        if !was_measured || !fits {
            material.outgoing = newer;
        }
    }

    /// The compacted prefix that a request may begin with.
    pub(super) async fn beginning(
        &self,
        material: &RequestContext,
    ) -> Result<Option<Arc<LoadedPrefix>>, StoreError> {
        let mut hashes = &*material.recognized.hashes;
        loop {
            let found = self.rewrites.find(material.tenant, hashes).await?;
            match found {
                // The prefix also replaces the current question: the client never saw the answer, and asks again.
                Some(base) if !material.may_begin_with(&base) => {
                    let at = position(&material.recognized, base.rewrite.at);
                    hashes = hashes.get(..at.unwrap_or(0)).unwrap_or_default();
                }
                found => return Ok(found),
            }
        }
    }

    /// The upstream rejects thinking that followed a different beginning, as when the store was lost or the client
    /// edits its history: leaves the thinking out. Returns whether it did.
    pub(crate) async fn unbind(&self, material: &mut RequestContext) -> bool {
        let unbound = settle::without_thinking(&self.rewrites, material).await;
        self.mark(material);
        unbound
    }

    /// Compacts a request that would not fit.
    pub(super) async fn make_room(
        self: &Arc<Self>,
        material: &mut RequestContext,
        measured: &MeasuredReply,
    ) {
        let known = self.windows.of(&material.model);
        let Some(window) = &known.window else {
            return;
        };
        let limit = match self.settings.config.background {
            true => window.blocking,
            // Nothing is made ahead: compaction happens when the threshold is reached.
            false => window.auto_compact,
        };
        // A token is at least one byte.
        if (material.outgoing.len() as u64) < limit {
            return;
        }
        let tokenizer = known.spec.tokenizer;
        let expected = self.expected(material, measured);
        let may = self.may(SwitchableAction::Automatic) || self.may(SwitchableAction::Micro);
        if expected < limit || !may || !material.may_be_shortened(window.auto_compact, tokenizer) {
            return;
        }
        for tries in 0..TRIES {
            let need = RoomRequirement {
                density: TokenDensity::measured(expected, material.weight().total()),
                pressing: OversizedRequest {
                    refused: OverflowEvidence::Expected,
                    limit: None,
                    tries,
                },
                refused_with: None,
            };
            if self.work_on(material, WorkOccasion::Full(need)).await {
                return self.find(material).await;
            }
        }
    }

    /// How many tokens a request will have: what was measured, plus a careful estimate of what is new. If nothing was
    /// measured of what is sent now, all of it is estimated.
    pub(super) fn expected(&self, material: &RequestContext, measured: &MeasuredReply) -> u64 {
        let tokenizer = self.windows.of(&material.model).spec.tokenizer;
        let careful = TokenDensity::careful(tokenizer);
        let base = material.outgoing.replaced.as_ref();
        let same = measured.used > 0
            && measured.tokenizer == tokenizer
            && measured.beginning == base.map(|(base, _)| base.beginning());
        if same && let Some(new) = material.first_after(measured.at) {
            let beside = material.size().beside.saturating_sub(measured.beside);
            // The parts besides the messages are English and JSON.
            return measured.used + careful.tokens(material.weight_from(new)) + beside as u64 / 2;
        }
        match base {
            // It was made while no request waited, so it was counted with nothing after it.
            Some((base, until)) if base.rewrite.made.waited.is_none() && !base.rewrite.settled => {
                base.rewrite.made.after + careful.tokens(material.weight_from(*until))
            }
            _ => careful.tokens(material.weight().total()),
        }
    }
}
