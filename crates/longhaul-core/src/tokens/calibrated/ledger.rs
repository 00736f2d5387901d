//! The calibrated count of a conversation: it counts each entry once, and learns from each reply that measures what was
//! estimated before.
//!
//! Anchors, late lines, clearings and cache edits are the business of [`TokenLedger`], which is given the fixed model's
//! counts here. A reply whose recorded output is plainly only its beginning is counted by its own lines.

use super::{CalibratedCounter, CalibratedEstimate, EntryTokens, UnscaledTokens};
use crate::message::{EntryKind, EntryView, Id, Sent, Subtype};
use crate::models::Tokenizer;
use crate::tokens::{
    EntryStanding, Estimate, LedgerEntry, LedgerMeasurement, MeasuredTokens, TokenLedger,
};

/// After a compaction, what is sent besides the messages may differ from what it was by one part in this many: of eight
/// recorded compactions, seven stayed within it.
const UNSEEN: u64 = 2;

/// The size of a conversation: what was measured, and estimates of what changed since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CalibratedSize {
    /// What the newest usable reply measured; zero if there is none in view.
    pub measured: MeasuredTokens,
    /// The request prefix (system prompt, tools) as an earlier reply showed it, where nothing in view is measured.
    pub prefix: CalibratedEstimate,
    /// What came after the measurement.
    pub added: CalibratedEstimate,
    /// What was cleared after it, of what it had measured.
    pub cleared: CalibratedEstimate,
}

impl CalibratedSize {
    /// The tokens in the window, and how far this may be off.
    pub fn estimate(&self) -> CalibratedEstimate {
        let more = self.prefix + self.added;
        let tokens = self.measured.tokens().saturating_add(more.tokens);
        CalibratedEstimate {
            tokens: tokens.saturating_sub(self.cleared.tokens),
            bound: more.bound.saturating_add(self.cleared.bound),
        }
    }
}

/// Counts a conversation entry by entry. A turn costs only what it added.
#[derive(Debug, Default)]
pub struct CalibratedLedger {
    ledger: TokenLedger,
    counter: CalibratedCounter,
    prefix: CalibratedEstimate,
    /// Whether the transcript records the request prefix, and with it everything that is sent.
    record: SentRecord,
    /// The tokenizer that measured the anchor.
    anchored_by: Tokenizer,
}

impl CalibratedLedger {
    /// An empty conversation.
    pub fn new(tokenizer: Tokenizer) -> Self {
        Self {
            counter: CalibratedCounter::new(tokenizer),
            ..Self::default()
        }
    }

    /// Counts with another tokenizer from now on: the model was switched.
    pub fn use_tokenizer(&mut self, tokenizer: Tokenizer) {
        self.counter.use_tokenizer(tokenizer);
    }

    /// Begins a new view, after a compaction. What was learned is kept: the scale, and the size of the request prefix.
    pub fn begin_view(&mut self) {
        self.ledger = TokenLedger::new();
    }

    /// Counts one more entry of the view.
    pub fn entry(&mut self, entry: EntryView<'_>, standing: EntryStanding) {
        self.counted(entry, &EntryTokens::of(entry), standing);
    }

    /// Counts one more entry whose tokens are known already.
    pub fn counted(&mut self, entry: EntryView<'_>, tokens: &EntryTokens, standing: EntryStanding) {
        match entry.sent() {
            Some(Sent::Reply) => {
                let usage = entry.facets.usage.as_deref();
                let reply = CountedReply {
                    message: entry.message_id(),
                    measured: usage.map(LedgerMeasurement::of),
                };
                self.reply(reply, tokens, standing);
            }
            Some(Sent::Input | Sent::Attachment) => self.input(tokens, standing),
            None if entry.facets.kind == EntryKind::Head => self.note_prefix_entry(),
            None if entry.facets.subtype == Subtype::MicrocompactBoundary => {
                match entry.cache_edits() {
                    Some(edits) => {
                        let ids: Vec<Id> = edits.iter().map(|id| Id::of(id)).collect();
                        self.clearing(LedgerEntry::CacheEdits(&ids), standing);
                    }
                    None => self.clearing(LedgerEntry::Clearing(&entry.cleared()), standing),
                }
            }
            None => {}
        }
    }

    /// Counts a line of a reply.
    pub(crate) fn reply(
        &mut self,
        reply: CountedReply,
        tokens: &EntryTokens,
        standing: EntryStanding,
    ) {
        let anchor = self.ledger.anchor();
        let is_anchors =
            reply.message.is_some() && anchor.is_some_and(|(message, _)| message == reply.message);
        let measured = reply.measured.filter(|measured| {
            standing == EntryStanding::Live && measured.prompt.tokens() > 0 && !is_anchors
        });
        if let Some(measured) = measured {
            self.learn(measured.prompt);
        }
        let line = LedgerEntry::Reply {
            message: reply.message,
            measured: reply.measured,
            weight: as_weight(tokens.total()),
            text: as_weight(tokens.visible),
        };
        self.ledger.push(line, standing);
    }

    /// Notes that the transcript has a prefix entry: whoever writes those records everything that is sent.
    pub(crate) fn note_prefix_entry(&mut self) {
        self.record = SentRecord::Complete;
    }

    /// Counts a user message or an attachment.
    pub(crate) fn input(&mut self, tokens: &EntryTokens, standing: EntryStanding) {
        let clearable = tokens.clearable.iter();
        let results: Vec<(Id, Estimate)> = clearable
            .map(|(id, tokens)| (*id, as_weight(*tokens)))
            .collect();
        let input = LedgerEntry::Input {
            weight: as_weight(tokens.weight),
            results: &results,
        };
        self.ledger.push(input, standing);
    }

    /// Counts a record of results that were cleared or dropped from the cache.
    pub(crate) fn clearing(&mut self, clearing: LedgerEntry<'_>, standing: EntryStanding) {
        self.ledger.push(clearing, standing);
    }

    /// The size of the context now.
    pub fn size(&self) -> CalibratedSize {
        let context = self.ledger.context();
        let scaled = |weight: Estimate| self.counter.scaled(as_tokens(weight));
        CalibratedSize {
            measured: context.measured,
            prefix: match self.ledger.anchor() {
                Some(_) => CalibratedEstimate::default(),
                None => self.prefix,
            },
            added: scaled(context.added),
            cleared: scaled(context.cleared),
        }
    }

    /// The counter with what was learned, for estimates of other texts of this session.
    pub fn counter(&self) -> &CalibratedCounter {
        &self.counter
    }

    /// Compares a measured prompt with what was expected of it.
    fn learn(&mut self, prompt: MeasuredTokens) {
        let context = self.ledger.context();
        let added = as_tokens(context.added);
        let tokenizer = self.counter.tokenizer();
        if self.ledger.anchor().is_none() {
            // Whatever the messages do not explain is the request prefix.
            let messages = self.counter.scaled(added);
            let tokens = prompt.tokens().saturating_sub(messages.tokens);
            let unseen = match self.record {
                SentRecord::Complete => 0,
                SentRecord::Partial => tokens / UNSEEN,
            };
            self.prefix = CalibratedEstimate {
                tokens,
                bound: messages.bound.max(unseen).min(prompt.tokens()),
            };
        } else if context.cleared == Estimate::ZERO && self.anchored_by == tokenizer {
            let grown = prompt.tokens().saturating_sub(context.measured.tokens());
            self.counter.observe(MeasuredTokens::new(grown), added);
        }
        self.anchored_by = tokenizer;
    }
}

/// Whether a transcript holds everything that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum SentRecord {
    /// Files that a host restores after a compaction, reminders and the like may be missing.
    #[default]
    Partial,
    Complete,
}

/// What identifies and measures a line of a reply.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CountedReply {
    pub(crate) message: Option<Id>,
    pub(crate) measured: Option<LedgerMeasurement>,
}

/// The fixed model's count in the ledger's type: the ledger adds and subtracts, and never pads here.
fn as_weight(tokens: UnscaledTokens) -> Estimate {
    Estimate::new(tokens.rounded())
}

fn as_tokens(weight: Estimate) -> UnscaledTokens {
    UnscaledTokens::whole(weight.unpadded())
}
