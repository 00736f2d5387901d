//! What the entries of a view have cost since they could have been removed (V2).
//!
//! [`ConversationRent`] follows a view by sizes: what is added, what is sent, what leaves. The rent of a result is its
//! size times the requests since it could first have been removed, so nothing is added up per request and result; it
//! leaves with the result. The rent of a summary is what the view held beyond the view that a summary would leave, over
//! the requests since the last boundary, less the rent of what was cleared since. Both are kept as counts and are
//! priced when a decision is made.
//!
//! The state is a pure function of the parts and requests that it was given, so a host that stores nothing rebuilds it
//! from a history (V9).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::removable::removable;
use super::{PrefixWarmth, RequestCounts, SentTokens, TokenRates};
use crate::money::Usd;

/// The cache is found at the ends of this many of the newest requests, also where it has one lasting entry: an entry lives
/// for minutes after its last use, and an agent's requests follow each other within seconds.
const FINDABLE_REQUESTS: usize = 8;

/// A part of a conversation that is added to the view, by its size in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewPart {
    /// Anything that only a summary removes.
    Text(u64),
    /// Something that the user wrote.
    Prompt(u64),
    /// Thinking of the model.
    Thinking(u64),
    /// A result that may be cleared.
    Result {
        /// The host's name for it.
        key: u64,
        /// Its size.
        tokens: u64,
        /// What clearing it frees: a marker stays in its place.
        freed: u64,
    },
}

/// A result in the view that may be cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RentedResult {
    /// The host's name for it.
    pub key: u64,
    /// What clearing it frees, in tokens.
    pub freed: u64,
    /// The tokens of the view before it.
    pub(super) offset: u64,
    /// The requests before it came into the view, or before the last boundary.
    arrived: RequestCounts,
    /// The requests before it could first be removed. This is set once it could.
    offered: RequestCounts,
    /// What stayed after it at that time.
    pub(super) first_kept: u64,
}

/// Thinking in the view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PlacedThinking {
    pub(super) offset: u64,
    pub(super) tokens: u64,
}

/// The sizes of a view and what they have cost.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ConversationRent {
    prefix: u64,
    /// Where the part ends that was sent.
    sent: u64,
    /// Where the view ends.
    end: u64,
    requests: RequestCounts,
    results: VecDeque<RentedResult>,
    /// How many of the newest results were not sent yet.
    unsent: usize,
    /// How many of the oldest results could have been removed already.
    offered: usize,
    thinking: VecDeque<PlacedThinking>,
    /// Where the last prompt of the user begins.
    prompt_at: u64,
    /// What the view held beyond the view after a summary, over all requests since the last boundary.
    held: SentTokens,
    /// Where the provider's cache has its only entry before what may be removed, if it is not found at any place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cached_to: Option<u64>,
    /// Where the newest requests ended, oldest first: the provider's cache still has entries there.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    ends: VecDeque<u64>,
    /// The newest tokens that stay word for word, whatever they cost.
    #[serde(default)]
    verbatim: u64,
}

impl ConversationRent {
    /// Creates an empty view after a request prefix of this many tokens.
    pub fn new(prefix: u64) -> Self {
        Self {
            prefix,
            sent: prefix,
            end: prefix,
            ..Self::default()
        }
    }

    /// Notes that the provider's cache has one lasting entry, at this offset: it is found there, and where one of the latest
    /// requests ended. Without this, a cache is found at any place.
    pub fn cached_to(&mut self, offset: u64) {
        self.cached_to = Some(offset);
    }

    /// Where the provider's cache has its only entry, if it is not found at any place.
    pub(crate) fn cache_end(&self) -> Option<u64> {
        self.cached_to
    }

    /// Where the cache ends if something is removed from this offset on.
    pub(crate) fn found_before(&self, offset: u64) -> u64 {
        let Some(kept) = self.cached_to else {
            return offset;
        };
        match self.recent_end(offset) {
            Some(end) => end.max(if kept <= offset { kept } else { 0 }),
            None if kept <= offset => kept,
            // The only entry holds what is removed.
            None => self.prefix.min(offset),
        }
    }

    /// Where the newest of the latest requests ended that sent nothing from this offset on.
    fn recent_end(&self, offset: u64) -> Option<u64> {
        let before = self.ends.partition_point(|end| *end <= offset);
        self.ends.get(before.checked_sub(1)?).copied()
    }

    /// Whether one of the latest requests ended before this active result, so that the cache is found there.
    pub fn is_found_before(&self, result: usize) -> bool {
        let offset = self.offset(result);
        offset.is_some_and(|offset| self.recent_end(offset).is_some())
    }

    /// Leaves this many of the newest tokens word for word (V5): no result in them can be removed.
    #[must_use]
    pub fn leaving(mut self, newest: u64) -> Self {
        self.verbatim = newest;
        self
    }

    /// Corrects the size of the request prefix, which is known exactly once a reply has measured it.
    pub(crate) fn resize_prefix(&mut self, prefix: u64) {
        let before = std::mem::replace(&mut self.prefix, prefix);
        let moved = |place: &mut u64| *place = place.saturating_add(prefix).saturating_sub(before);
        self.results
            .iter_mut()
            .for_each(|result| moved(&mut result.offset));
        self.thinking
            .iter_mut()
            .for_each(|thinking| moved(&mut thinking.offset));
        let places = [&mut self.prompt_at, &mut self.sent, &mut self.end];
        places
            .into_iter()
            .chain(&mut self.cached_to)
            .chain(&mut self.ends)
            .for_each(moved);
    }

    /// Adds a part at the end of the view.
    pub fn push(&mut self, part: ViewPart) {
        match part {
            ViewPart::Text(tokens) => self.end += tokens,
            ViewPart::Prompt(tokens) => {
                self.prompt_at = self.end;
                self.end += tokens;
            }
            ViewPart::Thinking(tokens) => {
                self.thinking.push_back(PlacedThinking {
                    offset: self.end,
                    tokens,
                });
                self.end += tokens;
            }
            ViewPart::Result { key, tokens, freed } => {
                self.results.push_back(RentedResult {
                    key,
                    freed: freed.min(tokens),
                    offset: self.end,
                    arrived: self.requests,
                    offered: self.requests,
                    first_kept: 0,
                });
                self.unsent += 1;
                self.end += tokens;
            }
        }
    }

    /// Notes which results can be removed from now on. The rule calls it before each request, and whoever follows a
    /// history calls it before a clearing.
    pub(crate) fn offer(&mut self) {
        let removable = self.removable(PrefixWarmth::Hot);
        if removable <= self.offered {
            return;
        }
        let mut removed = 0;
        let offsets = self.results.range(self.offered..removable).rev();
        let found: Vec<u64> = offsets
            .map(|result| self.found_before(result.offset))
            .collect();
        let newly = self.results.range_mut(self.offered..removable).rev();
        for (result, found) in newly.zip(found) {
            removed += result.freed;
            result.offered = self.requests;
            result.first_kept = self.sent.saturating_sub(found + removed);
        }
        self.offered = removable;
    }

    /// Notes that a request with this view was sent, and how it billed what had been sent before. `after_summary` is
    /// the expected size of the view after a summary.
    pub fn sent(&mut self, warmth: PrefixWarmth, after_summary: u64) {
        let mut request = RequestCounts::default();
        request.count(warmth);
        self.requests.count(warmth);
        self.held += request.of(self.end.saturating_sub(after_summary));
        self.sent = self.end;
        self.unsent = 0;
        if warmth == PrefixWarmth::Cold {
            self.ends.clear();
        }
        self.ends.push_back(self.end);
        if self.ends.len() > FINDABLE_REQUESTS {
            self.ends.pop_front();
        }
    }

    /// Notes that a request with this view was sent in the past: what could be removed before it, and how it billed what
    /// had been sent before. This is how a history is followed in which the decisions are made already.
    pub(crate) fn was_sent(&mut self, warmth: PrefixWarmth, after_summary: u64) {
        self.offer();
        self.sent(warmth, after_summary);
    }

    /// Notes that the view begins with a new summary from here on: the rent of the next one starts again.
    pub(crate) fn was_summarized(&mut self) {
        for result in &mut self.results {
            result.arrived = self.requests;
        }
        self.held = SentTokens::default();
    }

    /// Removes these active results, given in ascending order, and the thinking that leaves with them.
    pub fn clear(&mut self, results: &[usize], thinking: StrippedThinking) {
        let Some(first) = results.first().and_then(|first| self.results.get(*first)) else {
            return;
        };
        let from = first.offset;
        let mut gone: Vec<(u64, u64)> = Vec::with_capacity(results.len());
        for index in results {
            if let Some(result) = self.results.get(*index) {
                gone.push((result.offset, result.freed));
                let since = result.offered.later(result.arrived);
                let held = (self.requests - since).of(result.freed);
                self.held = self.held - held;
            }
        }
        let mut next = results.iter().peekable();
        let mut index = 0;
        self.results.retain(|_| {
            let stays = next.next_if(|gone| **gone == index).is_none();
            index += 1;
            stays
        });
        let offered = results.iter().filter(|index| **index < self.offered);
        self.offered -= offered.count();
        self.unsent = self.unsent.min(self.results.len());
        let stripped_from = match thinking {
            StrippedThinking::None => u64::MAX,
            StrippedThinking::After => from,
            StrippedThinking::All => 0,
        };
        gone.extend(self.take_thinking(stripped_from));
        gone.sort_unstable();
        self.close_gaps(&gone);
    }

    /// Replaces everything between the request prefix and `kept_from` by a summary of this many tokens.
    pub fn summarize(&mut self, kept_from: u64, summary: u64, thinking: StrippedThinking) {
        let dropped = self
            .results
            .partition_point(|result| result.offset < kept_from);
        self.results.drain(..dropped);
        self.offered = self.offered.saturating_sub(dropped);
        self.unsent = self.unsent.min(self.results.len());
        let thoughts = self
            .thinking
            .partition_point(|thinking| thinking.offset < kept_from);
        self.thinking.drain(..thoughts);
        if thinking != StrippedThinking::None {
            let gone: Vec<(u64, u64)> = self.take_thinking(kept_from).collect();
            self.close_gaps(&gone);
        }
        let start = self.prefix + summary;
        let moved = |offset: u64| start + offset.saturating_sub(kept_from);
        for result in &mut self.results {
            result.offset = moved(result.offset);
        }
        for thinking in &mut self.thinking {
            thinking.offset = moved(thinking.offset);
        }
        self.prompt_at = moved(self.prompt_at);
        self.sent = moved(self.sent);
        self.end = moved(self.end);
        self.cached_to = None;
        self.ends.clear();
        self.was_summarized();
    }

    /// Takes the thinking from an offset on, as places and sizes.
    fn take_thinking(&mut self, from: u64) -> impl Iterator<Item = (u64, u64)> + use<> {
        let first = self
            .thinking
            .partition_point(|thinking| thinking.offset < from);
        let taken = self.thinking.split_off(first);
        taken
            .into_iter()
            .map(|thinking| (thinking.offset, thinking.tokens))
    }

    /// Moves everything forward over these gaps, which are ordered by their places.
    fn close_gaps(&mut self, gaps: &[(u64, u64)]) {
        let shift = |passed: &mut (usize, u64), offset: u64| {
            while let Some((_, size)) = gaps.get(passed.0).filter(|(at, _)| *at < offset) {
                passed.0 += 1;
                passed.1 += size;
            }
            offset.saturating_sub(passed.1)
        };
        let mut passed = (0, 0);
        for result in &mut self.results {
            result.offset = shift(&mut passed, result.offset);
        }
        let mut passed = (0, 0);
        for thinking in &mut self.thinking {
            thinking.offset = shift(&mut passed, thinking.offset);
        }
        // What the cache has after the first gap is of no use any more.
        let first = gaps.first().map_or(u64::MAX, |(at, _)| *at);
        self.ends.retain(|end| *end <= first);
        let places = [&mut self.prompt_at, &mut self.sent, &mut self.end];
        for place in places.into_iter().chain(&mut self.cached_to) {
            *place = shift(&mut (0, 0), *place);
        }
    }

    /// The tokens of the view, with the request prefix and what was not sent yet.
    pub fn view(&self) -> u64 {
        self.end
    }

    /// The tokens of the view that were sent.
    pub(crate) fn sent_view(&self) -> u64 {
        self.sent
    }

    /// The tokens of the request prefix.
    pub fn prefix(&self) -> u64 {
        self.prefix
    }

    /// The active results, oldest first.
    pub fn results(&self) -> impl DoubleEndedIterator<Item = &RentedResult> + ExactSizeIterator {
        self.results.iter()
    }

    /// The tokens of the view before an active result.
    pub fn offset(&self, result: usize) -> Option<u64> {
        self.results.get(result).map(|result| result.offset)
    }

    /// How many of the oldest active results may go now.
    pub fn removable(&self, warmth: PrefixWarmth) -> usize {
        let old = self.end.saturating_sub(self.verbatim);
        let is_old = |result: &RentedResult| result.offset + result.freed <= old;
        let old = self.results.partition_point(is_old);
        removable(self.results.len(), self.unsent, warmth).min(old)
    }

    /// What sending a result again has cost since it could first have been removed.
    pub fn rent(&self, result: &RentedResult, rates: &TokenRates) -> Usd {
        (self.requests - result.offered).cost(rates, result.freed)
    }

    /// What the view has cost beyond the view after a summary, since the last boundary.
    pub(crate) fn summary_rent(&self, rates: &TokenRates) -> Usd {
        self.held.cost(rates)
    }

    /// The thinking in the view, oldest first.
    pub(super) fn thinking(&self) -> impl DoubleEndedIterator<Item = &PlacedThinking> {
        self.thinking.iter()
    }

    /// Where the last prompt of the user begins.
    pub(super) fn prompt_at(&self) -> u64 {
        self.prompt_at
    }
}

/// Whether thinking leaves with what is removed before it, because the model binds it to its exact prefix (N2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StrippedThinking {
    /// Thinking stays: it is not bound, or the provider clears on its side.
    #[default]
    None,
    /// All thinking after the first removed block leaves.
    After,
    /// All thinking in the view leaves, because the host names one entry up to which none is sent. So the conversation
    /// is sent anew from the first thinking on, if that comes before the first removed block.
    All,
}
