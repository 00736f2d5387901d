//! Compacts a conversation: performs what the core's [`CompactionAttempt`] decides. `keep` stores the result.

use std::sync::Arc;

use bytes::Bytes;
use longhaul::Model;
use longhaul::session::summary_reply;
use longhaul_core::figures::grouped;
use longhaul_core::history::{
    AppendedRequestWay, AttemptContext, AttemptEffect, AttemptInput, CompactionAttempt,
    DiscardReason, DraftSizes, FailureTransience, HistoryState, KeptDraft, NoSummaryReason,
    PlainRequestSupport, SummaryRequestFacts, SummarySource,
};
use longhaul_core::window::WindowStatus;
use longhaul_provider::Dialect;

use super::appended_request;
use super::compactor::Compactor;
use super::conversation_cut::ConversationCut;
use super::draft::CompactedDraft;
use super::occasion::{RequestPatience, WorkOccasion};
use super::request_context::RequestContext;
use super::settings::CompactorSettings;
use super::summarize::{DraftError, SummaryText};
use super::upstream_caller::{self, CountedAsking};
use super::{clear, summarize, weight};

/// Bytes of a summary request for each token, at the least.
const QUESTION: u64 = 3;

/// The conditions of an attempt, as the gateway knows them.
#[derive(Clone, Copy)]
pub(super) struct AttemptConditions<'w> {
    pub(super) settings: &'w CompactorSettings,
    pub(super) window: WindowStatus,
    pub(super) occasion: WorkOccasion,
    pub(super) patience: RequestPatience,
}

/// A conversation that is being compacted.
struct CompactionWork<'w> {
    context: &'w RequestContext,
    cut: &'w ConversationCut,
    settings: &'w CompactorSettings,
    window: WindowStatus,
    /// The message that asks for a summary after the client's own messages.
    question: Bytes,
    /// The summary that a model wrote.
    written: Option<String>,
    /// The caller for requests to the upstream, with their usage so far.
    asking: CountedAsking,
    /// Why the last draft with a summary could not be made.
    failed: Option<DraftError>,
    /// The newest draft of each kind.
    cleared: Option<CompactedDraft>,
    noted: Option<CompactedDraft>,
    summary: Option<CompactedDraft>,
}

impl Compactor {
    /// Performs one attempt to compact a part of a conversation. Returns the draft that is to be stored.
    pub(super) async fn attempt(
        &self,
        (context, cut): (&RequestContext, &ConversationCut),
        conditions: AttemptConditions<'_>,
        state: HistoryState,
    ) -> Option<CompactedDraft> {
        let AttemptConditions {
            settings,
            window,
            occasion,
            patience,
        } = conditions;
        let line = context.placed.line;
        let instructions = settings.instructions.as_deref();
        let working = &mut CompactionWork {
            context,
            cut,
            settings,
            window,
            question: summarize::fork_message(context.messages.dialect, instructions),
            written: None,
            failed: None,
            asking: CountedAsking::new(&context.asking),
            cleared: None,
            noted: None,
            summary: None,
        };
        let mut attempt = CompactionAttempt::new(AttemptContext {
            occasion: occasion.planned(),
            window: working.window,
            switches: &self.settings.config.switches,
            counted: working.counted(),
            asking: working.facts(occasion),
            state,
        });
        if patience.is_over() {
            tracing::warn!(%line, "a summary did not arrive in time; a request continues without a model");
            attempt.handle(AttemptInput::TimedOut);
        }
        while let Some(effect) = attempt.poll() {
            let input =
                match effect {
                    AttemptEffect::Clear(why) => {
                        working.cleared = clear::clear(&cut.conversation, why, settings);
                        AttemptInput::Cleared(working.cleared.as_ref().map(CompactedDraft::sizes))
                    }
                    AttemptEffect::EstimateSummary => AttemptInput::SummaryLeaves(
                        weight::least_after(&cut.conversation, settings, &window),
                    ),
                    AttemptEffect::UseNotes => {
                        working.noted = self.by_notes(context, cut, settings, patience).await;
                        AttemptInput::Noted(working.noted.as_ref().map(CompactedDraft::sizes))
                    }
                    AttemptEffect::AskBehind(way) => {
                        let longest = self
                            .windows
                            .of_tenant(context.tenant, &context.model)
                            .spec
                            .max_output;
                        let answer = patience.within(working.ask_after(way, longest)).await;
                        working.in_time(answer)
                    }
                    AttemptEffect::Summarize { source, most_left } => {
                        let drafted = working.summarize(source, most_left);
                        match source {
                            SummarySource::PlainRequest(_) => {
                                let drafted = patience.within(drafted).await;
                                working.in_time(drafted)
                            }
                            SummarySource::Answer | SummarySource::Extracts => drafted.await,
                        }
                    }
                    AttemptEffect::Change(change) => {
                        self.branch_states.apply(line, change, &window);
                        continue;
                    }
                    AttemptEffect::Discard(kept, reason) => {
                        self.discard(working, kept, reason).await;
                        continue;
                    }
                    AttemptEffect::Keep(KeptDraft::Cleared) => return working.cleared.take(),
                    AttemptEffect::Keep(KeptDraft::Notes) => return working.noted.take(),
                    AttemptEffect::Keep(KeptDraft::Summary) => return working.summary.take(),
                    AttemptEffect::GiveUp => return None,
                };
            attempt.handle(input);
        }
        None
    }

    /// Discards a useless draft; its cost is charged to the next one.
    async fn discard(
        &self,
        working: &mut CompactionWork<'_>,
        kept: KeptDraft,
        reason: DiscardReason,
    ) {
        let draft = match kept {
            KeptDraft::Cleared => working.cleared.take(),
            KeptDraft::Notes => working.noted.take(),
            KeptDraft::Summary => working.summary.take(),
        };
        let line = working.context.placed.line;
        match (reason, draft) {
            (DiscardReason::TooLarge { after, threshold }, _) => {
                let (after, threshold) = (grouped(after), grouped(threshold));
                tracing::warn!(%line, "a conversation cannot be summarized: the smallest summary leaves {after} tokens in the window, which is full at {threshold}; the system prompt and the tools must be made smaller");
            }
            (DiscardReason::WouldNotShrink, _) => {
                tracing::warn!(%line, "a conversation cannot be summarized: a summary would not make it smaller");
            }
            (DiscardReason::FreesTooLittle, Some(draft)) => {
                let (before, after) = (draft.before, draft.after);
                tracing::info!(%line, before, after, "a summary would free too little; nothing is changed");
            }
            (DiscardReason::NoDraft, _) => {
                if let Some(error) = working.failed.take() {
                    tracing::warn!(%error, %line, "a conversation cannot be summarized");
                }
            }
            (DiscardReason::FreesTooLittle, None) => {}
        }
        let spent = working.asking.spent().take();
        self.in_vain(working.context, &spent).await;
    }
}

impl CompactionWork<'_> {
    /// How many tokens the window holds.
    fn counted(&self) -> u64 {
        self.cut.conversation.measured.unwrap_or(0)
    }

    fn facts(&self, occasion: WorkOccasion) -> SummaryRequestFacts {
        SummaryRequestFacts {
            used: match occasion {
                WorkOccasion::Ahead(answered) | WorkOccasion::Pays(answered) => answered.used,
                _ => self.counted(),
            },
            counted: self.counted(),
            before_messages: self.settings.before_messages,
            question: self.question.len() as u64 / QUESTION,
            behind: self.way_after(),
            plain: match self.context.messages.dialect {
                Dialect::Anthropic => PlainRequestSupport::Possible,
                Dialect::OpenAi => PlainRequestSupport::Impossible,
            },
        }
    }

    /// How a question can be appended to what is sent. A compacted prefix that was never sent is settled only when the
    /// request itself is: until then, the thinking after it is bound to messages that are gone.
    fn way_after(&self) -> AppendedRequestWay {
        let spec = self.settings.models.resolve(&self.context.model).spec;
        let base = self.context.outgoing.replaced.as_ref();
        match base {
            Some((base, _)) if !base.prefix.settled && spec.thinking.binding.may_bind() => {
                AppendedRequestWay::No("the thinking in the request is bound to replaced messages")
            }
            _ => appended_request::way_after(self.context),
        }
    }

    /// Asks for a summary after the client's own messages.
    async fn ask_after(&mut self, way: AppendedRequestWay, longest: u64) -> AttemptInput {
        let line = self.context.placed.line;
        let Some(parts) = appended_request::parts_after(way, self.context, &self.question, longest)
        else {
            let passes = FailureTransience::Stays;
            return AttemptInput::NotAnswered { passes };
        };
        tracing::info!(%line, way = appended_request::name(way), "a summary is requested");
        match self.asking.ask(parts, &[]).await {
            Ok(reply) => {
                self.written = summarize::written_summary(&summary_reply(reply));
                match self.written {
                    Some(_) => AttemptInput::Answered,
                    None => {
                        let passes = FailureTransience::Stays;
                        AttemptInput::NotAnswered { passes }
                    }
                }
            }
            Err(error) => {
                tracing::info!(class = ?error.class, "asking for a summary after the client's own messages failed");
                let passes = upstream_caller::passing(error.class);
                AttemptInput::NotAnswered { passes }
            }
        }
    }

    /// The result of an effect that asks a model, if there is one in time.
    fn in_time(&self, input: Option<AttemptInput>) -> AttemptInput {
        input.unwrap_or_else(|| {
            let line = self.context.placed.line;
            tracing::warn!(%line, "a summary did not arrive in time; a request continues without a model");
            AttemptInput::TimedOut
        })
    }

    /// Drafts a summary from one source.
    async fn summarize(&mut self, source: SummarySource, most_left: u64) -> AttemptInput {
        let line = self.context.placed.line;
        let text = match source {
            SummarySource::Answer => match &self.written {
                Some(written) => SummaryText::Written(written.clone()),
                None => return AttemptInput::NotSummarized(NoSummaryReason::NotWritten),
            },
            SummarySource::PlainRequest(reason) => {
                tracing::info!(%line, way = "a plain request", reason, "a summary is requested");
                SummaryText::Model(Arc::new(self.asking.clone()) as Arc<dyn Model>)
            }
            SummarySource::Extracts => SummaryText::Extracts,
        };
        let conversation = &self.cut.conversation;
        let draft = summarize::draft_summary(conversation, text, Some(most_left), self.settings);
        match draft.await {
            Ok(draft) => {
                if let SummarySource::PlainRequest(_) = source {
                    let reply = self.asking.newest_reply().map(summary_reply);
                    self.written = reply.as_ref().and_then(summarize::written_summary);
                }
                // An unsuccessful request has a cost, too.
                let usage = self.asking.spent().so_far();
                let draft = CompactedDraft { usage, ..draft };
                let sizes = draft.sizes();
                let DraftSizes { before, after, .. } = sizes;
                tracing::debug!(%line, ?source, most_left, before, after, "a conversation was drafted with a summary");
                self.summary = Some(draft);
                AttemptInput::Summarized(sizes)
            }
            Err(error) => {
                tracing::debug!(%error, %line, ?source, "a conversation is not summarized this way");
                let reason = error.reason();
                self.failed = Some(error);
                AttemptInput::NotSummarized(reason)
            }
        }
    }
}
