//! Decisions by price during a turn (V3–V5): what is cleared, when a summary pays, and whether notes and summaries that
//! are made ahead are expected to be earned. `priced_view.rs` has what the view has cost.

use jiff::Timestamp;

use super::compaction_in_progress::{CompactionCause, CompactionInProgress, CompactionTiming};
use super::event::Event;
use super::input::CompactRequest;
use super::live::{LiveConversation, LiveEntry};
use super::preparation::PreparationState;
use super::priced_view::{CacheEntryPlaces, PricedView, PricedViewTerms, SummaryOutputs};
use super::sizes::prefix_weight;
use super::{CacheEditSupport, Engine, PrefixRecording};
use crate::economy::{
    EconomyAction, EconomyPolicy, EconomyRecord, PrefixWarmth, ResultRemoval, RuleSituation,
    StrippedThinking, ThresholdDistance, TokenRates, VERBATIM_TOKENS, action_price, decide_before,
    oldest_until,
};
use crate::hash::Set;
use crate::message::{Id, Usage};
use crate::micro::{
    CacheDeletions, CacheState, ClearableResult, MicroClearingReason, MicroStep, PlannedClearing,
    pressure,
};
use crate::money::Usd;
use crate::plan::{
    Breaker, SummaryWay, may_clear_by_price, policy_in_effect, prefix_warmth, rest_after_failure,
    verbatim_tail,
};
use crate::summary::{CompactionScope, PivotDirection};
use crate::tokens::Estimate;
use crate::window::guards::guard;
use crate::window::{ProactiveGuard, WindowLevel, WindowOwner};

/// The output that is expected of the first run that takes notes.
const FIRST_NOTES: u64 = 2_000;

/// What decisions by price depend on besides the conversation.
#[derive(Debug)]
pub(super) struct EconomyState {
    policy: EconomyPolicy,
    view: PricedView,
    /// Whether the host was told that prices are not known.
    is_told: bool,
    /// No summary is made by price before the window holds this many tokens.
    rest: u64,
    notes: NotesSpending,
    /// The decision for the clearing that is being made.
    pub(super) clearing: Option<EconomyRecord>,
}

/// What notes have cost.
#[derive(Debug, Clone, Copy, Default)]
struct NotesSpending {
    runs: u64,
    output: u64,
    /// What they have cost since the last compaction.
    spent: Usd,
}

impl EconomyState {
    pub(super) fn new(
        policy: EconomyPolicy,
        terms: PricedViewTerms,
        live: &LiveConversation,
    ) -> Self {
        Self {
            policy,
            view: priced(terms, live),
            is_told: false,
            rest: 0,
            notes: NotesSpending::default(),
            clearing: None,
        }
    }

    /// Notes what a run that took notes has cost.
    pub(super) fn noted(&mut self, usage: &Usage, cost: Option<Usd>) {
        self.notes.runs += 1;
        self.notes.output += usage.output;
        self.notes.spent += cost.unwrap_or_default();
    }
}

impl Engine {
    /// Which actions are to be decided by price. Where prices are not known, none is.
    pub fn economy(&self) -> EconomyPolicy {
        self.economy.policy
    }

    pub(super) fn set_economy(&mut self, policy: EconomyPolicy) {
        self.economy.policy = policy;
    }

    /// What the view is priced with.
    pub(super) fn priced_terms(
        config: &super::EngineConfig,
        prefix: &crate::prompt::RequestPrefix,
    ) -> PricedViewTerms {
        PricedViewTerms {
            prefix: prefix_weight(prefix).padded(),
            scale: config.window.scale(),
            tokenizer: config.model.tokenizer,
            // The request prefix names one entry up to which no thinking is sent.
            thinking: if config.model.thinking.binding.may_bind() {
                StrippedThinking::All
            } else {
                StrippedThinking::None
            },
            entries: match prefix.latched.ttl {
                Some(_) => CacheEntryPlaces::AtBreakpoints,
                None => CacheEntryPlaces::Everywhere,
            },
        }
    }

    /// Adds an entry at the end of the view.
    pub(super) fn push_live(&mut self, kept: LiveEntry) {
        self.live.push(kept);
        if let Some(newest) = self.live.entries().last() {
            let entry = newest.entry.view();
            let standing = self.live.standing(entry);
            self.economy.view.push(entry, standing);
        }
    }

    /// Prices the view anew, because another one has begun.
    pub(super) fn price_new_view(&mut self) {
        let terms = Self::priced_terms(&self.config, &self.prefix);
        self.economy.view = priced(terms, &self.live);
        self.economy.notes.spent = Usd::ZERO;
        self.economy.rest = 0;
    }

    /// The policy that is in effect: none where the user's switches, the kind of conversation or unknown prices do not
    /// permit it.
    pub(super) fn policy(&self) -> EconomyPolicy {
        let config = &self.config;
        let is_inside = matches!(
            guard(&config.source, config.owner),
            ProactiveGuard::InsideCompaction
                | ProactiveGuard::InsideNotes
                | ProactiveGuard::InsideCollapse
        );
        if !is_inside && config.prefixes == PrefixRecording::Written {
            policy_in_effect(self.economy.policy, &config.switches, &config.model)
        } else {
            EconomyPolicy::Off
        }
    }

    /// Whether clearing is decided by price.
    pub(super) fn clears_by_price(&self) -> bool {
        let config = &self.config;
        self.policy() != EconomyPolicy::Off
            && may_clear_by_price(&config.switches, config.pressure)
            && config.owner != WindowOwner::Collapse
    }

    /// The prices for a request with the present view.
    fn rates(&self) -> Option<TokenRates> {
        let ttl = self.prefix.latched.ttl.unwrap_or_default();
        let prices = self.config.model.prices.as_ref()?;
        Some(TokenRates::of(prices, self.economy.view.tokens(), ttl))
    }

    /// What the provider's cache does for the next request: it is hot until the start of the last one plus its
    /// lifetime, and where nothing is known.
    fn warmth(&self, now: Timestamp) -> PrefixWarmth {
        let (view, latched) = (&self.economy.view, self.prefix.latched.ttl);
        let idle = view.started().map(|at| now.duration_since(at).as_secs());
        let ttl = latched.unwrap_or_default();
        let warmth = prefix_warmth(view.tokens(), &self.config.model, ttl, idle);
        let is_anew = self.assembly.is_none() || self.outdated.is_some();
        match (warmth, latched) {
            (PrefixWarmth::Uncached, _) => PrefixWarmth::Uncached,
            // Without breakpoints only a provider caches that needs none.
            (_, None) => match view.billed() {
                PrefixWarmth::Hot if view.started().is_some() => PrefixWarmth::Hot,
                _ => PrefixWarmth::Uncached,
            },
            (_, Some(_)) if is_anew => PrefixWarmth::Cold,
            (warmth, Some(_)) => warmth,
        }
    }

    /// Whether the next request has another prefix than the last one.
    fn is_prefix_changed(&self) -> bool {
        let assembly = self.assembly.as_ref();
        assembly.is_some_and(|assembly| assembly.prefix().difference(&self.prefix).is_some())
    }

    /// Decides by price before a request. A clearing is returned; a summary is begun later in the turn.
    pub(super) fn decide_by_price(&mut self, now: Timestamp) -> Option<MicroStep> {
        self.economy.clearing = None;
        self.tell_unpriced();
        if self.economy.view.is_changed() || self.is_prefix_changed() {
            // The next request breaks the cache already: one occasion does so once, and is explained by what it is.
            return None;
        }
        let policy = self.policy();
        let rates = self.rates().filter(|_| policy != EconomyPolicy::Off)?;
        let warmth = self.warmth(now);
        let removal = if !self.clears_by_price() || self.is_summary_coming(now) {
            ResultRemoval::Forbidden
        } else if self.config.cache_edits == CacheEditSupport::Supported
            && warmth == PrefixWarmth::Hot
        {
            ResultRemoval::CacheEdits
        } else {
            ResultRemoval::NewRendering
        };
        let threshold = self.threshold_distance();
        let summary = self.may_summarize_by_price();
        let summary = summary.then(|| self.economy.view.forecast());
        let view = &mut self.economy.view;
        let situation = RuleSituation {
            policy,
            rates: Some(&rates),
            warmth,
            removal,
            thinking: view.thinking(),
            summary,
        };
        let decision = decide_before(view.rent_mut().view_mut(), &situation, threshold)?;
        let record = EconomyRecord::new(policy, &decision, &rates);
        let results = match decision.action {
            EconomyAction::Summarize => {
                self.turn.pays = Some(record);
                return None;
            }
            EconomyAction::Clear(results) => results,
        };
        let calls = view.calls_of(results);
        let clearing = (self.live.results()).chosen(&calls, MicroClearingReason::Price);
        if clearing.results.is_empty() {
            return None;
        }
        self.economy.clearing = Some(record);
        Some(match removal {
            ResultRemoval::CacheEdits => MicroStep::Delete(CacheDeletions {
                reason: clearing.reason,
                results: clearing.results,
                saved: clearing.saved,
            }),
            ResultRemoval::NewRendering | ResultRemoval::Forbidden => MicroStep::Clear(clearing),
        })
    }

    /// Where nothing pays, results are cleared only because the window fills up (V5).
    pub(super) fn clear_a_full_window(&self, now: Timestamp) -> MicroStep {
        let status = self.status();
        let situation = self.micro_situation(&status, now);
        let is_left_to_the_cache =
            situation.cached.is_some() && situation.cache == CacheState::Warm;
        if is_left_to_the_cache || self.is_summary_coming(now) {
            return MicroStep::Nothing;
        }
        pressure::under_pressure(&situation, || self.pressure_clearing())
    }

    /// How far the threshold is, if reaching it makes a summary.
    fn threshold_distance(&self) -> Option<ThresholdDistance> {
        let config = &self.config;
        let makes_summary = guard(&config.source, config.owner) == ProactiveGuard::Clear;
        makes_summary.then(|| ThresholdDistance {
            room: config.window.auto_compact.saturating_sub(self.used()),
            growth: self.economy.view.growth(),
            summary: None,
        })
    }

    /// Whether a summary is being made or was paid for already, and is used soon: what is cleared before it is not
    /// earned any more. A full window does not wait for one that is still being made.
    pub(super) fn is_summary_coming(&self, now: Timestamp) -> bool {
        if self.prepared() == PreparationState::Ready {
            return true;
        }
        (self.are_notes_coming(now) || self.ahead.compaction.is_some())
            && self.status().level < WindowLevel::Blocking
    }

    /// Whether notes are being taken, or were taken and will replace the older part at the threshold.
    pub(super) fn are_notes_coming(&self, now: Timestamp) -> bool {
        let are_taken = self.economy.notes.spent > Usd::ZERO && !self.rests_from_thresholds();
        self.notes_in_use() && (are_taken || self.takes_notes(now))
    }

    /// Notes that results were cleared. Notes that were paid for cover less and less of what comes now, and whatever
    /// waits for the window to grow waits from here on.
    pub(super) fn results_cleared(&mut self) {
        self.economy.notes.spent = Usd::ZERO;
        self.rest_from_here();
    }

    /// Says once that nothing is decided by price, because prices are not known.
    fn tell_unpriced(&mut self) {
        let is_unpriced = self.config.model.prices.is_none();
        if is_unpriced && self.economy.policy != EconomyPolicy::Off && !self.economy.is_told {
            self.economy.is_told = true;
            self.notify(Event::PricesUnknown {
                model: self.config.model.id.clone(),
            });
        }
    }

    /// The clearing under pressure (U5): where decisions are made by price, superseded results go first (V4).
    pub(super) fn pressure_clearing(&self) -> Option<PlannedClearing> {
        let results = self.live.results();
        let scale = self.config.window.scale();
        let excess = results.tokens().unpadded();
        let excess = excess.saturating_sub(scale.apply(pressure::MOST));
        if excess == 0 {
            return None;
        }
        let replaced = self.economy.view.superseded();
        let sizes: Vec<u64> = results.iter().map(|one| one.weight.unpadded()).collect();
        let ids: Vec<Id> = results.iter().map(|one| Id::of(&one.call)).collect();
        // What a smaller result refers to is not replaced by it (V8).
        let is_replaced = |(id, one): (&Id, &ClearableResult)| {
            replaced.contains(id) && !results.is_referred_to(&one.call)
        };
        let replaced: Vec<bool> = ids.iter().zip(results.iter()).map(is_replaced).collect();
        let removable = sizes.len().saturating_sub(pressure::KEPT);
        let chosen = oldest_until(&sizes, &replaced, removable, excess);
        let calls: Set<Id> = chosen.iter().map(|at| ids[*at]).collect();
        let clearing = results.chosen(&calls, MicroClearingReason::Pressure);
        let saved: Estimate = clearing.results.iter().map(|one| one.weight).sum();
        let saved = saved.less(results.growth_without(&clearing.results));
        (saved.unpadded() >= scale.apply(pressure::WORTH)).then_some(clearing)
    }

    /// Whether a run that takes notes is expected to be earned: it spares a summary, so all runs of a view together may
    /// cost as much as that, and none is made before the window fills up.
    pub(super) fn notes_are_earned(&self, now: Timestamp) -> bool {
        let rates = self.rates().filter(|_| self.policy() != EconomyPolicy::Off);
        let Some(rates) = rates else {
            return true;
        };
        if !self.is_threshold_near() {
            return false;
        }
        let (warmth, view) = (self.warmth(now), self.economy.view.tokens());
        let notes = self.economy.notes;
        let output = notes.output.checked_div(notes.runs).unwrap_or(FIRST_NOTES);
        let run = action_price::notes_run(&rates, warmth, view, output);
        let summary = self.economy.view.forecast().output;
        let summary = action_price::notes_run(&rates, warmth, view, summary);
        notes.spent + run <= summary
    }

    /// Whether a summary that is made ahead is expected to be needed: not if results are cleared first. They are not
    /// while notes are expected to be used, and if those turn out not to be sufficient, a turn would wait.
    pub(super) fn preparation_is_earned(&self, now: Timestamp) -> bool {
        !self.clears_by_price() || self.are_notes_coming(now) || self.pressure_clearing().is_none()
    }

    /// Whether a summary may be made because it pays.
    fn may_summarize_by_price(&self) -> bool {
        let config = &self.config;
        self.policy() == EconomyPolicy::Full
            && guard(&config.source, config.owner) == ProactiveGuard::Clear
            && self.tracking.breaker() == Breaker::Closed
            && self.ahead.compaction.is_none()
            && self.used() >= self.economy.rest
    }

    /// Makes a summary that pays, while the conversation goes on if that is wanted. Returns whether the turn waits.
    pub(super) fn summarize_by_price(&mut self, now: Timestamp) -> bool {
        if self.is_priced_summary_ready() {
            self.swap_in(now);
            return true;
        }
        // One that the threshold has asked for meanwhile is enough.
        let pays = self.turn.pays.take();
        let Some(record) = pays.filter(|_| self.ahead.compaction.is_none()) else {
            return false;
        };
        let Some(scope) = self.priced_scope() else {
            self.rest_from_pricing();
            return false;
        };
        let is_ahead = self.may_prepare();
        let parts = (scope, Some(PivotDirection::UpTo));
        let request = CompactRequest::default();
        let mut compaction = self.compaction(
            CompactionCause::Price,
            SummaryWay::Model,
            request,
            parts,
            now,
        );
        compaction.economy = Some(record);
        if is_ahead {
            compaction.place = CompactionTiming::Ahead;
            self.notify(Event::Ahead(super::PreparationEvent::Begun));
        } else {
            let phase = super::CompactionPhase::PreCompactHooks;
            self.notify(Event::Phase(Some(phase)));
        }
        self.run_pre_hooks(compaction);
        !is_ahead
    }

    /// Whether a summary that pays was made ahead and can replace what it summarizes.
    fn is_priced_summary_ready(&self) -> bool {
        let ahead = self.ahead.compaction.as_deref();
        ahead.is_some_and(|ahead| ahead.cause == CompactionCause::Price)
            && self.prepared() == super::preparation::PreparationState::Ready
    }

    /// Everything that was sent but the newest tokens, which stay word for word (V5).
    pub(super) fn priced_scope(&self) -> Option<CompactionScope> {
        let pieces = self.live.pieces();
        let least = self.config.window.scale().apply(VERBATIM_TOKENS);
        let last = self.assembly.as_ref()?.last_entry()?;
        let sent = (self.live.views()).position(|entry| entry.uuid() == Some(last))? + 1;
        let weights = self.live.weights();
        let sizes = weights.iter().map(|weight| weight.unpadded());
        let cut = verbatim_tail(sizes, least, |from| from <= sent)?.from;
        let scope = CompactionScope::partial(&pieces, cut, PivotDirection::UpTo);
        let is_new = scope.messages(&pieces) > 0 && self.something_new(&pieces, &scope).is_ok();
        is_new.then_some(scope)
    }

    /// Pauses after a summary by price that came to nothing.
    pub(super) fn rest_from_pricing(&mut self) {
        self.economy.rest = self.used() + rest_after_failure(&self.config.window);
    }

    /// The sizes of the session's summaries with this compaction's.
    pub(super) fn summary_outputs(&self, compaction: &CompactionInProgress) -> SummaryOutputs {
        self.economy.view.outputs().with(compaction.usage.as_ref())
    }
}

/// The sizes of a view and what they have cost.
fn priced(terms: PricedViewTerms, live: &LiveConversation) -> PricedView {
    let mut view = PricedView::new(terms, live.clearable().clone());
    for entry in live.views() {
        view.push(entry, live.standing(entry));
    }
    view
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::engine::{EngineConfig, SessionIdentity};
    use crate::models::ModelTable;
    use crate::prompt::{LatchedSettings, RequestPrefix};
    use crate::window::{WindowInput, WindowSettings, WindowStatus};

    #[test]
    fn n2_thinking_leaves_with_cleared_results_only_where_the_model_binds_it() {
        let stripped = |model: &str| {
            let spec = ModelTable::builtin().resolve(model).spec;
            let window = WindowStatus::new(&WindowInput {
                window: 200_000,
                max_output: spec.max_output,
                used: 0,
                settings: WindowSettings::default(),
            });
            let raw = |json: &str| serde_json::value::RawValue::from_string(json.into()).unwrap();
            let prefix = RequestPrefix {
                system: raw("[]"),
                tools: raw("[]"),
                user_context: None,
                latched: LatchedSettings::new(None, Vec::new(), &spec, raw("{}")),
            };
            let identity = SessionIdentity::default();
            let config = Config::default();
            let config = EngineConfig::new(identity, (*spec).clone(), window.unwrap(), &config);
            Engine::priced_terms(&config, &prefix).thinking
        };
        assert_eq!(stripped("claude-fable-5-2"), StrippedThinking::All);
        assert_eq!(stripped("claude-opus-4-6"), StrippedThinking::None);
    }
}
