//! Keeps the result of a compaction: turns a draft into a compacted prefix, with how it was made, and stores that.

use std::collections::BTreeSet;

use bytes::Bytes;
use longhaul_core::history::{HistoryAuthor, HistoryChange};
use longhaul_core::message::Usage;
use longhaul_core::models::Tokenizer;

use super::cleared_results::result_calls;
use super::compactor::Compactor;
use super::conversation_cut::ConversationCut;
use super::derived_prefix::stripped_spans;
use super::draft::CompactedDraft;
use super::occasion::WorkOccasion;
use super::reduced_request::with_restored;
use super::request_context::RequestContext;
use super::tools::KnownTools;
use super::{join, thinking, went};
use crate::store::{
    CompactedPrefix, CompactedPrefixKind, DerivedRest, HistoryHash, PrefixProvenance, PrefixReport,
    ResultsThatWent,
};

impl Compactor {
    /// Makes a draft durable and thereby known. It took `millis` milliseconds. Returns whether the draft is in use now.
    pub(super) async fn keep(
        &self,
        context: &RequestContext,
        cut: &ConversationCut,
        draft: CompactedDraft,
        occasion: WorkOccasion,
        millis: u64,
    ) -> bool {
        let line = context.placed.line;
        let mut usage = self.branch_states.take_in_vain(line);
        usage.add(draft.usage.as_ref().unwrap_or(&Usage::default()));
        let (kind, before, after) = (draft.kind, draft.before, draft.after);
        let made = self.made((context, cut), &draft, occasion, millis, &usage);
        let Some(prefix) = prefix(context, cut, draft, made) else {
            self.branch_states.used_in_vain(line, &usage);
            return false;
        };
        match self.prefixes.put(prefix).await {
            Ok(_) => {
                if let Some(window) = self
                    .windows
                    .of_tenant(context.tenant, &context.model)
                    .window
                {
                    let by = written_by(kind);
                    let change = HistoryChange::Shrunk { after, by, millis };
                    self.branch_states.apply(line, change, &window);
                }
                self.metrics.compacted(kind);
                self.changes.changed(context.placed.session);
                tracing::info!(%line, kind = kind.name(), before, after, millis, "a conversation was made smaller");
                true
            }
            Err(error) => {
                self.branch_states.used_in_vain(line, &usage);
                tracing::warn!(%error, %line, "a summary cannot be kept and is not used");
                false
            }
        }
    }

    /// How the prefix of a draft was made, at the cost of this usage.
    fn made(
        &self,
        (context, cut): (&RequestContext, &ConversationCut),
        draft: &CompactedDraft,
        occasion: WorkOccasion,
        millis: u64,
        usage: &Usage,
    ) -> PrefixProvenance {
        let known = self.windows.of_tenant(context.of_key, &context.model);
        let tokenizer = known.spec.tokenizer;
        let cost = known.spec.cost_of_reply(usage);
        PrefixProvenance {
            session: context.placed.session,
            line: context.placed.line,
            at: self.clock.now(),
            kind: draft.kind,
            before: draft.before,
            after: draft.after,
            millis,
            waited: (!occasion.is_ahead()).then_some(millis),
            cost: cost.filter(|_| usage.total() > 0),
            report: PrefixReport {
                went: results_that_went(context, cut, draft, &self.settings.tools, tokenizer),
                economy: match occasion {
                    WorkOccasion::Pays(_) => context.summary_pays.clone(),
                    _ => None,
                },
                ..PrefixReport::of(draft.report.clone())
            },
        }
    }
}

/// The prefix that a draft becomes; `None` if the request's messages do not have what it is made of.
fn prefix(
    context: &RequestContext,
    cut: &ConversationCut,
    draft: CompactedDraft,
    made: PrefixProvenance,
) -> Option<CompactedPrefix> {
    let base = context.outgoing.replaced.as_ref();
    let derived = (draft.kind == CompactedPrefixKind::Cleared).then(|| DerivedRest {
        changed_from: changed_from(context, cut, &draft),
        stripped: base.map_or_else(Vec::new, |(base, _)| {
            stripped_spans(&context.messages.recognized, &base.prefix)
        }),
    });
    let root = match draft.summarized.checked_sub(1) {
        Some(last) => (context.messages.recognized.hashes.get(cut.from + last)).copied(),
        None => base.and_then(|(base, _)| base.prefix.root),
    };
    let conversation = draft.conversation;
    let last = (cut.from + cut.conversation.elements.len()).saturating_sub(1);
    let restored = context.restored_until(last, root, &conversation.cleared);
    // The client's breakpoints move on, but these bytes stay.
    let rest = conversation.elements.iter().map(|element| {
        let element = with_restored(context.messages.dialect, element, &restored);
        thinking::without_breakpoints(&element)
    });
    let summary = conversation.summary.iter().cloned();
    let elements: Vec<Bytes> = summary.chain(rest).collect();
    let prefix = CompactedPrefix {
        tenant: context.tenant,
        at: cut.at,
        messages: cut.messages,
        text: join(&elements),
        root,
        summary: join(&conversation.summary).len(),
        lines: conversation.lines,
        cleared: conversation.cleared,
        derived,
        settled: false,
        made,
    };
    match prefix.derived {
        Some(_) => context.completed(prefix.as_stored()),
        None => Some(prefix),
    }
}

/// The results that are no longer sent because of a draft.
fn results_that_went(
    context: &RequestContext,
    cut: &ConversationCut,
    draft: &CompactedDraft,
    tools: &KnownTools,
    tokenizer: Tokenizer,
) -> Option<ResultsThatWent> {
    let before: BTreeSet<&str> = (cut.conversation.cleared.iter())
        .map(String::as_str)
        .collect();
    let cleared: BTreeSet<&str> = (draft.conversation.cleared.iter())
        .map(String::as_str)
        .collect();
    let all = &cut.conversation.elements;
    let is_cleared = draft.kind == CompactedPrefixKind::Cleared;
    let part = match is_cleared {
        true => all.len(),
        false => draft.summarized.min(all.len()),
    };
    let is_gone = |call: &str| {
        // What was summarized is gone as a whole.
        !before.contains(call) && (!is_cleared || cleared.contains(call))
    };
    let kind = (context.messages.dialect, tokenizer);
    let elements = all.iter().take(part);
    went::among(elements, is_gone, kind, tools, context.recall)
}

/// The rolling hash after the first message in which a draft clears a result that was sent before.
fn changed_from(
    context: &RequestContext,
    cut: &ConversationCut,
    draft: &CompactedDraft,
) -> Option<HistoryHash> {
    let before: BTreeSet<&str> = (cut.conversation.cleared.iter())
        .map(String::as_str)
        .collect();
    let new: BTreeSet<&str> = (draft.conversation.cleared.iter())
        .map(String::as_str)
        .filter(|call| !before.contains(call))
        .collect();
    let mut elements = cut.conversation.elements.iter();
    let first = elements.position(|element| {
        let calls = result_calls(context.messages.dialect, element);
        calls.iter().any(|call| new.contains(&**call))
    })?;
    let hash = context.messages.recognized.hashes.get(cut.from + first)?;
    Some(HistoryHash(*hash))
}

/// Who wrote a prefix of this kind.
fn written_by(kind: CompactedPrefixKind) -> Option<HistoryAuthor> {
    match kind {
        CompactedPrefixKind::Cleared | CompactedPrefixKind::Settled => None,
        CompactedPrefixKind::Noted => Some(HistoryAuthor::Notes),
        CompactedPrefixKind::Summarized => Some(HistoryAuthor::Model),
        CompactedPrefixKind::Extracted => Some(HistoryAuthor::Extracts),
    }
}
