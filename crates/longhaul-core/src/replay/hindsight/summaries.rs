//! The best boundaries: where a conversation is best cut into stretches, each begun by a summary.

use super::super::priced::PricedConversation;
use super::super::simulation::{ScriptedAction, prompts_before};
use super::clearing::{BestClearings, StretchEnd, StretchSavings};
use super::{HindsightKind, HindsightSchedule};
use crate::economy::{PrefixWarmth, SummaryForecast, VERBATIM_PROMPTS, VERBATIM_TOKENS};
use crate::money::Usd;

/// A stretch of the conversation that begins at a request.
pub(super) struct Stretch {
    /// The first item that is in its view.
    from_item: usize,
    /// The view before that item: prefix and summary.
    base: u64,
    /// The tokens before that item in the whole conversation.
    skipped: u64,
    /// What clearings save in it.
    savings: StretchSavings,
}

impl Stretch {
    /// The size of the view with a request, if nothing was cleared.
    fn view(&self, sent: u64) -> u64 {
        self.base + sent.saturating_sub(self.skipped)
    }
}

/// Finds the best schedule.
pub(super) fn best(
    conversation: &PricedConversation,
    clearing: &BestClearings,
    stretches: &[Stretch],
    kind: HindsightKind,
) -> HindsightSchedule {
    let times = clearing.times();
    if times.is_empty() {
        return HindsightSchedule::default();
    }
    // For each point in time, the least that everything costs from a summary there on, and where the next one is.
    let mut least: Vec<(i128, usize)> = vec![(0, times.len()); times.len()];
    for place in (0..times.len()).rev() {
        let mut found: Option<(i128, usize)> = None;
        each_end(
            conversation,
            clearing,
            stretches,
            kind,
            place,
            |end, cost| {
                let after = least.get(end).map_or(0, |(cost, _)| *cost);
                if found.is_none_or(|(least, _)| cost + after < least) {
                    found = Some((cost + after, end));
                }
            },
        );
        least[place] = found.unwrap_or((i128::MAX / 4, times.len()));
    }
    let mut actions = Vec::new();
    let mut place = 0;
    while place < times.len() {
        let end = least[place].1;
        let closing = closing(end, times.len());
        actions.extend(clearing.actions(&stretches[place].savings, end, closing));
        actions.extend(times.get(end).map(|time| ScriptedAction {
            request: *time,
            clear_from: None,
        }));
        place = end;
    }
    HindsightSchedule {
        prompt_side: Usd::from_pico(least[0].0),
        actions,
    }
}

fn closing(end: usize, times: usize) -> StretchEnd {
    if end < times {
        StretchEnd::Summary
    } else {
        StretchEnd::Session
    }
}

/// Tells for each point in time at which a stretch may end what the stretch costs, with the summary that ends it.
fn each_end(
    conversation: &PricedConversation,
    clearing: &BestClearings,
    stretches: &[Stretch],
    kind: HindsightKind,
    place: usize,
    mut tell: impl FnMut(usize, i128),
) {
    let times = clearing.times();
    let stretch = &stretches[place];
    let count = conversation.requests.len();
    let mut cost = first_request(conversation, clearing, stretch, times[place]);
    let mut end = place + 1;
    for request in times[place] + 1..=count {
        if times.get(end) == Some(&request) || request == count {
            let before = stretch.view(clearing.sent[request - 1]);
            let saved = clearing.saving(&stretch.savings, end, closing(end, times.len()));
            let full = request == count
                || kind == HindsightKind::Full
                || stretch.view(clearing.sent[request])
                    >= conversation.requests[request].window.auto_compact;
            if full {
                tell(
                    end,
                    cost - saved + summary(conversation, clearing, request, before),
                );
            }
            end += 1;
        }
        if request == count {
            break;
        }
        let view = stretch.view(clearing.sent[request]);
        let least = view.saturating_sub(clearing.most_freed(stretch.from_item, request));
        if least >= conversation.requests[request].window.auto_compact {
            break;
        }
        let before = stretch.view(clearing.sent[request - 1]);
        let warmth = conversation.warmth(request, view);
        let rates = conversation.rates(request, view);
        cost += (rates.sending_again(warmth, before) + rates.sending_first(warmth, view - before))
            .pico();
    }
}

/// What the first request of a stretch is billed.
fn first_request(
    conversation: &PricedConversation,
    clearing: &BestClearings,
    stretch: &Stretch,
    request: usize,
) -> i128 {
    if let Some(first) = conversation.requests[request].first {
        return first.pico();
    }
    let view = stretch.view(clearing.sent[request]);
    let warmth = conversation.warmth(request, view);
    let rates = conversation.rates(request, view);
    let reused = match warmth {
        PrefixWarmth::Hot => conversation.hot_prefix.min(view),
        PrefixWarmth::Cold | PrefixWarmth::Uncached => 0,
    };
    (rates.sending_again(warmth, reused) + rates.sending_first(warmth, view - reused)).pico()
}

/// What making a summary before a request costs; nothing at the end of the conversation.
fn summary(
    conversation: &PricedConversation,
    clearing: &BestClearings,
    request: usize,
    view: u64,
) -> i128 {
    let Some(reading) = clearing.reading.get(request) else {
        return 0;
    };
    let rates = conversation.rates(request, view);
    reading * i128::from(view) + rates.output.of(SummaryForecast::FIRST_OUTPUT).pico()
}

/// The views that a summary at each point in time would leave.
pub(super) fn stretches(
    conversation: &PricedConversation,
    clearing: &BestClearings,
) -> Vec<Stretch> {
    let prompts = prompts_before(conversation);
    let whole = Stretch {
        from_item: 0,
        base: conversation.prefix,
        skipped: 0,
        savings: clearing.stretch(0, 0, 0),
    };
    let times = clearing.times().iter().enumerate().skip(1);
    let later = times.map(|(place, time)| {
        let scale = conversation.requests[*time].window.scale();
        let (mut cut, mut kept) = (conversation.added(*time).start, 0);
        while cut > 0 && kept < scale.apply(VERBATIM_TOKENS) {
            cut -= 1;
            kept += conversation.items[cut].tokens;
        }
        let summary = SummaryForecast::FIRST_OUTPUT
            + SummaryForecast::BESIDE
            + prompts[cut].min(scale.apply(VERBATIM_PROMPTS));
        Stretch {
            from_item: cut,
            base: conversation.prefix + summary,
            skipped: clearing.sent[time - 1] - kept,
            savings: clearing.stretch(place, cut, conversation.added(*time).start),
        }
    });
    std::iter::once(whole).chain(later).collect()
}
