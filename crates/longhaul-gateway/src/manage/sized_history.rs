//! The messages of a request as they are sent, by their sizes: the summary and the markers of an earlier rewrite in the
//! place of what they replaced (V9).

use std::collections::HashSet;
use std::sync::Arc;

use longhaul_core::economy::{
    CLEARED_RESULT, ConversationRent, PrefixWarmth, RESTORED_FILE, SummaryForecast,
    VERBATIM_TOKENS, ViewGrowth, ViewPart, freed_by_clearing,
};
use longhaul_core::history::HistoryRent;
use longhaul_core::message::Id;
use longhaul_core::models::Tokenizer;
use longhaul_core::rehydrate::MOST_RESTORED_FILES;
use longhaul_core::tokens::calibrated::{
    CalibratedClass, CalibratedCounter, UnscaledTokens, blocks,
};
use longhaul_core::window::WindowScale;

use super::CompactorSettings;
use super::derived_prefix::{span_in, stripped_spans};
use super::message_sizes::{KnownSizes, MessageSizes, SizedPart};
use super::request_context::RequestContext;
use crate::body::BodyRole;

/// The breakpoint that stays is before the oldest result that frees at least so many tokens, or the largest if none does:
/// a small old one is not worth writing all that follows it again.
const ANCHORED: u64 = 1_000;

/// Whether results may be cleared by price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClearingPermission {
    Permitted,
    /// The user switched it off, or the client has the provider clear results.
    Off,
}

/// The messages of a request by their sizes.
pub(super) struct SizedHistory<'r> {
    context: &'r RequestContext,
    /// The sizes of each of the client's messages.
    messages: Vec<Arc<MessageSizes>>,
    /// The parts besides the messages, and leading system messages.
    head: UnscaledTokens,
    /// The elements of the summary.
    summary: UnscaledTokens,
    /// The first of the client's messages after the summary.
    from: usize,
}

/// The results of a view, by their place in it.
pub(super) struct PricedHistory {
    pub(super) view: ConversationRent,
    pub(super) forecast: SummaryForecast,
    /// How fast the view grows, with what was cleared since counted as it came.
    pub(super) growth: ViewGrowth,
    /// The message and the call of each result, by its key.
    pub(super) results: Vec<(usize, Id)>,
    /// The message before which the provider's cache is kept findable, if a prefix is in use.
    pub(super) anchor: Option<usize>,
}

/// Where the provider's cache is found again if a result is cleared. It has an entry wherever a request has a breakpoint,
/// but forgets those that no request uses for a few minutes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CacheEntries {
    /// At any place: nothing was cleared yet and requests follow each other, or the provider needs no breakpoints.
    Everywhere,
    /// Before the first result that may be cleared: one more breakpoint is there in each request.
    Anchored,
    /// After the request prefix alone: the client uses all breakpoints.
    RequestPrefix,
}

impl<'r> SizedHistory<'r> {
    pub(super) fn of(
        context: &'r RequestContext,
        known: &KnownSizes,
        settings: &CompactorSettings,
    ) -> Option<Self> {
        let recognized = &context.messages.recognized;
        let read = |element: &[u8]| MessageSizes::of(context.messages.dialect, element, settings);
        let messages = (0..recognized.ends.len()).map(|index| {
            let hash = *recognized.raws.get(index)?;
            Some(known.of(hash, || {
                read(&context.messages.element(index).unwrap_or_default())
            }))
        });
        let messages: Vec<Arc<MessageSizes>> = messages.collect::<Option<_>>()?;
        let base = context.outgoing.replaced.as_ref().map(|(base, _)| base);
        let root = base.and_then(|base| base.prefix.root);
        let from = recognized.first_after(root)?;
        let summary = base.map_or_else(Vec::new, |base| base.summary());
        let summary = summary.iter().map(|element| read(element).total()).sum();
        let beside = context
            .messages
            .beside()
            .map(|raw| blocks::literal(CalibratedClass::Text, raw));
        let lead = messages.iter().take(recognized.lead);
        let head = beside.into_iter().sum::<UnscaledTokens>() + lead.map(|one| one.total()).sum();
        Some(Self {
            context,
            messages,
            head,
            summary,
            from,
        })
    }

    /// The parts besides the messages, and leading system messages.
    pub(super) fn head(&self) -> UnscaledTokens {
        self.head
    }

    /// These of the client's messages.
    pub(super) fn between(&self, messages: std::ops::Range<usize>) -> UnscaledTokens {
        let all = self.messages.get(messages).unwrap_or_default();
        all.iter().map(|message| message.total()).sum()
    }

    /// The result of a call in one of the client's messages; nothing if it is not there.
    pub(super) fn result(&self, message: usize, call: &str) -> UnscaledTokens {
        let wanted = Id::of(call);
        let parts = self.messages.get(message).into_iter();
        let mut parts = parts.flat_map(|message| message.parts.iter());
        let found = parts.find_map(|part| match part {
            SizedPart::Result { call, tokens } if *call == wanted => Some(*tokens),
            _ => None,
        });
        found.unwrap_or(UnscaledTokens::ZERO)
    }

    /// The client's messages from this one on.
    pub(super) fn from(&self, first: usize) -> UnscaledTokens {
        let all = self.messages.get(first..).unwrap_or_default();
        all.iter().map(|message| message.total()).sum()
    }

    /// What is sent between the head and one of the client's messages: the summary, and the messages after it.
    pub(super) fn between_summary_and(&self, until: usize) -> UnscaledTokens {
        self.summary + self.between(self.from.min(until)..until)
    }

    /// Everything that is sent, before the scale of a provider.
    pub(super) fn unscaled_total(&self) -> u64 {
        self.total(&CalibratedCounter::new(Tokenizer::Old))
    }

    /// Everything that is sent.
    pub(super) fn total(&self, counter: &CalibratedCounter) -> u64 {
        let cleared = self.cleared();
        let mut tokens = counter.scaled(self.head + self.summary).tokens;
        for message in self.messages.iter().skip(self.from) {
            for part in &message.parts {
                tokens += match part {
                    SizedPart::Result { call, tokens } if cleared.contains(call) => {
                        counter.scaled(*tokens).tokens.min(CLEARED_RESULT)
                    }
                    SizedPart::Text(tokens)
                    | SizedPart::Prompt(tokens)
                    | SizedPart::Thinking(tokens)
                    | SizedPart::Result { tokens, .. } => counter.scaled(*tokens).tokens,
                };
            }
        }
        tokens
    }

    fn cleared(&self) -> HashSet<Id> {
        let base = self.context.outgoing.replaced.as_ref();
        let cleared = base.map_or(&[][..], |(base, _)| &base.prefix.cleared);
        cleared.iter().map(|call| Id::of(call)).collect()
    }

    /// What the messages have cost since they could have been removed.
    pub(super) fn priced(
        &self,
        counter: &CalibratedCounter,
        scale: WindowScale,
        billed: PrefixWarmth,
        clearing: ClearingPermission,
        entries: CacheEntries,
    ) -> PricedHistory {
        let tokens = |unscaled| counter.scaled(unscaled).tokens;
        let cleared = self.cleared();
        let mut rent = HistoryRent::new(tokens(self.head), scale, billed)
            .after_summary(tokens(self.summary))
            .restoring(self.restored(counter, scale));
        let stripped = self.stripped();
        let referred = self.context.referred_results();
        let mut clearable: HashSet<Id> = HashSet::new();
        let mut results = Vec::new();
        let mut anchor = None;
        if entries == CacheEntries::RequestPrefix {
            rent.cached_to(rent.so_far().min(tokens(self.head)));
        }
        let until = self.context.outgoing.replaced.as_ref();
        let until = until.map_or(0, |(_, until)| *until);
        let mut anchored_before = 0;
        let mut prefix_end = rent.so_far();
        let mut before = None;
        let mut growth = ViewGrowth::default();
        for (index, message) in self.messages.iter().enumerate() {
            clearable.extend(message.clearable.iter().copied());
            if index < self.from {
                continue;
            }
            let role = self.context.roles().get(index).copied();
            if role == Some(BodyRole::Assistant) && before != role {
                rent.begin_reply();
                growth.requested();
            }
            before = role;
            if index == until {
                prefix_end = rent.so_far();
            }
            growth.added(tokens(message.total()));
            let start = rent.so_far();
            for part in &message.parts {
                let part = match *part {
                    SizedPart::Text(unscaled) => ViewPart::Text(tokens(unscaled)),
                    SizedPart::Prompt(unscaled) => ViewPart::Prompt(tokens(unscaled)),
                    SizedPart::Thinking(_) if stripped.iter().any(|span| span.contains(&index)) => {
                        continue;
                    }
                    SizedPart::Thinking(unscaled) => ViewPart::Thinking(tokens(unscaled)),
                    SizedPart::Result { call, tokens: size } => {
                        let size = tokens(size);
                        if cleared.contains(&call) {
                            ViewPart::Text(size.min(CLEARED_RESULT))
                        } else if clearing == ClearingPermission::Permitted
                            && clearable.contains(&call)
                            && !referred.contains(&call)
                        {
                            let freed = freed_by_clearing(size);
                            let is_worth_more =
                                freed > anchored_before && anchored_before < ANCHORED;
                            if entries == CacheEntries::Anchored && is_worth_more {
                                anchored_before = freed;
                                // The breakpoint is in the part that the gateway wrote.
                                anchor = Some(index.min(until));
                                let after = if index < until { start } else { prefix_end };
                                rent.cached_to(after);
                            }
                            results.push((index, call));
                            ViewPart::Result {
                                key: results.len() as u64 - 1,
                                tokens: size,
                                freed,
                            }
                        } else {
                            ViewPart::Text(size)
                        }
                    }
                };
                rent.push(part);
            }
        }
        PricedHistory {
            forecast: rent.forecast(),
            view: rent.into_view(),
            growth,
            results,
            anchor,
        }
    }

    /// The files that a summary decided by price would restore, approximately: of the results of the newest calls that
    /// show files before the messages that stay, those that are small.
    fn restored(&self, counter: &CalibratedCounter, scale: WindowScale) -> u64 {
        let reads = self.messages.iter().flat_map(|message| &message.reads);
        let reads: HashSet<Id> = reads.copied().collect();
        let largest = scale.apply(RESTORED_FILE);
        let (mut kept, mut files) = (0, 0);
        let mut restored = 0;
        for message in self.messages.iter().rev() {
            if kept < scale.apply(VERBATIM_TOKENS) {
                kept += counter.scaled(message.total()).tokens;
                continue;
            }
            for part in message.parts.iter().rev() {
                if let SizedPart::Result { call, tokens } = part
                    && reads.contains(call)
                    && files < MOST_RESTORED_FILES
                {
                    files += 1;
                    let tokens = counter.scaled(*tokens).tokens;
                    restored += if tokens <= largest { tokens } else { 0 };
                }
            }
            if files == MOST_RESTORED_FILES {
                break;
            }
        }
        restored
    }

    /// The client's messages that are sent without their thinking.
    fn stripped(&self) -> Vec<std::ops::RangeInclusive<usize>> {
        let Some((base, _)) = &self.context.outgoing.replaced else {
            return Vec::new();
        };
        let recognized = &self.context.messages.recognized;
        let spans = stripped_spans(&self.context.messages.recognized, &base.prefix).into_iter();
        spans.filter_map(|span| span_in(recognized, span)).collect()
    }
}
