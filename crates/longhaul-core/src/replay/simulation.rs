//! Sends a recorded conversation again under a policy and adds up what is billed.
//!
//! The decisions by price are those of `rule.rs`. Thresholds work as they do in a session: clearing after an idle hour
//! (U3) and under pressure (U5), a summary at the threshold (H2). A schedule that is given step by step is billed in the
//! same way, so that the best schedule in hindsight can be shown beside the policies.

mod ahead;

use ahead::{GatewayWindow, PreparedStanding};

use super::priced::PricedConversation;
use super::session::ItemKind;
use super::terms::ReplayedHost;
use crate::economy::{
    CLEARED_RESULT, ConversationRent, EconomyAction, EconomyPolicy, PrefixWarmth, RuleSituation,
    StrippedThinking, SummaryForecast, ThresholdDistance, VERBATIM_PROMPTS, VERBATIM_TOKENS,
    ViewGrowth, ViewPart, action_price, decide_before, oldest_until, superseded,
};
use crate::history::HistoryAuthor;
use crate::money::Usd;
use crate::window::{WindowLevel, WindowStatus};

/// The idle time after which the thresholds clear old results, in seconds.
const IDLE: i64 = 3_600;
/// A gateway's lasting cache entry ends before the oldest result that frees this many tokens.
const LASTING_ENTRY: u64 = 1_000;
/// Under pressure, results are cleared down to this many tokens, if that frees the second number.
const PRESSURE: (u64, u64) = (40_000, 20_000);

/// Who decides what is done before a request.
#[derive(Debug, Clone, Copy)]
pub enum ReplayDriver<'a> {
    /// Nothing is ever removed, and the window has no end.
    AppendOnly,
    /// The policy decides, with the thresholds as a net.
    Policy(EconomyPolicy),
    /// These actions are done, and no others.
    Script(&'a [ScriptedAction]),
}

/// An action of a given schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptedAction {
    /// Before which request.
    pub request: usize,
    /// From which of the conversation's items on results are cleared; `None` for a summary.
    pub clear_from: Option<usize>,
}

/// What a conversation costs under a policy.
#[derive(Debug, Clone, Default)]
pub struct PolicyRun {
    /// What is billed for prompts, without summaries.
    pub prompts: Usd,
    /// What is billed for making summaries.
    pub summaries: Usd,
    /// What is billed for what the model writes.
    pub output: Usd,
    /// The requests, in order.
    pub steps: Vec<RunStep>,
    /// What was done, in order.
    pub actions: Vec<RunAction>,
}

impl PolicyRun {
    /// Everything that is billed.
    pub fn total(&self) -> Usd {
        self.prompts + self.summaries + self.output
    }

    /// What the policy decides about: everything but what the model writes in its answers.
    pub fn prompt_side(&self) -> Usd {
        self.prompts + self.summaries
    }

    /// The largest view.
    pub fn peak(&self) -> u64 {
        self.steps.iter().map(|step| step.view).max().unwrap_or(0)
    }
}

/// A request of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunStep {
    /// The tokens that it sends.
    pub view: u64,
    /// What has been billed until its answer ended.
    pub total: Usd,
}

/// Something that a policy did.
#[derive(Debug, Clone, Copy)]
pub struct RunAction {
    /// Before which request.
    pub request: usize,
    /// What was done.
    pub kind: RunActionKind,
    /// Why.
    pub reason: ActionReason,
    /// The tokens that left the view.
    pub freed: u64,
    /// What it cost, where it was decided by price.
    pub price: Usd,
    /// The rent that it was compared with.
    pub rent: Usd,
    /// The part of the price that was waived.
    pub waived: Usd,
}

/// The kinds of actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunActionKind {
    /// Results were cleared.
    Clear,
    /// The conversation was summarized.
    Summarize,
}

/// Why something was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionReason {
    /// It pays.
    Price,
    /// The conversation was idle for an hour (U3).
    Idle,
    /// The window filled up (U5, H2).
    Threshold,
    /// The schedule says so.
    Schedule,
}

/// Sends a conversation again.
pub fn simulate(conversation: &PricedConversation, driver: ReplayDriver<'_>) -> PolicyRun {
    let mut simulation = Simulation::new(conversation, driver);
    for request in 0..conversation.requests.len() {
        simulation.request(request, driver);
    }
    simulation.run
}

struct Simulation<'a> {
    conversation: &'a PricedConversation,
    view: ConversationRent,
    /// The present size of each item.
    sizes: Vec<u64>,
    /// The tokens of the user's messages before each item.
    prompts: Vec<u64>,
    growth: ViewGrowth,
    /// The first item that is still in the view.
    start: usize,
    /// A summary that is being made while the conversation goes on, and what the view costs that it reads.
    made: Option<MadeSummary>,
    /// What a gateway remembers of the conversation.
    gateway: GatewayWindow,
    run: PolicyRun,
}

impl<'a> Simulation<'a> {
    fn new(conversation: &'a PricedConversation, driver: ReplayDriver<'_>) -> Self {
        let view = ConversationRent::new(conversation.prefix);
        // Thresholds alone do not leave the newest tokens word for word.
        let view = match driver {
            ReplayDriver::AppendOnly | ReplayDriver::Policy(EconomyPolicy::Off) => view,
            ReplayDriver::Policy(_) | ReplayDriver::Script(_) => {
                view.leaving(conversation.verbatim())
            }
        };
        Self {
            conversation,
            view,
            sizes: conversation.items.iter().map(|item| item.tokens).collect(),
            prompts: prompts_before(conversation),
            growth: ViewGrowth::default(),
            start: 0,
            made: None,
            gateway: GatewayWindow::default(),
            run: PolicyRun::default(),
        }
    }

    fn request(&mut self, request: usize, driver: ReplayDriver<'_>) {
        let priced = &self.conversation.requests[request];
        for index in self.conversation.added(request) {
            self.push(index);
        }
        let mut bill = priced.first.unwrap_or_default();
        if priced.first.is_none() {
            let warmth = self.conversation.warmth(request, self.view.view());
            // What the cache holds before anything is done.
            let mut reused = self.view.sent_view();
            self.act(request, warmth, driver, &mut reused);
            let rates = self.conversation.rates(request, self.view.view());
            let view = self.view.view();
            let reused = reused.min(view);
            bill = rates.sending_again(warmth, reused) + rates.sending_first(warmth, view - reused);
        }
        let warmth = self.conversation.warmth(request, self.view.view());
        let after_summary = self.usual_view_after(request);
        let warmth = match (priced.first, self.conversation.host, warmth) {
            (Some(_), ..) | (_, ReplayedHost::Gateway, PrefixWarmth::Cold) => PrefixWarmth::Hot,
            _ => warmth,
        };
        self.view.sent(warmth, after_summary);
        self.growth.requested();
        self.run.prompts += bill;
        self.run.output += priced.output;
        self.run.steps.push(RunStep {
            view: self.view.view(),
            total: self.run.total(),
        });
        if let (ReplayDriver::Policy(policy), ReplayedHost::Gateway) =
            (driver, self.conversation.host)
        {
            self.answered(request, policy);
        }
    }

    fn push(&mut self, index: usize) {
        let item = &self.conversation.items[index];
        let tokens = item.tokens;
        self.growth.added(tokens);
        self.view.push(match item.kind {
            // Those that are hardly larger than a marker count among the newest results.
            ItemKind::Result => ViewPart::Result {
                key: index as u64,
                tokens,
                freed: PricedConversation::freed(item).unwrap_or(0),
            },
            ItemKind::Prompt => ViewPart::Prompt(tokens),
            ItemKind::Thinking => ViewPart::Thinking(tokens),
            ItemKind::Text => ViewPart::Text(tokens),
        });
    }

    fn act(
        &mut self,
        request: usize,
        warmth: PrefixWarmth,
        driver: ReplayDriver<'_>,
        reused: &mut u64,
    ) {
        match driver {
            ReplayDriver::AppendOnly => {}
            ReplayDriver::Policy(policy) => match self.conversation.host {
                ReplayedHost::Session => {
                    self.by_price(request, warmth, policy, reused);
                    self.by_threshold(request, warmth, policy, reused);
                }
                ReplayedHost::Gateway => {
                    self.put_in_place(request, warmth, reused);
                    if self.at_threshold(request, warmth, reused) == PreparedStanding::None {
                        self.after_rest(request, policy, reused);
                        self.by_price(request, warmth, policy, reused);
                    }
                    self.make_room(request, warmth, reused);
                }
            },
            ReplayDriver::Script(script) => {
                let from = script.partition_point(|action| action.request < request);
                let due = script[from..].iter();
                for action in due.take_while(|action| action.request == request) {
                    match action.clear_from {
                        None => self.summarize_now(request, warmth, ActionReason::Schedule, reused),
                        Some(item) => {
                            let removable = self.view.removable(warmth);
                            let results = self.view.results().take(removable).enumerate();
                            let chosen: Vec<usize> = results
                                .filter(|(_, result)| result.key >= item as u64)
                                .map(|(index, _)| index)
                                .collect();
                            self.clear(request, &chosen, ActionReason::Schedule, reused);
                        }
                    }
                }
            }
        }
    }

    /// Puts a summary in place that was made while the conversation went on.
    fn put_in_place(&mut self, request: usize, warmth: PrefixWarmth, reused: &mut u64) {
        let Some(made) = self.made.take() else {
            return;
        };
        let shape = self.shape(request);
        if !self.shrinks(&shape) {
            return;
        }
        self.replace(request, shape, warmth, ActionReason::Price, reused);
        if let Some(action) = self.run.actions.last_mut() {
            (action.price, action.rent) = (made.price, made.rent);
        }
        self.shrunk_by_price(request, Some(HistoryAuthor::Model));
    }

    /// Where the cache is found if something is removed from this offset on.
    fn note_lasting_entry(&mut self) {
        if self.conversation.host == ReplayedHost::Gateway && !self.run.actions.is_empty() {
            let freed = self.view.results().map(|result| result.freed);
            let worth = { freed }.position(|freed| freed >= LASTING_ENTRY);
            let worth = worth.unwrap_or(0);
            let kept = self.view.offset(worth);
            let kept = kept.unwrap_or(self.view.sent_view());
            self.view.cached_to(kept);
        }
    }

    fn by_price(
        &mut self,
        request: usize,
        warmth: PrefixWarmth,
        policy: EconomyPolicy,
        reused: &mut u64,
    ) {
        self.put_in_place(request, warmth, reused);
        self.note_lasting_entry();
        let rates = self.conversation.rates(request, self.view.view());
        let situation = RuleSituation {
            policy,
            rates: Some(&rates),
            warmth,
            removal: Default::default(),
            thinking: self.conversation.thinking(request),
            summary: Some(self.forecast(request)),
        };
        let distance = self.threshold_distance(request);
        let Some(decision) = decide_before(&mut self.view, &situation, distance) else {
            return;
        };
        match &decision.action {
            EconomyAction::Clear(results) => {
                let results: Vec<usize> = results.clone().collect();
                self.clear(request, &results, ActionReason::Price, reused);
                if let Some(action) = self.run.actions.last_mut() {
                    (action.price, action.rent) = (decision.price, decision.rent);
                    action.waived = decision.waived;
                }
                self.shrunk_by_price(request, None);
            }
            EconomyAction::Summarize => {
                // It is made after the answer, when the cache holds all that was sent.
                let warmth = match warmth {
                    PrefixWarmth::Cold => PrefixWarmth::Hot,
                    hot => hot,
                };
                self.pay_for_summary(request, warmth);
                self.made = Some(MadeSummary {
                    price: decision.price,
                    rent: decision.rent,
                });
            }
        }
    }

    /// How far the threshold is, as a gateway sees it. What a session has at its threshold, notes or a summary made ahead,
    /// is not replayed.
    fn threshold_distance(&self, request: usize) -> Option<ThresholdDistance> {
        let threshold = self.conversation.requests[request].window.auto_compact;
        (self.conversation.host == ReplayedHost::Gateway).then(|| ThresholdDistance {
            room: threshold.saturating_sub(self.view.view()),
            growth: self.growth.per_request(),
            summary: Some(self.forecast(request)),
        })
    }

    fn by_threshold(
        &mut self,
        request: usize,
        warmth: PrefixWarmth,
        policy: EconomyPolicy,
        reused: &mut u64,
    ) {
        self.after_rest(request, policy, reused);
        let priced = &self.conversation.requests[request];
        let window = priced.window.at(self.view.view());
        // Clearing waits for a cold cache while the window has room up to the threshold of compaction.
        let waits = warmth == PrefixWarmth::Hot && window.level <= WindowLevel::Warning;
        if window.level >= WindowLevel::Warning && !waits {
            let chosen = self.under_pressure(&window, policy);
            self.clear(request, &chosen, ActionReason::Threshold, reused);
        }
        if priced.window.at(self.view.view()).level >= WindowLevel::AutoCompact {
            self.summarize_now(request, warmth, ActionReason::Threshold, reused);
        }
    }

    /// Clears old results after an idle hour, where nothing is decided by price.
    fn after_rest(&mut self, request: usize, policy: EconomyPolicy, reused: &mut u64) {
        let priced = &self.conversation.requests[request];
        if policy == EconomyPolicy::Off && priced.idle_seconds.is_some_and(|idle| idle > IDLE) {
            let old: Vec<usize> = (0..self.view.removable(PrefixWarmth::Cold)).collect();
            self.clear(request, &old, ActionReason::Idle, reused);
        }
    }

    /// The results to clear under pressure: superseded ones first where decisions are made by price.
    fn under_pressure(&self, window: &WindowStatus, policy: EconomyPolicy) -> Vec<usize> {
        let sizes: Vec<u64> = self.view.results().map(|result| result.freed).collect();
        let subjects: Vec<_> = self
            .view
            .results()
            .map(|result| self.conversation.items[result.key as usize].subject)
            .collect();
        let replaced = match policy {
            EconomyPolicy::Off => Vec::new(),
            EconomyPolicy::Clear | EconomyPolicy::Full => superseded(&subjects),
        };
        let scale = window.scale();
        let excess = sizes
            .iter()
            .sum::<u64>()
            .saturating_sub(scale.apply(PRESSURE.0));
        let removable = self.view.removable(PrefixWarmth::Hot);
        let chosen = oldest_until(&sizes, &replaced, removable, excess);
        let freed: u64 = chosen.iter().map(|index| sizes[*index]).sum();
        if freed >= scale.apply(PRESSURE.1) {
            chosen
        } else {
            Vec::new()
        }
    }

    fn clear(&mut self, request: usize, results: &[usize], reason: ActionReason, reused: &mut u64) {
        let frees = |index: &&usize| {
            let result = self.view.results().nth(**index);
            result.is_some_and(|result| result.freed > 0)
        };
        let results: &[usize] = &results.iter().filter(frees).copied().collect::<Vec<_>>();
        let Some(from) = results.first().and_then(|first| self.view.offset(*first)) else {
            return;
        };
        let from = self.view.found_before(from);
        let before = self.view.view();
        for result in results {
            let key = self.view.results().nth(*result).map(|result| result.key);
            if let Some(size) = key.and_then(|key| self.sizes.get_mut(key as usize)) {
                *size = CLEARED_RESULT;
            }
        }
        let thinking = self.conversation.thinking(request);
        if thinking == StrippedThinking::After {
            let first = self.view.results().nth(results[0]);
            let first = first.map_or(0, |result| result.key as usize);
            let items = self.conversation.items[first..]
                .iter()
                .zip(&mut self.sizes[first..]);
            for (_, size) in items.filter(|(item, _)| item.kind == ItemKind::Thinking) {
                *size = 0;
            }
        }
        self.view.clear(results, thinking);
        *reused = (*reused).min(from);
        self.run.actions.push(RunAction {
            request,
            kind: RunActionKind::Clear,
            reason,
            freed: before - self.view.view(),
            price: Usd::ZERO,
            rent: Usd::ZERO,
            waived: Usd::ZERO,
        });
    }

    /// Bills a request for a summary of the view.
    fn pay_for_summary(&mut self, request: usize, warmth: PrefixWarmth) {
        let rates = self.conversation.rates(request, self.view.view());
        let output = SummaryForecast::FIRST_OUTPUT;
        let read = self.view.sent_view();
        self.run.summaries += action_price::notes_run(&rates, warmth, read, output);
    }

    /// Makes a summary that a request waits for.
    fn summarize_now(
        &mut self,
        request: usize,
        warmth: PrefixWarmth,
        reason: ActionReason,
        reused: &mut u64,
    ) {
        let shape = self.shape(request);
        if self.shrinks(&shape) {
            self.pay_for_summary(request, warmth);
            self.replace(request, shape, warmth, reason, reused);
            self.made = None;
        }
    }

    /// Whether a summary makes the view smaller.
    fn shrinks(&self, shape: &SummaryShape) -> bool {
        self.view.sent_view().saturating_sub(shape.kept) > self.view.prefix() + shape.summary
    }

    /// Replaces everything but the newest tokens by a summary.
    fn replace(
        &mut self,
        request: usize,
        SummaryShape { cut, kept, summary }: SummaryShape,
        warmth: PrefixWarmth,
        reason: ActionReason,
        reused: &mut u64,
    ) {
        let kept_from = self.view.sent_view().saturating_sub(kept);
        let before = self.view.view();
        self.view
            .summarize(kept_from, summary, self.conversation.thinking(request));
        self.start = cut;
        self.growth = ViewGrowth::default();
        *reused = match warmth {
            PrefixWarmth::Hot => self.conversation.hot_prefix.min(*reused),
            PrefixWarmth::Cold | PrefixWarmth::Uncached => 0,
        };
        self.run.actions.push(RunAction {
            request,
            kind: RunActionKind::Summarize,
            reason,
            freed: before.saturating_sub(self.view.view()),
            price: Usd::ZERO,
            rent: Usd::ZERO,
            waived: Usd::ZERO,
        });
    }

    fn forecast(&self, request: usize) -> SummaryForecast {
        let SummaryShape { kept, summary, .. } = self.shape(request);
        SummaryForecast {
            output: SummaryForecast::FIRST_OUTPUT,
            view_after: self.view.prefix() + summary + kept,
        }
    }

    /// The view after a summary as it is usually, whatever the newest entries are.
    fn usual_view_after(&self, request: usize) -> u64 {
        let scale = self.conversation.requests[request].window.scale();
        let sent = self.conversation.requests[request].items_end;
        let prompts = self.prompts[sent].min(scale.apply(VERBATIM_PROMPTS));
        let summary = SummaryForecast::FIRST_OUTPUT + SummaryForecast::BESIDE + prompts;
        self.view.prefix() + summary + scale.apply(VERBATIM_TOKENS)
    }

    /// What a summary before a request keeps of what was sent.
    fn shape(&self, request: usize) -> SummaryShape {
        let scale = self.conversation.requests[request].window.scale();
        let (mut cut, mut kept) = (self.conversation.added(request).start, 0);
        while cut > self.start && kept < scale.apply(VERBATIM_TOKENS) {
            cut -= 1;
            kept += self.sizes[cut];
        }
        let prompts = self.prompts[cut].min(scale.apply(VERBATIM_PROMPTS));
        SummaryShape {
            cut,
            kept,
            summary: SummaryForecast::FIRST_OUTPUT + SummaryForecast::BESIDE + prompts,
        }
    }
}

/// A summary that was decided before the last request, by its price and rent.
struct MadeSummary {
    price: Usd,
    rent: Usd,
}

/// What a summary leaves.
struct SummaryShape {
    /// The first item that it keeps.
    cut: usize,
    /// The tokens that it keeps.
    kept: u64,
    /// The tokens of the summary itself, with the user's messages.
    summary: u64,
}

/// The tokens of the user's messages before each item of a conversation.
pub(super) fn prompts_before(conversation: &PricedConversation) -> Vec<u64> {
    let sizes = conversation.items.iter().map(|item| match item.kind {
        ItemKind::Prompt => item.tokens,
        _ => 0,
    });
    let mut total = 0;
    let sums = sizes.map(|size| {
        total += size;
        total
    });
    std::iter::once(0).chain(sums).collect()
}
