//! Decides by price what is sent for a request (V3, V9): results are cleared when sending them again has cost as much as
//! clearing them, and a summary is begun when that pays.
//!
//! The decision is a pure function of the request's messages and the rewrite that was found for them, so gateways that
//! share a store decide the same. Only the time of the last use comes from the record of the conversation; if that is
//! not known, the provider's cache counts as hot.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use longhaul_core::economy::{
    EconomyAction, EconomyDecision, EconomyPolicy, EconomyRecord, PrefixWarmth, ResultRemoval,
    RuleSituation, StrippedThinking, TokenRates, decide_before,
};
use longhaul_core::history::{
    BreakpointSetter, CachingFacts, HistoryChange, RequestPlace, conversation_cache,
    threshold_distance,
};
use longhaul_core::message::Id;
use longhaul_core::micro::PressureOwner;
use longhaul_core::models::ModelSpec;
use longhaul_core::plan::{may_clear_by_price, policy_in_effect};
use longhaul_core::prompt::Ttl;
use longhaul_core::report::{LossReport, ResultLoss, ViewTokens};
use longhaul_core::tokens::calibrated::CalibratedCounter;
use longhaul_core::window::{SwitchableAction, WindowStatus};
use longhaul_provider::Dialect;

use super::cleared_results::result_calls;
use super::compactor::Compactor;
use super::derived_prefix::stripped_spans;
use super::loaded_prefix::LoadedPrefix;
use super::request_context::RequestContext;
use super::sized_history::{CacheEntries, ClearingPermission, PricedHistory, SizedHistory};
use super::went;
use crate::body::BodyRole;
use crate::breakpoints::BreakpointMode;
use crate::store::{
    CompactedPrefix, CompactedPrefixKind, DerivedRest, HistoryHash, PrefixProvenance, PrefixReport,
    ResultsThatWent, StrippedSpan,
};

/// The prices and the state of the cache for a request.
struct PriceSituation {
    spec: Arc<ModelSpec>,
    rates: TokenRates,
    warmth: PrefixWarmth,
    history: PricedHistory,
    window: WindowStatus,
}

impl Compactor {
    /// The policy by which a request is decided: none, if the model's prices are not known or the user's switches do
    /// not permit it.
    pub(super) fn economy_of(&self, context: &RequestContext) -> EconomyPolicy {
        let known = self.windows.of_tenant(context.of_key, &context.model);
        let switches = &self.settings.config.switches;
        let is_asked_for = context.economy != EconomyPolicy::Off;
        if is_asked_for && known.spec.prices.is_none() && self.may(SwitchableAction::Automatic) {
            self.unpriced.tell_once(&context.model);
        }
        policy_in_effect(context.economy, switches, &known.spec)
    }

    /// Decides by price before a request is sent, and clears if that pays.
    pub(super) async fn economize(&self, context: &mut RequestContext, policy: EconomyPolicy) {
        let Some(mut situation) = self.priced(context) else {
            return;
        };
        let history = &situation.history;
        let threshold = threshold_distance(
            &situation.window,
            history.view.view(),
            history.growth.per_request(),
            history.forecast,
        );
        let binds = situation.spec.thinking.binding.may_bind();
        let decision = decide_before(
            &mut situation.history.view,
            &RuleSituation {
                policy,
                rates: Some(&situation.rates),
                warmth: situation.warmth,
                removal: ResultRemoval::NewRendering,
                thinking: if binds {
                    StrippedThinking::After
                } else {
                    StrippedThinking::None
                },
                summary: Some(situation.history.forecast),
            },
            Some(threshold),
        );
        let Some(decision) = decision else {
            keep_findable(context, &situation);
            return;
        };
        let record = EconomyRecord::new(policy, &decision, &situation.rates);
        match &decision.action {
            EconomyAction::Summarize => {
                keep_findable(context, &situation);
                context.summary_pays = Some(record);
            }
            EconomyAction::Clear(results) => {
                let results = results.clone();
                self.clear_by_price(context, &situation, &decision, &record, results)
                    .await;
            }
        }
    }

    /// Where the provider's cache will be found again.
    fn cache_entries(&self, context: &RequestContext) -> CacheEntries {
        if context.messages.dialect != Dialect::Anthropic || context.outgoing.replaced.is_none() {
            CacheEntries::Everywhere
        } else if self.breakpoints == BreakpointMode::Manage
            || context.messages.recognized.breakpoints.leave_one()
        {
            CacheEntries::Anchored
        } else {
            CacheEntries::RequestPrefix
        }
    }

    /// Whether results may be cleared by price (V5).
    fn clearing(&self, context: &RequestContext) -> ClearingPermission {
        let owner = match context.is_cleared_by_the_provider() {
            true => PressureOwner::Providers,
            false => PressureOwner::Ours,
        };
        match may_clear_by_price(&self.settings.config.switches, owner) {
            true => ClearingPermission::Permitted,
            false => ClearingPermission::Off,
        }
    }

    fn priced(&self, context: &RequestContext) -> Option<PriceSituation> {
        let known = self.windows.of_tenant(context.of_key, &context.model);
        let spec = Arc::clone(&known.spec);
        let prices = spec.prices.as_ref()?;
        let window = known.window?;
        // What this gateway alone has learned must not make it decide differently from others.
        let counter = CalibratedCounter::new(spec.tokenizer);
        let sizes = SizedHistory::of(context, &self.sizes, &self.settings)?;
        let ttl = ttl_of(context);
        let view = sizes.total(&counter);
        let cache = conversation_cache(&CachingFacts {
            setter: self.breakpoint_setter(context),
            place: match context.roles().contains(&BodyRole::Assistant) {
                true => RequestPlace::Later,
                false => RequestPlace::First,
            },
            model: &spec,
            view,
            ttl,
            idle_seconds: self.idle_seconds(context),
        });
        let rates = TokenRates::of(prices, view, ttl);
        let (clearing, entries) = (self.clearing(context), self.cache_entries(context));
        let history = sizes.priced(&counter, window.scale(), cache.billed, clearing, entries);
        Some(PriceSituation {
            rates,
            warmth: cache.next,
            history,
            window,
            spec,
        })
    }

    /// The seconds since the start of the conversation's last request, if that is known.
    fn idle_seconds(&self, context: &RequestContext) -> Option<i64> {
        let own = self.branch_states.last_started(context.placed.line);
        let last = own.max(context.placed.last_used)?;
        Some(self.clock.now().duration_since(last).as_secs())
    }

    /// Who sets the conversation's breakpoints.
    fn breakpoint_setter(&self, context: &RequestContext) -> BreakpointSetter {
        if context.messages.dialect != Dialect::Anthropic {
            BreakpointSetter::Nobody
        } else if self.breakpoints == BreakpointMode::Manage {
            BreakpointSetter::Gateway
        } else if context.messages.recognized.breakpoints.are_set() {
            BreakpointSetter::Client
        } else {
            BreakpointSetter::GatewayFromSecond
        }
    }

    /// Clears these results of the view, durably, and sends the request that way.
    async fn clear_by_price(
        &self,
        context: &mut RequestContext,
        situation: &PriceSituation,
        decision: &EconomyDecision,
        record: &EconomyRecord,
        results: Range<usize>,
    ) {
        let view = &situation.history.view;
        let keys = view.results().skip(results.start).take(results.len());
        let keys = keys.filter(|result| result.freed > 0);
        let chosen: Vec<(usize, Id)> = keys
            .filter_map(|result| situation.history.results.get(result.key as usize).copied())
            .collect();
        let tokens = ViewTokens {
            before: view.view(),
            after: view.view().saturating_sub(decision.freed),
        };
        let Some(prefix) = self.cleared_prefix(context, situation, &chosen, tokens, record) else {
            return;
        };
        let measured = self.branch_states.measured(context.placed.line);
        let expected = self.expected(context, &measured);
        let line = context.placed.line;
        match self.prefixes.put_at_once(prefix).await {
            Ok(base) => {
                let Some(sending) = self.with_prefix(context, &base) else {
                    return;
                };
                let first = chosen.iter().map(|(message, _)| *message).min();
                // The cache is found where one of the latest requests ended, or at the breakpoint that all of them had.
                let anchor = situation.history.anchor;
                let found = match view.is_found_before(results.start) {
                    true => first,
                    false => anchor.or(first),
                };
                let elements = found.and_then(|found| elements_before(context, &base, found));
                context.outgoing = sending;
                if let Some(elements) = elements.filter(|_| {
                    situation.warmth == PrefixWarmth::Hot
                        && context.messages.recognized.breakpoints.leave_one()
                }) {
                    mark_after(context, elements);
                }
                context.expected = Some(expected.saturating_sub(decision.freed / 4 * 3));
                context.cleared_by_price = Some(record.clone());
                let change = HistoryChange::Shrunk {
                    after: tokens.after,
                    by: None,
                    millis: 0,
                };
                self.branch_states.apply(line, change, &situation.window);
                self.metrics.compacted(CompactedPrefixKind::Cleared);
                self.changes.changed(context.placed.session);
                tracing::info!(%line, before = tokens.before, after = tokens.after, price = record.price_usd, rent = record.rent_usd, "old results were cleared, because that pays");
            }
            // Nothing is lost: the request is sent as it was.
            Err(error) => {
                tracing::warn!(%error, %line, "a clearing cannot be kept and is not used");
            }
        }
    }

    fn cleared_prefix(
        &self,
        context: &RequestContext,
        situation: &PriceSituation,
        chosen: &[(usize, Id)],
        tokens: ViewTokens,
        record: &EconomyRecord,
    ) -> Option<CompactedPrefix> {
        let base = context.outgoing.replaced.as_ref().map(|(base, _)| base);
        let hashes = &context.messages.recognized.hashes;
        // The client's newest messages keep their bytes, and with them their cache breakpoint.
        let mut roles = context.roles().iter();
        let last = roles.rposition(|role| *role == BodyRole::Assistant)?;
        let at = *hashes.get(last)?;
        let binds = situation.spec.thinking.binding.may_bind();
        let mut first = chosen.iter().map(|(message, _)| *message).min()?;
        if let Some(base) = base.filter(|base| binds && !base.prefix.settled) {
            // It comes into use with this request, so thinking after it was bound to what it replaces.
            first = first.min(first_unsettled(context, base).unwrap_or(first));
        }
        let changed = HistoryHash(*hashes.get(first)?);
        let stripped = base.map_or_else(Vec::new, |base| {
            stripped_spans(&context.messages.recognized, &base.prefix)
        });
        let mut derived = DerivedRest {
            changed_from: Some(changed),
            stripped,
        };
        if binds {
            derived = derived.stripping(StrippedSpan {
                from: changed,
                to: HistoryHash(at),
            });
        }
        let mut cleared = base.map_or_else(Vec::new, |base| base.prefix.cleared.clone());
        let calls = calls_of(context, chosen);
        let went = self.results_that_went(context, chosen, &calls);
        cleared.extend(calls);
        let text = base.map_or_else(Bytes::new, |base| {
            base.prefix.text.slice(..base.prefix.summary)
        });
        let prefix = CompactedPrefix {
            tenant: context.tenant,
            at,
            messages: context.spoken_until(last),
            summary: text.len(),
            text,
            root: base.and_then(|base| base.prefix.root),
            lines: base.map_or_else(Bytes::new, |base| base.prefix.lines.clone()),
            cleared,
            derived: Some(derived),
            settled: binds,
            made: PrefixProvenance {
                session: context.placed.session,
                line: context.placed.line,
                at: self.clock.now(),
                kind: CompactedPrefixKind::Cleared,
                before: tokens.before,
                after: tokens.after,
                millis: 0,
                waited: Some(0),
                cost: None,
                report: PrefixReport {
                    went,
                    economy: Some(record.clone()),
                    ..PrefixReport::of(report(chosen.len(), tokens))
                },
            },
        };
        context.completed(prefix)
    }
}

impl Compactor {
    /// The results that are cleared: their calls are in the messages before them.
    fn results_that_went(
        &self,
        context: &RequestContext,
        chosen: &[(usize, Id)],
        calls: &[String],
    ) -> Option<ResultsThatWent> {
        let answers: BTreeSet<usize> = chosen.iter().map(|(message, _)| *message).collect();
        let is_reply = |at: &usize| context.roles().get(*at) == Some(&BodyRole::Assistant);
        let replies = (answers.iter()).filter_map(|at| (0..*at).rev().find(is_reply));
        let messages: BTreeSet<usize> = replies.chain(answers.iter().copied()).collect();
        let elements: Vec<Bytes> = (messages.into_iter())
            .filter_map(|at| context.messages.element(at))
            .collect();
        let gone: BTreeSet<&str> = calls.iter().map(String::as_str).collect();
        let tokenizer = self
            .windows
            .of_tenant(context.tenant, &context.model)
            .spec
            .tokenizer;
        went::among(
            elements.iter(),
            |call| gone.contains(call),
            (context.messages.dialect, tokenizer),
            &self.settings.tools,
            context.recall,
        )
    }
}

/// The first message whose thinking is no longer valid once this prefix is in use.
fn first_unsettled(context: &RequestContext, base: &LoadedPrefix) -> Option<usize> {
    let recognized = &context.messages.recognized;
    match (&base.prefix.derived, base.prefix.root) {
        (Some(derived), _) => recognized.position(derived.changed_from?.0),
        (None, Some(root)) => Some(recognized.position(root)? + 1),
        (None, None) => Some(recognized.lead),
    }
}

/// How many elements of a compacted prefix come before one of the client's messages; `None` if there are none.
fn elements_before(context: &RequestContext, base: &LoadedPrefix, message: usize) -> Option<usize> {
    let from = context.messages.recognized.first_after(base.prefix.root)?;
    let elements = base.summary().len() + message.checked_sub(from)?;
    (elements > 0).then_some(elements)
}

/// Sets one more breakpoint before the first result that may be cleared next, so that the provider's cache is found there
/// when it is.
fn keep_findable(context: &mut RequestContext, situation: &PriceSituation) {
    let base = context.outgoing.replaced.as_ref().map(|(base, _)| base);
    let anchored = base.zip(situation.history.anchor);
    let elements = anchored.and_then(|(base, anchor)| elements_before(context, base, anchor));
    if let Some(elements) = elements {
        mark_after(context, elements);
    }
}

/// Sets one more breakpoint in the compacted prefix of a request.
fn mark_after(context: &mut RequestContext, elements: usize) {
    context.outgoing.mark_after(&context.messages, elements);
}

/// The calls of these results, as the client writes them.
fn calls_of(context: &RequestContext, chosen: &[(usize, Id)]) -> Vec<String> {
    let wanted: BTreeSet<(usize, Id)> = chosen.iter().copied().collect();
    let messages: BTreeSet<usize> = chosen.iter().map(|(message, _)| *message).collect();
    let calls = messages.into_iter().flat_map(|message| {
        let element = context.messages.element(message).unwrap_or_default();
        let calls = result_calls(context.messages.dialect, &element).into_iter();
        calls.map(move |call| (message, call))
    });
    calls
        .filter(|(message, call)| wanted.contains(&(*message, Id::of(call))))
        .map(|(_, call)| call)
        .collect()
}

fn report(cleared: usize, tokens: ViewTokens) -> LossReport {
    LossReport {
        tokens,
        results: ResultLoss {
            cleared: cleared as u64,
            archived: 0,
        },
        notes: vec![format!(
            "{cleared} old tool results are no longer sent, because that pays; the client has them."
        )],
        ..LossReport::default()
    }
}

/// The cache lifetime that a request asks for.
fn ttl_of(context: &RequestContext) -> Ttl {
    let asked = context.messages.recognized.breakpoints.longest();
    let asked = asked.filter(|_| context.messages.dialect == Dialect::Anthropic);
    asked.unwrap_or_default()
}
