//! What the messages of a history have cost since they could have been removed, from the messages alone (V9).
//!
//! A host that stores nothing about a conversation gives the messages of a request as they are sent now, by their sizes.
//! Each message of the model stands for a request that sent everything before it. So two hosts that see the same request
//! decide the same, and a conversation that is resumed from its file is decided about as if it had never ended.

use super::{
    ConversationRent, PrefixWarmth, StrippedThinking, SummaryForecast, VERBATIM_PROMPTS,
    VERBATIM_TOKENS, ViewPart,
};
use crate::window::WindowScale;

/// Follows the messages of a history.
#[derive(Debug, Clone)]
pub struct HistoryRent {
    view: ConversationRent,
    scale: WindowScale,
    /// What earlier requests paid for what had been sent before them.
    billed: PrefixWarmth,
    /// The tokens of the user's messages so far.
    prompts: u64,
    /// The tokens of the summary at the beginning, with everything that it restores.
    summary: Option<u64>,
    /// The tokens of the files that a summary would restore.
    restored: u64,
    /// What the model is expected to write.
    output: u64,
    /// How large the view was after the last summary, if that was measured.
    measured: Option<u64>,
}

impl HistoryRent {
    /// Starts after a request prefix of this many tokens. The newest tokens stay word for word, results included (V5). `billed` is [`PrefixWarmth::Uncached`] if the conversation's
    /// requests are not cached; that the cache was cold for an earlier request is not known, and then it counts as hot.
    pub fn new(prefix: u64, scale: WindowScale, billed: PrefixWarmth) -> Self {
        Self {
            view: ConversationRent::new(prefix).leaving(scale.apply(VERBATIM_TOKENS)),
            scale,
            billed,
            prompts: 0,
            summary: None,
            restored: 0,
            output: SummaryForecast::FIRST_OUTPUT,
            measured: None,
        }
    }

    /// The same history after a summary of this many tokens, with everything that it restores: the next one is expected
    /// to be no smaller.
    #[must_use]
    pub fn after_summary(mut self, tokens: u64) -> Self {
        self.view.push(ViewPart::Text(tokens));
        self.summary = (tokens > 0).then_some(tokens);
        self
    }

    /// The same history, of which a first summary would restore files of this many tokens.
    #[must_use]
    pub fn restoring(mut self, tokens: u64) -> Self {
        self.restored = tokens;
        self
    }

    /// Expects summaries of this many tokens: the mean of the session's.
    pub(crate) fn expect_output(&mut self, tokens: u64) {
        self.output = tokens;
    }

    /// Notes how large the view was after the last summary: the next one is expected to leave no less.
    pub(crate) fn measured_after_summary(&mut self, view: u64) {
        self.measured = Some(view);
    }

    /// Corrects the size of the request prefix.
    pub(crate) fn resize_prefix(&mut self, prefix: u64) {
        self.view.resize_prefix(prefix);
    }

    /// Adds a part of a message.
    pub fn push(&mut self, part: ViewPart) {
        if let ViewPart::Prompt(tokens) = part {
            self.prompts = self.prompts.saturating_add(tokens);
        }
        self.view.push(part);
    }

    /// The tokens of everything so far, with the request prefix.
    pub fn so_far(&self) -> u64 {
        self.view.view()
    }

    /// Notes that the provider's cache has no entry after this many tokens that lies before what may be removed.
    pub fn cached_to(&mut self, tokens: u64) {
        self.view.cached_to(tokens);
    }

    /// Begins a message of the model: a request sent everything before it.
    pub fn begin_reply(&mut self) {
        self.begin_billed_reply(self.billed);
    }

    /// Begins a message of the model whose usage says how the request billed what had been sent before.
    pub(crate) fn begin_billed_reply(&mut self, billed: PrefixWarmth) {
        let after = self.summary_leaves();
        self.view.was_sent(billed, after);
    }

    /// Removes these active results, given in ascending order, and the thinking that leaves with them.
    pub fn clear(&mut self, results: &[usize], thinking: StrippedThinking) {
        self.view.offer();
        self.view.clear(results, thinking);
    }

    /// Notes that the summary at the beginning of the view was made here.
    pub(crate) fn was_summarized(&mut self) {
        self.view.was_summarized();
    }

    /// What a summary is expected to be.
    pub fn forecast(&self) -> SummaryForecast {
        SummaryForecast {
            output: self.output,
            view_after: self.summary_leaves(),
        }
    }

    /// The view before the next request.
    pub fn view(&self) -> &ConversationRent {
        &self.view
    }

    /// The view before the next request, for a decision.
    pub(crate) fn view_mut(&mut self) -> &mut ConversationRent {
        &mut self.view
    }

    /// The view before the next request, for a decision.
    pub fn into_view(self) -> ConversationRent {
        self.view
    }

    /// The expected view after a summary: the request prefix, what the model writes, what stands beside it, the user's
    /// messages, and the newest tokens word for word.
    fn summary_leaves(&self) -> u64 {
        let prompts = self.prompts.min(self.scale.apply(VERBATIM_PROMPTS));
        let written = self.output + SummaryForecast::BESIDE + prompts;
        let summary = match self.summary {
            Some(summary) => summary.max(written),
            None => written + self.restored,
        };
        let usual = self.view.prefix() + summary + self.scale.apply(VERBATIM_TOKENS);
        usual.max(self.measured.unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{EconomyAction, EconomyPolicy, RuleSituation, TokenRates, decide};
    use super::*;
    use crate::models::ModelTable;
    use crate::prompt::Ttl;

    /// A history in which each reply reads one file of this many tokens.
    fn history(reads: usize, tokens: u64) -> HistoryRent {
        let scale = WindowScale::of_window(200_000);
        let mut rent = HistoryRent::new(20_000, scale, PrefixWarmth::Hot);
        rent.push(ViewPart::Prompt(50));
        for read in 0..reads {
            rent.begin_reply();
            rent.push(ViewPart::Text(80));
            rent.push(ViewPart::Result {
                key: read as u64,
                tokens,
                freed: tokens - 60,
            });
        }
        rent
    }

    fn rates() -> TokenRates {
        let spec = ModelTable::builtin().resolve("claude-sonnet-4-6").spec;
        TokenRates::of(&spec.prices.clone().unwrap(), 100_000, Ttl::FiveMinutes)
    }

    #[test]
    fn v9_the_rent_of_a_history_comes_from_its_messages_alone() {
        let rates = rates();
        let due = |reads: usize| {
            let rent = history(reads, 3_000);
            let forecast = rent.forecast();
            let situation = RuleSituation {
                policy: EconomyPolicy::Clear,
                rates: Some(&rates),
                warmth: PrefixWarmth::Hot,
                removal: Default::default(),
                thinking: Default::default(),
                summary: Some(forecast),
            };
            let once = decide(&mut rent.clone().into_view(), &situation);
            assert_eq!(once, decide(&mut rent.into_view(), &situation));
            once
        };
        assert_eq!(due(5), None, "hardly anything could have been removed yet");
        let first = (5..60).find(|reads| due(*reads).is_some());
        let first = first.expect("after many requests a clearing has paid for itself");
        let decision = due(first).unwrap();
        assert!(decision.rent >= decision.price || decision.freed > 0);
    }

    #[test]
    fn v1_where_the_cache_has_one_entry_a_clearing_costs_everything_after_it() {
        let rates = rates();
        let price = |found: Option<u64>| {
            let rent = history(60, 3_000);
            let mut view = rent.into_view();
            if let Some(found) = found {
                view.cached_to(found);
            }
            let situation = RuleSituation {
                policy: EconomyPolicy::Clear,
                rates: Some(&rates),
                warmth: PrefixWarmth::Hot,
                removal: Default::default(),
                thinking: Default::default(),
                summary: None,
            };
            let decision = decide(&mut view, &situation).expect("it pays");
            let EconomyAction::Clear(results) = decision.action else {
                panic!("a clearing");
            };
            let kept = view.sent_view() - view.prefix() - 50 - decision.freed;
            (results.start, decision.price, kept)
        };
        let (_, everywhere, _) = price(None);
        let (first, after_prefix, kept) = price(Some(20_050));
        assert!(after_prefix >= everywhere);
        assert_eq!(first, 0, "nothing is gained by removing less");
        assert_eq!(after_prefix, rates.write.of(kept) - rates.read.of(kept));
    }

    #[test]
    fn v9_a_summary_is_expected_to_leave_the_prefix_its_text_the_prompts_and_the_newest_tokens() {
        let scale = WindowScale::of_window(200_000);
        let leaves = |prompt: u64| {
            let mut rent = HistoryRent::new(20_000, scale, PrefixWarmth::Hot);
            rent.push(ViewPart::Prompt(prompt));
            rent.push(ViewPart::Text(5_000));
            rent.forecast().view_after
        };
        let text = SummaryForecast::FIRST_OUTPUT + SummaryForecast::BESIDE;
        let rest = 20_000 + text + VERBATIM_TOKENS;
        assert_eq!(leaves(50), rest + 50);
        assert_eq!(leaves(VERBATIM_PROMPTS * 2), rest + VERBATIM_PROMPTS);
    }
}
