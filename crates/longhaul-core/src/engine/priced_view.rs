//! The live view by its sizes, and what sending it has cost (V2).
//!
//! Each entry is counted once, when it joins the view. How a request billed what had been sent before comes from the
//! usage of its reply. So this is a pure function of the view's entries: a session that is resumed from its file decides
//! as if it had never ended. `economy.rs` makes the decisions.

use std::ops::Range;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::economy::{
    HistoryRent, PrefixWarmth, ResultSubject, StrippedThinking, SummaryForecast, ViewGrowth,
    ViewPart, freed_by_clearing, subject, superseded,
};
use crate::hash::{Map, Set};
use crate::message::{BlockKind, EntryBlock, EntryView, Id, Sent, Subtype, Usage};
use crate::micro::ClearableTools;
use crate::models::Tokenizer;
use crate::tokens::calibrated::{CalibratedLedger, EntryTokens, UnscaledTokens};
use crate::tokens::{EntryStanding, LedgerMeasurement};
use crate::window::WindowScale;

/// What a view is priced with besides its entries.
#[derive(Debug, Clone, Copy)]
pub(super) struct PricedViewTerms {
    /// The estimated size of the request prefix, until a reply has measured it.
    pub(super) prefix: u64,
    pub(super) scale: WindowScale,
    pub(super) tokenizer: Tokenizer,
    /// The thinking that leaves with cleared results.
    pub(super) thinking: StrippedThinking,
    pub(super) entries: CacheEntryPlaces,
}

/// Where the provider's cache has entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CacheEntryPlaces {
    /// At every place: it needs no breakpoints.
    Everywhere,
    /// Where requests had breakpoints. One stays before what the next clearing is expected to remove
    /// (`prompt/breakpoints.rs`).
    AtBreakpoints,
}

/// The live view by its sizes.
#[derive(Debug)]
pub(super) struct PricedView {
    terms: PricedViewTerms,
    rent: HistoryRent,
    /// Learns how the provider counts.
    ledger: CalibratedLedger,
    /// Everything that `rent` was told. It is told again without cache edits when these have ended.
    log: Vec<SizedStep>,
    /// The call of each result, by its key.
    calls: Vec<Id>,
    /// The calls whose results are dropped from the cache by reference.
    edits: Set<Id>,
    /// What each result of the view is about, in order.
    subjects: Vec<(Id, Option<ResultSubject>)>,
    /// The calls without a result.
    open: Map<Id, OpenCall>,
    tools: ClearableTools,
    /// Whether a reply has measured the request prefix.
    is_measured: bool,
    /// Whether the view begins with a summary.
    is_compacted: bool,
    /// Whether the newest entry was kept through a compaction.
    in_preserved: bool,
    /// The message of the newest reply: its lines belong to one request.
    message: Option<Id>,
    /// How many tokens the next request could read from the cache, if that is still there.
    reusable: u64,
    /// How the newest request billed what had been sent before.
    billed: PrefixWarmth,
    /// The time of the newest input.
    asked: Option<Timestamp>,
    /// When the newest request was sent: with the newest input before its reply. That follows from the entries, so that
    /// a resumed session judges the cache as before.
    started: Option<Timestamp>,
    /// Whether results were cleared since the newest request.
    is_changed: bool,
    outputs: SummaryOutputs,
    growth: ViewGrowth,
}

/// A call whose result has not come yet.
#[derive(Debug)]
struct OpenCall {
    about: Option<ResultSubject>,
    is_clearable: bool,
}

/// A step in the course of a view.
#[derive(Debug, Clone)]
enum SizedStep {
    Prefix(u64),
    Added(ViewPart),
    Sent(PrefixWarmth),
    AfterSummary(u64),
    Summarized,
    Cleared(Vec<Id>),
    CacheEdits(Vec<Id>),
}

impl PricedView {
    pub(super) fn new(terms: PricedViewTerms, tools: ClearableTools) -> Self {
        Self {
            terms,
            rent: empty(&terms),
            ledger: CalibratedLedger::new(terms.tokenizer),
            log: Vec::new(),
            calls: Vec::new(),
            edits: Set::default(),
            subjects: Vec::new(),
            open: Map::default(),
            tools,
            is_measured: false,
            is_compacted: false,
            in_preserved: false,
            message: None,
            reusable: 0,
            billed: PrefixWarmth::default(),
            asked: None,
            started: None,
            is_changed: false,
            outputs: SummaryOutputs::default(),
            growth: ViewGrowth::default(),
        }
    }

    /// Adds an entry.
    pub(super) fn push(&mut self, entry: EntryView<'_>, standing: EntryStanding) {
        match entry.sent() {
            Some(sent) => self.push_sent(entry, sent, standing),
            None => match entry.facets.subtype {
                Subtype::CompactBoundary => {
                    self.is_compacted = true;
                    self.outputs = SummaryOutputs::of_boundary(entry);
                    if let Some(mean) = self.outputs.mean() {
                        self.rent.expect_output(mean);
                    }
                }
                Subtype::MicrocompactBoundary => {
                    match standing {
                        EntryStanding::Live => self.push_clearing(entry),
                        // Cache edits before the compaction are over, and name no cleared results.
                        EntryStanding::Preserved => self.step(SizedStep::Cleared(entry.cleared())),
                    }
                    self.ledger.entry(entry, standing);
                }
                _ => {}
            },
        }
    }

    fn push_sent(&mut self, entry: EntryView<'_>, sent: Sent, standing: EntryStanding) {
        if self.in_preserved && standing == EntryStanding::Live {
            self.step(SizedStep::Summarized);
        }
        self.in_preserved = standing == EntryStanding::Preserved;
        let usage = entry.facets.usage.as_deref();
        let usage = usage.filter(|_| standing == EntryStanding::Live);
        let is_new = entry.message_id().is_none() || entry.message_id() != self.message;
        if sent != Sent::Reply {
            self.asked = entry.timestamp().or(self.asked);
        } else if is_new {
            self.push_request(usage, standing);
            self.message = entry.message_id();
        }
        let mut parts: Vec<(Option<usize>, UnscaledTokens)> = Vec::new();
        let tokens = EntryTokens::each(entry, |block, tokens| parts.push((block, tokens)));
        self.ledger.counted(entry, &tokens, standing);
        for (block, tokens) in parts {
            let block = block.and_then(|at| entry.facets.blocks.get(at));
            let tokens = self.ledger.counter().scaled(tokens).tokens;
            self.growth.added(tokens);
            let part = self.part(entry, sent, block, tokens);
            self.step(SizedStep::Added(part));
        }
    }

    /// Notes the request that a reply answers.
    fn push_request(&mut self, usage: Option<&Usage>, standing: EntryStanding) {
        let prompt = usage.map_or(0, |usage| LedgerMeasurement::of(usage).prompt.tokens());
        if prompt > 0 && !self.is_measured {
            self.is_measured = true;
            let view = self.rent.view();
            let messages = view.view().saturating_sub(view.prefix());
            self.step(SizedStep::Prefix(prompt.saturating_sub(messages)));
            if self.is_compacted {
                self.step(SizedStep::AfterSummary(prompt));
            }
        }
        let usage = usage.filter(|_| prompt > 0);
        let billed = usage.map_or(PrefixWarmth::Hot, |usage| self.billing(usage));
        self.step(SizedStep::Sent(billed));
        self.reusable = self.rent.view().sent_view();
        if standing == EntryStanding::Live {
            self.growth.requested();
            self.is_changed = false;
            self.billed = billed;
            self.started = self.asked.or(self.started);
        }
    }

    /// How a request billed what had been sent before.
    fn billing(&self, usage: &Usage) -> PrefixWarmth {
        let written = usage.cache_write_5m + usage.cache_write_1h;
        if usage.cache_read == 0 && written == 0 {
            PrefixWarmth::Uncached
        } else if usage.cache_read.saturating_mul(2) < self.reusable {
            PrefixWarmth::Cold
        } else {
            PrefixWarmth::Hot
        }
    }

    fn part(
        &mut self,
        entry: EntryView<'_>,
        sent: Sent,
        block: Option<&EntryBlock>,
        tokens: u64,
    ) -> ViewPart {
        let flags = entry.facets.flags;
        let id = block.and_then(|block| entry.block_id(block));
        match (block.map(|block| block.kind), id) {
            (Some(BlockKind::ToolUse), Some(id)) => {
                let about = block.and_then(|block| subject(entry, block));
                let tool = block.map(|block| entry.text(block.name));
                let is_clearable = tool.is_some_and(|tool| self.tools.contains(&tool));
                let call = OpenCall {
                    about,
                    is_clearable,
                };
                self.open.insert(id, call);
                ViewPart::Text(tokens)
            }
            (Some(BlockKind::ToolResult), Some(id)) => {
                // Only the first result of a call was sent.
                let call = self.open.remove(&id);
                let is_clearable = call.as_ref().is_some_and(|call| call.is_clearable);
                self.subjects.push((id, call.and_then(|call| call.about)));
                if !is_clearable {
                    return ViewPart::Text(tokens);
                }
                let key = self.calls.len() as u64;
                self.calls.push(id);
                ViewPart::Result {
                    key,
                    tokens,
                    freed: freed_by_clearing(tokens),
                }
            }
            (Some(kind), _) if kind.is_thinking() => ViewPart::Thinking(tokens),
            (Some(_), _) if sent == Sent::Input && !flags.meta && !flags.compact_summary => {
                ViewPart::Prompt(tokens)
            }
            _ => ViewPart::Text(tokens),
        }
    }

    fn push_clearing(&mut self, entry: EntryView<'_>) {
        let edits = entry.cache_edits();
        let edits: Option<Set<Id>> =
            edits.map(|edits| edits.iter().map(|call| Id::of(call)).collect());
        let has_ended = |edits: &Set<Id>| !self.edits.is_subset(edits);
        if edits.as_ref().is_none_or(has_ended) && !self.edits.is_empty() {
            self.end_cache_edits();
        }
        match edits {
            Some(edits) => {
                let new = edits.difference(&self.edits).copied().collect();
                self.step(SizedStep::CacheEdits(new));
                self.edits = edits;
            }
            None => {
                let first = self.active(&entry.cleared()).first().copied();
                let first = first.and_then(|first| self.rent.view().offset(first));
                self.reusable = first.unwrap_or(self.reusable).min(self.reusable);
                self.step(SizedStep::Cleared(entry.cleared()));
                self.is_changed = true;
            }
        }
    }

    /// Counts results again that had been dropped from the cache by reference.
    fn end_cache_edits(&mut self) {
        self.edits.clear();
        self.rent = empty(&self.terms);
        if let Some(mean) = self.outputs.mean() {
            self.rent.expect_output(mean);
        }
        let mut log = std::mem::take(&mut self.log);
        log.retain(|step| !matches!(step, SizedStep::CacheEdits(_)));
        for step in log {
            self.step(step);
        }
    }

    fn step(&mut self, step: SizedStep) {
        match &step {
            SizedStep::Prefix(tokens) => self.rent.resize_prefix(*tokens),
            SizedStep::Added(part) => {
                self.expect_cut(part);
                self.rent.push(*part);
            }
            SizedStep::Sent(billed) => self.rent.begin_billed_reply(*billed),
            SizedStep::AfterSummary(view) => self.rent.measured_after_summary(*view),
            SizedStep::Summarized => self.rent.was_summarized(),
            SizedStep::Cleared(calls) => {
                let results = self.active(calls);
                self.rent.clear(&results, self.terms.thinking);
                // From now on, requests have a breakpoint before the first result after the cleared ones.
                if let Some(last) = results.last() {
                    let next = self.rent.view().offset(last + 1 - results.len());
                    self.cached_to(next.unwrap_or(self.rent.so_far()));
                }
            }
            SizedStep::CacheEdits(calls) => {
                let results = self.active(calls);
                self.rent.clear(&results, StrippedThinking::None);
            }
        }
        self.log.push(step);
    }

    /// Requests have a breakpoint before the first result or thinking of a view, until results are cleared.
    fn expect_cut(&mut self, part: &ViewPart) {
        let may_leave = matches!(part, ViewPart::Result { .. } | ViewPart::Thinking(_));
        if may_leave && self.rent.view().cache_end().is_none() {
            self.cached_to(self.rent.so_far());
        }
    }

    fn cached_to(&mut self, offset: u64) {
        if self.terms.entries == CacheEntryPlaces::AtBreakpoints {
            self.rent.cached_to(offset);
        }
    }

    /// The active results of these calls, by their places.
    fn active(&self, calls: &[Id]) -> Vec<usize> {
        let calls: Set<Id> = calls.iter().copied().collect();
        let keys = self.rent.view().results().map(|result| result.key);
        let places = keys.enumerate().filter(|(_, key)| {
            let call = self.calls.get(*key as usize);
            call.is_some_and(|call| calls.contains(call))
        });
        places.map(|(place, _)| place).collect()
    }

    /// The calls of active results whose clearing frees anything, by their places.
    pub(super) fn calls_of(&self, results: Range<usize>) -> Set<Id> {
        let all = self.rent.view().results();
        let keys = all.skip(results.start).take(results.len());
        let keys = keys.filter(|result| result.freed > 0);
        keys.filter_map(|result| self.calls.get(result.key as usize).copied())
            .collect()
    }

    /// Those of these calls whose results a later one has replaced (V4).
    pub(super) fn superseded(&self) -> Set<Id> {
        let subjects: Vec<Option<ResultSubject>> =
            self.subjects.iter().map(|(_, about)| *about).collect();
        let replaced = superseded(&subjects).into_iter().zip(&self.subjects);
        let replaced = replaced.filter(|(is_replaced, _)| *is_replaced);
        replaced.map(|(_, (call, _))| *call).collect()
    }

    pub(super) fn rent_mut(&mut self) -> &mut HistoryRent {
        &mut self.rent
    }

    /// The tokens of the view, with the request prefix.
    pub(super) fn tokens(&self) -> u64 {
        self.rent.view().view()
    }

    /// What a summary is expected to be.
    pub(super) fn forecast(&self) -> SummaryForecast {
        self.rent.forecast()
    }

    /// How the newest request billed what had been sent before.
    pub(super) fn billed(&self) -> PrefixWarmth {
        self.billed
    }

    /// The tokens by which the view has grown with each request; 0 while that is not known.
    pub(super) fn growth(&self) -> u64 {
        self.growth.per_request()
    }

    /// Whether results were cleared since the newest request.
    pub(super) fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// When the newest request was sent, as far as the entries tell.
    pub(super) fn started(&self) -> Option<Timestamp> {
        self.started
    }

    /// The sizes of the session's summaries.
    pub(super) fn outputs(&self) -> SummaryOutputs {
        self.outputs
    }

    /// What a clearing strips of the thinking.
    pub(super) fn thinking(&self) -> StrippedThinking {
        self.terms.thinking
    }
}

/// The sizes of a session's summaries so far: each boundary carries them, so that they survive it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct SummaryOutputs {
    count: u64,
    tokens: u64,
}

impl SummaryOutputs {
    fn of_boundary(boundary: EntryView<'_>) -> Self {
        let metadata = boundary.object(boundary.facets.metadata);
        let all = metadata
            .object("made")
            .and_then(|made| made.object("sessionSummaries"));
        let number = |key| all.and_then(|all| all.count(key)).unwrap_or(0);
        Self {
            count: number("count"),
            tokens: number("outputTokens"),
        }
    }

    /// Adds a summary whose requests wrote this much.
    #[must_use]
    pub(super) fn with(self, usage: Option<&Usage>) -> Self {
        match usage.map(|usage| usage.output).filter(|output| *output > 0) {
            Some(output) => Self {
                count: self.count.saturating_add(1),
                tokens: self.tokens.saturating_add(output),
            },
            None => self,
        }
    }

    pub(super) fn to_boundary(self) -> Option<Value> {
        (self.count > 0).then(|| json!({"count": self.count, "outputTokens": self.tokens}))
    }

    fn mean(self) -> Option<u64> {
        self.tokens.checked_div(self.count)
    }
}

fn empty(terms: &PricedViewTerms) -> HistoryRent {
    HistoryRent::new(terms.prefix, terms.scale, PrefixWarmth::Hot)
}

#[cfg(test)]
mod tests;
