//! The rule (V3): of the actions whose rent has reached their price, the one with the largest rent − price is done.
//!
//! Fixed adjustments make it sooner or later; replays of recorded sessions (V7) chose them. The price of clearing
//! a result grows with what follows it, and whoever waits pays for that; so most of the growth since the result could
//! first be removed is waived, which the decision records. A price that does not change is waited for in full, and acting then costs at most
//! twice the best. And while a summary is coming nearer, a clearing is done only if it is earned in half of the time that is
//! left until then. Where a threshold makes the summary, it has all of that time, and earns its part of the summary that it
//! postpones; where the threshold has other ways, whose price is not known, it has a third.

use super::action_price::{self, ClearingSizes, SummarySizes};
use super::rent::PlacedThinking;
use super::{
    ConversationRent, EconomyAction, EconomyDecision, EconomyPolicy, PrefixWarmth,
    StrippedThinking, TokenRates,
};
use crate::money::{Fraction, Usd};

/// The part of a price's growth that is waived.
const WAIVED_GROWTH: Fraction = Fraction { over: 3, under: 4 };

/// A clearing is earned in this part of the requests until a threshold is reached that may not need a summary.
const EARNED_BELOW: i128 = 3;

/// Everything besides the view that a decision depends on.
#[derive(Debug, Clone, Copy)]
pub struct RuleSituation<'a> {
    /// Which actions are decided by price.
    pub policy: EconomyPolicy,
    /// The prices; `None` if they are not known, and then nothing is decided.
    pub rates: Option<&'a TokenRates>,
    /// What the provider's cache does for the next request.
    pub warmth: PrefixWarmth,
    /// How results are removed.
    pub removal: ResultRemoval,
    /// Whether thinking leaves with what is removed before it.
    pub thinking: StrippedThinking,
    /// What a summary would be; `None` if none can be made.
    pub summary: Option<SummaryForecast>,
}

/// How results are removed from what is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResultRemoval {
    /// The conversation is sent anew from the first removed result on.
    #[default]
    NewRendering,
    /// The provider drops the results from its cache by reference (U4).
    CacheEdits,
    /// No result may be removed.
    Forbidden,
}

/// What a summary would be, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SummaryForecast {
    /// What the model writes: the mean of the session's summaries.
    pub output: u64,
    /// The expected view after it, request prefix included.
    pub view_after: u64,
}

impl SummaryForecast {
    /// The output that is expected of a session's first summary.
    pub(crate) const FIRST_OUTPUT: u64 = 4_000;

    /// What usually stands beside the model's text and the user's words: the frame, the names of files that were touched,
    /// open todos, and files that are small enough to be restored.
    pub const BESIDE: u64 = 2_000;
}

/// How long a clearing has to be earned in, where reaching a threshold removes what was cleared, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThresholdDistance {
    /// The tokens that are left until the threshold.
    pub room: u64,
    /// The tokens by which the view grows with each request.
    pub growth: u64,
    /// What the summary at the threshold would be; `None` where notes or a summary made ahead may be used instead.
    pub summary: Option<SummaryForecast>,
}

/// A summary that is weighed.
struct WeighedSummary {
    decision: EconomyDecision,
    /// Whether its rent has reached its price.
    is_due: bool,
    /// What the rent still lacks of the price.
    lacking: Usd,
    /// What the next request on a hot cache adds to the rent.
    step: Usd,
}

/// Decides what to do before the next request, if anything pays. This notes which results can be removed from now on,
/// so it is called exactly once before a request.
pub fn decide(
    rent: &mut ConversationRent,
    situation: &RuleSituation<'_>,
) -> Option<EconomyDecision> {
    decide_before(rent, situation, None)
}

/// Decides as [`decide`] does, where a threshold is at this distance.
pub fn decide_before(
    rent: &mut ConversationRent,
    situation: &RuleSituation<'_>,
    threshold: Option<ThresholdDistance>,
) -> Option<EconomyDecision> {
    rent.offer();
    let rates = situation.rates?;
    if situation.policy == EconomyPolicy::Off {
        return None;
    }
    let summary = situation
        .summary
        .filter(|_| situation.policy == EconomyPolicy::Full)
        .and_then(|forecast| weigh_summary(rent, situation, rates, forecast));
    let clearing = best_clearing(rent, situation, rates, summary.as_ref(), threshold);
    let summary = summary
        .filter(|summary| summary.is_due)
        .map(|summary| summary.decision);
    match (clearing, summary) {
        (Some(clearing), Some(summary)) if clearing.gain() >= summary.gain() => Some(clearing),
        (clearing, None) => clearing,
        (_, summary) => summary,
    }
}

/// Returns the clearing that is due and leaves the most. The candidates are the removable results from each one on.
fn best_clearing(
    view: &ConversationRent,
    situation: &RuleSituation<'_>,
    rates: &TokenRates,
    summary: Option<&WeighedSummary>,
    threshold: Option<ThresholdDistance>,
) -> Option<EconomyDecision> {
    let removable = match situation.removal {
        ResultRemoval::Forbidden => 0,
        ResultRemoval::NewRendering | ResultRemoval::CacheEdits => view.removable(situation.warmth),
    };
    let mut best: Option<EconomyDecision> = None;
    let mut rent = Usd::ZERO;
    let mut freed = 0;
    let mut stripped = stripped(view, situation);
    let first_stripped = match situation.thinking {
        StrippedThinking::All => stripped.all(),
        StrippedThinking::None | StrippedThinking::After => u64::MAX,
    };
    for (index, result) in view.results().enumerate().take(removable).rev() {
        // One that frees nothing is no place to begin.
        if result.freed == 0 {
            continue;
        }
        freed += result.freed;
        rent += view.rent(result, rates);
        stripped.back_to(result.offset);
        let stays_after = |cut: u64| {
            let gone = cut + freed + stripped.tokens;
            view.sent_view().saturating_sub(gone)
        };
        let found = view.found_before(result.offset);
        let grown = stays_after(found).saturating_sub(result.first_kept);
        let sizes = ClearingSizes {
            removed: freed + stripped.tokens,
            kept_after: stays_after(view.found_before(result.offset.min(first_stripped))),
            thinking_lost: stripped.lost,
        };
        let price = match situation.removal {
            ResultRemoval::CacheEdits => action_price::clearing_by_cache_edits(),
            ResultRemoval::NewRendering | ResultRemoval::Forbidden => {
                action_price::clearing(rates, situation.warmth, sizes)
            }
        };
        let gain = rent - price;
        // Of two that leave the same, the later cut breaks less of the cache.
        if best.as_ref().is_some_and(|best| gain <= best.gain()) {
            continue;
        }
        let is_free = price <= Usd::ZERO;
        let waived = match situation.warmth {
            PrefixWarmth::Hot if !is_free => waived_growth(rates, grown),
            _ => Usd::ZERO,
        };
        let is_due = gain + waived >= Usd::ZERO;
        let is_earned = || {
            earned_before(summary, rates, price, sizes.removed)
                && earned_below(threshold, view, rates, price, sizes.removed)
        };
        if is_free || (is_due && is_earned()) {
            let action = EconomyAction::Clear(index..removable);
            let decision = EconomyDecision::new(action, price, rent, sizes.removed, rates);
            best = Some(decision.waiving(waived));
        }
    }
    best
}

/// The part of a hot price that is waived: most of what it has grown by since the first result could be removed.
fn waived_growth(rates: &TokenRates, grown: u64) -> Usd {
    (rates.write.of(grown) - rates.read.of(grown)).times(WAIVED_GROWTH)
}

/// Whether a clearing is earned in half of the requests until the summary that is coming nearer.
fn earned_before(
    summary: Option<&WeighedSummary>,
    rates: &TokenRates,
    price: Usd,
    freed: u64,
) -> bool {
    let Some(summary) = summary else { return true };
    let lacking = summary.lacking.pico();
    let earned = rates.read.of(freed).pico().saturating_mul(lacking);
    price
        .pico()
        .saturating_mul(summary.step.pico())
        .saturating_mul(2)
        <= earned
}

/// Whether a clearing is earned in the requests until the threshold is reached, which it moves away. The summary there is
/// paid for once in as many tokens as fit between two of them, so what is freed earns its part of that, too.
fn earned_below(
    threshold: Option<ThresholdDistance>,
    view: &ConversationRent,
    rates: &TokenRates,
    price: Usd,
    freed: u64,
) -> bool {
    let Some(distance) = threshold.filter(|distance| distance.growth > 0) else {
        return true;
    };
    let requests = distance.room.saturating_add(freed) / distance.growth;
    let read = rates
        .read
        .of(freed)
        .pico()
        .saturating_mul(i128::from(requests));
    let Some(forecast) = distance.summary else {
        return price.pico().saturating_mul(EARNED_BELOW) <= read;
    };
    let full = view.view().saturating_add(distance.room);
    let between = full.saturating_sub(forecast.view_after).max(1);
    let summary = action_price::summary(
        rates,
        PrefixWarmth::Hot,
        SummarySizes {
            view: full,
            output: forecast.output,
            written: forecast.view_after.saturating_sub(view.prefix()),
            replaced: full.saturating_sub(view.prefix()),
            thinking_lost: 0,
        },
    );
    let postponed = summary.pico().saturating_mul(i128::from(freed)) / i128::from(between);
    price.pico() <= read.saturating_add(postponed)
}

/// Weighs a summary; `None` if it would not make the view smaller.
fn weigh_summary(
    view: &ConversationRent,
    situation: &RuleSituation<'_>,
    rates: &TokenRates,
    forecast: SummaryForecast,
) -> Option<WeighedSummary> {
    let freed = view.sent_view().checked_sub(forecast.view_after)?;
    if freed == 0 {
        return None;
    }
    let is_stripped = situation.thinking != StrippedThinking::None;
    let since_prompt =
        |thinking: &&PlacedThinking| is_stripped && thinking.offset >= view.prompt_at();
    let lost = view.thinking().rev().take_while(since_prompt);
    let sizes = SummarySizes {
        view: view.sent_view(),
        output: forecast.output,
        written: forecast.view_after.saturating_sub(view.prefix()),
        replaced: view.sent_view().saturating_sub(view.prefix()),
        thinking_lost: lost.map(|thinking| thinking.tokens).sum(),
    };
    let price = action_price::summary(rates, situation.warmth, sizes);
    let rent = view.summary_rent(rates);
    Some(WeighedSummary {
        decision: EconomyDecision::new(EconomyAction::Summarize, price, rent, freed, rates),
        is_due: rent >= price.max(Usd::ZERO),
        lacking: (price - rent).max(Usd::ZERO),
        step: rates.read.of(freed),
    })
}

/// The thinking after a cut, while the cut moves back.
struct StrippedSoFar<I: Iterator> {
    left: std::iter::Peekable<I>,
    prompt_at: u64,
    sent: u64,
    /// The tokens that leave and were sent.
    tokens: u64,
    /// The tokens of it that the model has to think again.
    lost: u64,
}

impl<'a, I: Iterator<Item = &'a PlacedThinking>> StrippedSoFar<I> {
    /// Counts all thinking of the view. Returns where the first of it is.
    fn all(&mut self) -> u64 {
        let mut first = u64::MAX;
        while let Some(thinking) = self.left.peek() {
            first = thinking.offset;
            self.back_to(first);
        }
        first
    }

    fn back_to(&mut self, offset: u64) {
        while let Some(thinking) = self.left.next_if(|thinking| thinking.offset >= offset) {
            if thinking.offset < self.sent {
                self.tokens += thinking.tokens;
            }
            if thinking.offset >= self.prompt_at {
                self.lost += thinking.tokens;
            }
        }
    }
}

/// The thinking that a clearing strips, none of it counted yet.
fn stripped<'a>(
    view: &'a ConversationRent,
    situation: &RuleSituation<'_>,
) -> StrippedSoFar<impl Iterator<Item = &'a PlacedThinking>> {
    let is_stripped = situation.thinking != StrippedThinking::None
        && situation.removal == ResultRemoval::NewRendering;
    let most = if is_stripped { usize::MAX } else { 0 };
    StrippedSoFar {
        left: view.thinking().rev().take(most).peekable(),
        prompt_at: view.prompt_at(),
        sent: view.sent_view(),
        tokens: 0,
        lost: 0,
    }
}
