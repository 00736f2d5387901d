//! The running count of a conversation (T1, T3): each entry is counted once, when it arrives.
//!
//! The anchor is the newest reply whose usage can be trusted. One reply may be stored as several lines with tool
//! results between them (M6): its own lines are inside what it measured, everything else after its first line is not.
//! So the ledger keeps two sums, one since the anchor's first line and one since the newest reply's, and a reply that
//! turns out to be usable takes over the second one.

use super::{ContextSize, Estimate, MeasuredTokens, RoughEstimator};
use crate::hash::{Map, Set};
use crate::message::{
    BlockKind, EntryView, Id, ReductionChange, ReductionStanding, Sent, SentForm, Subtype, Usage,
};

/// The standing of an entry in the view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryStanding {
    /// The entry is part of the conversation since the last boundary.
    Live,
    /// The entry was kept over a compaction: its usage measured a conversation that is gone, so it never anchors
    /// (ruling 2).
    Preserved,
}

/// One entry as the ledger sees it.
#[derive(Debug, Clone, Copy)]
pub enum LedgerEntry<'a> {
    /// A line of a reply.
    Reply {
        /// The reply's message id.
        message: Option<Id>,
        /// The measurement in its usage, if it has a usage.
        measured: Option<LedgerMeasurement>,
        /// The line's own weight.
        weight: Estimate,
        /// The part of this weight that the model wrote for others to read: texts and calls.
        text: Estimate,
    },
    /// A user message or attachment.
    Input {
        /// The weight of everything that is not a tool result.
        weight: Estimate,
        /// The tool results: the calls that they answer, and their weights.
        results: &'a [(Id, Estimate)],
    },
    /// The results of these calls were cleared.
    Clearing(&'a [Id]),
    /// From now on the provider drops the results of these calls from its cache, and no others (U4).
    CacheEdits(&'a [Id]),
}

/// The measurement in the usage of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LedgerMeasurement {
    /// Everything before the reply.
    pub prompt: MeasuredTokens,
    /// The reply itself.
    pub output: MeasuredTokens,
}

impl LedgerMeasurement {
    /// Reads the measurement from a usage.
    pub fn of(usage: &Usage) -> Self {
        let output = usage.context_output();
        Self {
            prompt: MeasuredTokens::new(usage.context().saturating_sub(output)),
            output: MeasuredTokens::new(output),
        }
    }

    /// The tokens in the window when the reply ended.
    fn total(self) -> u64 {
        self.prompt.tokens() + self.output.tokens()
    }

    /// Whether the recorded output is plainly only the beginning of the reply: less than half of what its own text
    /// takes. Some hosts record the count from the beginning of a stream.
    pub fn is_partial(self, text: Estimate) -> bool {
        self.output.tokens() * 2 < text.unpadded()
    }
}

#[derive(Debug, Clone, Copy)]
struct LedgerReply {
    message: Option<Id>,
    /// The weight of the reply's own lines, and the part of it for texts and calls.
    own: Estimate,
    text: Estimate,
    /// The weight of everything after the reply's first line that is not its own.
    since: Estimate,
}

#[derive(Debug, Clone, Copy)]
struct LedgerAnchor {
    reply: LedgerReply,
    measured: LedgerMeasurement,
    cleared: Estimate,
}

/// A tool result that is in the window.
#[derive(Debug, Clone, Copy)]
struct KnownResult {
    weight: Estimate,
    /// The result's position in the order of entries, which tells whether it lies before or after the anchor.
    seen: u64,
}

/// A result that the provider drops from its cache.
#[derive(Debug, Clone, Copy)]
struct EditedResult {
    result: KnownResult,
    /// The anchor at that time. A newer one has measured without the result.
    anchor_seen: Option<u64>,
}

/// Counts a conversation entry by entry. A turn costs only what it added.
///
/// ```
/// use bytes::Bytes;
/// use longhaul_core::message::Entry;
/// use longhaul_core::tokens::{EntryStanding, TokenLedger};
///
/// let lines = [
///     r#"{"type":"user","uuid":"u1","message":{"role":"user","content":"Hello"}}"#,
///     r#"{"type":"assistant","uuid":"u2","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"Hi"}],
///         "usage":{"input_tokens":1500,"output_tokens":12}}}"#,
///     r#"{"type":"user","uuid":"u3","message":{"role":"user","content":"And now forty more characters of a text"}}"#,
/// ];
/// let mut ledger = TokenLedger::new();
/// for line in lines {
///     let entry = Entry::read(Bytes::from(line))?;
///     ledger.entry(entry.view(), EntryStanding::Live);
/// }
/// let context = ledger.context();
/// assert!(context.tokens() > 1512, "what the provider measured, and an estimate of what came after it");
/// # Ok::<(), longhaul_core::message::LineDamage>(())
/// ```
#[derive(Debug, Default)]
pub struct TokenLedger {
    anchor: Option<LedgerAnchor>,
    /// When the anchor's first line arrived.
    anchor_seen: u64,
    newest: Option<(LedgerReply, u64)>,
    /// The weight of everything since the view began, which counts while there is no anchor.
    whole: Estimate,
    results: Map<Id, KnownResult>,
    /// Results that are in the conversation but not in the window.
    edited: Map<Id, EditedResult>,
    seen: u64,
    reductions: ReductionStanding,
    /// How much larger the originals of reduced results are (V8).
    growth: Map<Id, Estimate>,
}

impl TokenLedger {
    /// An empty conversation.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one more entry of a conversation. An entry that is not sent is not in the window and counts nothing.
    pub fn entry(&mut self, entry: EntryView<'_>, standing: EntryStanding) {
        let facets = entry.facets;
        let blocks = &facets.blocks;
        let own = blocks.iter().enumerate().filter(|(_, block)| !block.inner);
        let weighed =
            own.map(|(at, block)| (block, RoughEstimator.block(block, &blocks[at + 1..])));
        match entry.sent() {
            Some(Sent::Reply) => {
                let usage = facets.usage.as_deref();
                let spoken = weighed
                    .clone()
                    .filter(|(block, _)| block.kind.is_visible_output());
                let reply = LedgerEntry::Reply {
                    message: entry.message_id(),
                    measured: usage.map(LedgerMeasurement::of),
                    text: spoken.map(|(_, weight)| weight).sum(),
                    weight: weighed.map(|(_, weight)| weight).sum(),
                };
                self.push(reply, standing);
            }
            Some(sent @ (Sent::Input | Sent::Attachment)) => {
                let mut results = Vec::new();
                let mut weight = Estimate::ZERO;
                if sent == Sent::Attachment {
                    let own = RoughEstimator.attachment(facets.attachment_units);
                    match entry.uuid() {
                        // A result that can be named can be cleared (U6).
                        Some(uuid) => results.push((uuid, own)),
                        None => weight += own,
                    }
                }
                for (block, own) in weighed {
                    let is_call = matches!(block.kind, BlockKind::ToolUse | BlockKind::ToolResult);
                    match entry.block_id(block).filter(|_| is_call) {
                        Some(call) => results.push((call, own)),
                        None => weight += own,
                    }
                }
                let input = LedgerEntry::Input {
                    weight,
                    results: &results,
                };
                self.push(input, standing);
                for reduced in entry.reductions() {
                    let of_call = |at: &usize| entry.block_id(&blocks[*at]) == Some(reduced.call);
                    let Some((at, base)) = (0..blocks.len()).find(of_call).zip(reduced.base) else {
                        continue;
                    };
                    let full = RoughEstimator.original_result(entry, at);
                    let growth = full.less(RoughEstimator.block(&blocks[at], &[]));
                    self.refer(reduced.call, base, growth);
                }
            }
            None if facets.subtype == Subtype::MicrocompactBoundary => match entry.cache_edits() {
                Some(edits) => {
                    let ids: Vec<Id> = edits.iter().map(|id| Id::of(id)).collect();
                    self.push(LedgerEntry::CacheEdits(&ids), standing);
                }
                None => self.push(LedgerEntry::Clearing(&entry.cleared()), standing),
            },
            _ => {}
        }
    }

    /// Notes that a result which was just counted is sent in a smaller form that refers to another result, and how
    /// much larger its original is (V8). The original counts if the other result is not in view.
    pub(crate) fn refer(&mut self, call: Id, base: Id, growth: Estimate) {
        self.growth.insert(call, growth);
        if self.reductions.is_empty() {
            for known in self.results.keys().chain(self.edited.keys()) {
                self.reductions.whole(*known);
            }
        }
        let changes = self.reductions.reduced(call, Some(base));
        self.resize(&changes);
    }

    /// Counts results whose form changed.
    fn resize(&mut self, changes: &[ReductionChange]) {
        for change in changes {
            let growth = self.growth.get(&change.call).copied().unwrap_or_default();
            let Some(mut result) = self.results.get(&change.call).copied() else {
                continue;
            };
            match change.sent {
                SentForm::Original => {
                    result.weight += growth;
                    // No reply has measured it in this form.
                    self.input(growth);
                }
                SentForm::Reduced => {
                    result.weight = result.weight.less(growth);
                    self.whole = self.whole.less(growth);
                    let newest = self.newest.as_mut().map(|(reply, _)| reply);
                    let anchor = self.anchor.as_mut().map(|anchor| &mut anchor.reply);
                    for reply in [newest, anchor].into_iter().flatten() {
                        reply.since = reply.since.less(growth);
                    }
                }
            }
            self.results.insert(change.call, result);
        }
    }

    /// The estimate of everything in view, measured or not.
    pub fn whole(&self) -> Estimate {
        self.whole
    }

    /// Counts one more entry.
    pub fn push(&mut self, entry: LedgerEntry<'_>, standing: EntryStanding) {
        self.seen += 1;
        match entry {
            LedgerEntry::Reply {
                message,
                measured,
                weight,
                text,
            } => self.reply(
                message,
                measured.filter(|_| standing == EntryStanding::Live),
                (weight, text),
            ),
            LedgerEntry::Input { weight, results } => {
                for (id, weight) in results {
                    let result = KnownResult {
                        weight: *weight,
                        seen: self.seen,
                    };
                    self.results.insert(*id, result);
                    // Without a smaller form nothing depends on which results are in view.
                    if !self.reductions.is_empty() {
                        self.reductions.whole(*id);
                    }
                }
                let results = results.iter().map(|(_, weight)| *weight).sum::<Estimate>();
                self.input(weight + results);
            }
            LedgerEntry::Clearing(ids) => self.clear(ids),
            // Edits hold for one rendering, so those of a conversation that is gone no longer hold.
            LedgerEntry::CacheEdits(_) if standing == EntryStanding::Preserved => {}
            LedgerEntry::CacheEdits(ids) => self.edit(ids),
        }
    }

    /// The size of the context now.
    pub fn context(&self) -> ContextSize {
        match &self.anchor {
            // The reply is estimated if only a part of it was recorded (ruling 21).
            Some(anchor) if anchor.measured.is_partial(anchor.reply.text) => ContextSize {
                measured: anchor.measured.prompt,
                added: anchor.reply.since + anchor.reply.own,
                cleared: anchor.cleared,
            },
            Some(anchor) => ContextSize {
                measured: MeasuredTokens::new(anchor.measured.total()),
                added: anchor.reply.since,
                cleared: anchor.cleared,
            },
            None => ContextSize {
                added: self.whole,
                ..ContextSize::default()
            },
        }
    }

    /// The estimate for a result that is in the window, kept since it arrived (T3).
    pub fn result(&self, call: Id) -> Option<Estimate> {
        self.results.get(&call).map(|result| result.weight)
    }

    /// Returns the message and the measurement that the count is based on, if there is one.
    pub fn anchor(&self) -> Option<(Option<Id>, MeasuredTokens)> {
        self.anchor.as_ref().map(|anchor| {
            (
                anchor.reply.message,
                MeasuredTokens::new(anchor.measured.total()),
            )
        })
    }

    fn reply(
        &mut self,
        message: Option<Id>,
        measured: Option<LedgerMeasurement>,
        (weight, text): (Estimate, Estimate),
    ) {
        let same = |reply: &LedgerReply| message.is_some() && reply.message == message;
        let of_newest = self.newest.as_ref().is_some_and(|(reply, _)| same(reply));
        let of_anchor = self
            .anchor
            .as_ref()
            .is_some_and(|anchor| same(&anchor.reply));
        // The line is inside what its own reply measured, but new to any other reply.
        self.whole += weight;
        if !of_newest && let Some((reply, _)) = &mut self.newest {
            reply.since += weight;
        }
        if !of_anchor && let Some(anchor) = &mut self.anchor {
            anchor.reply.since += weight;
        }
        // A late line of the anchor's reply, after a newer reply, does not make it the newest again.
        if !of_newest && !of_anchor {
            let reply = LedgerReply {
                message,
                own: weight,
                text,
                since: Estimate::ZERO,
            };
            self.newest = Some((reply, self.seen));
        }
        let newest = self.newest.as_mut().map(|(reply, _)| reply);
        let anchor = self.anchor.as_mut().map(|anchor| &mut anchor.reply);
        let further = [newest.filter(|_| of_newest), anchor.filter(|_| of_anchor)];
        for reply in further.into_iter().flatten() {
            reply.own += weight;
            reply.text += text;
        }
        // Zero usage comes from an aborted stream and never anchors (T5).
        let Some(measured) = measured.filter(|measured| measured.total() > 0) else {
            return;
        };
        match (&mut self.anchor, self.newest) {
            // Lines of one reply may carry partial usage, so the largest counts.
            (Some(anchor), _) if of_anchor => {
                if measured.total() > anchor.measured.total() {
                    anchor.measured = measured;
                }
            }
            (anchor, Some((reply, seen))) => {
                self.anchor_seen = seen;
                *anchor = Some(LedgerAnchor {
                    reply,
                    measured,
                    cleared: Estimate::ZERO,
                });
            }
            (_, None) => {}
        }
    }

    fn input(&mut self, weight: Estimate) {
        self.whole += weight;
        if let Some((reply, _)) = &mut self.newest {
            reply.since += weight;
        }
        if let Some(anchor) = &mut self.anchor {
            anchor.reply.since += weight;
        }
    }

    /// Begins a new rendering: cleared results are gone, and results that were only dropped from the cache are sent
    /// again.
    fn clear(&mut self, ids: &[Id]) {
        for id in ids {
            // Clearing a result twice has no further effect: the result is gone from the map.
            if let Some(result) = self.results.remove(id) {
                self.take_off(result);
            }
            // The result is already off the count.
            self.edited.remove(id);
        }
        let changes = self.reductions.clear(ids);
        self.resize(&changes);
        for (id, edited) in std::mem::take(&mut self.edited) {
            self.results.insert(id, edited.result);
            if edited.anchor_seen == self.anchor_mark() {
                self.put_back(edited.result)
            } else {
                self.input(edited.result.weight)
            }
        }
    }

    fn edit(&mut self, ids: &[Id]) {
        let wanted: Set<Id> = ids.iter().copied().collect();
        let anchor_seen = self.anchor_mark();
        for id in ids {
            if let Some(result) = self.results.remove(id) {
                self.take_off(result);
                let edited = EditedResult {
                    result,
                    anchor_seen,
                };
                self.edited.insert(*id, edited);
            }
        }
        let held = std::mem::take(&mut self.edited);
        for (id, edited) in held {
            if wanted.contains(&id) {
                self.edited.insert(id, edited);
                continue;
            }
            self.results.insert(id, edited.result);
            // The reply that revealed the expired cache has measured these results: nothing could be dropped from it.
            if edited.anchor_seen == anchor_seen {
                self.put_back(edited.result)
            } else {
                self.whole += edited.result.weight
            }
        }
    }

    fn anchor_mark(&self) -> Option<u64> {
        self.anchor.as_ref().map(|_| self.anchor_seen)
    }

    fn take_off(&mut self, result: KnownResult) {
        self.whole = self.whole.less(result.weight);
        if let Some((reply, seen)) = &mut self.newest
            && result.seen > *seen
        {
            reply.since = reply.since.less(result.weight);
        }
        if let Some(anchor) = &mut self.anchor {
            if result.seen > self.anchor_seen {
                anchor.reply.since = anchor.reply.since.less(result.weight);
            } else {
                anchor.cleared += result.weight;
            }
        }
    }

    /// Puts a removed result back into the count, under the same anchor.
    fn put_back(&mut self, result: KnownResult) {
        self.whole += result.weight;
        if let Some((reply, seen)) = &mut self.newest
            && result.seen > *seen
        {
            reply.since += result.weight;
        }
        if let Some(anchor) = &mut self.anchor {
            if result.seen > self.anchor_seen {
                anchor.reply.since += result.weight;
            } else {
                anchor.cleared = anchor.cleared.less(result.weight);
            }
        }
    }
}
