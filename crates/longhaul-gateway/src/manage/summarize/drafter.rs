//! Drafts a smaller form of a conversation: requests a summary at most once, and aims lower with the same summary as long
//! as the draft is too large by the provider's count.

use std::sync::Arc;

use longhaul::Model;
use longhaul_core::engine::{
    CompactRequest, CompactionSuccess, OnModelFailure, Summarizer, SummaryReply,
};
use longhaul_core::history::SummaryRequestOutcome;
use longhaul_core::message::Usage;

use super::density::count_by_density_of_words;
use super::remembering_model::RememberingModel;
use super::session::{first_that_works, open, request};
use super::{DraftError, approved, drafted, ends_open};
use crate::manage::entries::ConversationEntries;
use crate::manage::settings::CompactorSettings;
use crate::manage::weight::ConversationTokenCount;
use crate::manage::{CompactableConversation, CompactedDraft};

/// How often a draft that is too large is made anew with a lower aim.
const MOST_LOWERINGS: u32 = 3;

pub(super) struct Drafter<'a> {
    conversation: &'a CompactableConversation,
    settings: &'a CompactorSettings,
    count: ConversationTokenCount,
    /// The count that the engine assumes for the messages, if it is more than the engine's own.
    counted: Option<u64>,
    /// A summary that a model has written.
    summary: Option<String>,
    /// What the summary cost, if the model was asked here.
    paid: Option<Usage>,
    model: Option<Arc<RememberingModel>>,
    lowerings_left: u32,
}

impl<'a> Drafter<'a> {
    /// Fails if the conversation cannot be summarized where it ends.
    pub(super) fn new(
        conversation: &'a CompactableConversation,
        reply: Option<&SummaryReply>,
        model: Option<Arc<dyn Model>>,
        settings: &'a CompactorSettings,
    ) -> Result<Self, DraftError> {
        let count = ConversationTokenCount::of(conversation, settings);
        let uncounted = ConversationEntries::of(conversation, None, settings.now)?;
        if ends_open(&uncounted.entries) {
            return Err(DraftError::Unanswered);
        }
        Ok(Self {
            conversation,
            settings,
            count,
            counted: count_by_density_of_words(conversation, &uncounted, count),
            summary: approved(reply),
            paid: None,
            model: model.map(RememberingModel::of),
            lowerings_left: MOST_LOWERINGS,
        })
    }

    /// Whether a model has written a summary already.
    pub(super) fn has_summary(&self) -> bool {
        self.summary.is_some()
    }

    /// Drafts a form of at most `aim` tokens. The engine counts characters; where the provider counts more tokens than
    /// that and the draft is too large, the engine aims lower, with the summary that was paid for already.
    pub(super) async fn draft(&mut self, aim: u64) -> Result<CompactedDraft, DraftError> {
        let mut aim = aim;
        loop {
            let attempt = self.attempt(aim).await?;
            match attempt.draft {
                Err(DraftError::TooLarge { after, threshold })
                    if attempt.by != Summarizer::Local =>
                {
                    let excess = after - threshold;
                    aim = self
                        .lower(aim, excess, threshold, attempt.usage)
                        .ok_or(DraftError::TooLarge { after, threshold })?;
                }
                draft => {
                    return draft.map(|draft| CompactedDraft {
                        usage: draft.usage.or_else(|| self.paid.clone()),
                        ..draft
                    });
                }
            }
        }
    }

    /// A lower aim, for an attempt that is too large by `excess` tokens. The summary of the attempt is used again.
    fn lower(
        &mut self,
        aim: u64,
        excess: u64,
        threshold: u64,
        usage: Option<Usage>,
    ) -> Option<u64> {
        let reply = self.model.as_ref().and_then(|model| model.take());
        let summary = self.summary.take();
        self.summary = summary.or_else(|| approved(reply.as_ref()));
        self.paid = self.paid.take().or(usage);
        self.lowerings_left = self.lowerings_left.checked_sub(1)?;
        let lower = aim.saturating_sub(excess / 2 * 3 + threshold / 50);
        (self.summary.is_some() && lower > 0).then_some(lower)
    }

    async fn attempt(&self, aim: u64) -> Result<Attempt, DraftError> {
        let entries = ConversationEntries::of(self.conversation, self.counted, self.settings.now)?;
        let model = self.model.clone().map(|model| model as Arc<dyn Model>);
        let mut session = open(self.conversation, entries, model, self.settings, aim)?;
        let (done, answer) = first_that_works(&mut session, self.requests()).await?;
        let CompactionSuccess { by, ref usage, .. } = *done;
        let usage = usage.clone();
        let draft = drafted(
            self.conversation,
            &session,
            *done,
            self.count,
            &[],
            self.settings,
        );
        Ok(Attempt {
            by,
            usage,
            draft: draft.map(|draft| CompactedDraft { answer, ..draft }),
        })
    }

    /// The requests in the order in which they are tried, with what they mean for the model if they work. A model that
    /// has answered would not answer shorter if asked again, and would be paid twice.
    fn requests(&self) -> Vec<(CompactRequest, SummaryRequestOutcome)> {
        let by_model = match (&self.summary, &self.model) {
            (Some(summary), _) => Some(CompactRequest {
                approved: Some(summary.clone()),
                ..request()
            }),
            (None, Some(_)) => Some(CompactRequest {
                on_failure: OnModelFailure::UseExtracts,
                ..request()
            }),
            (None, None) => None,
        };
        let extracts = CompactRequest {
            local: true,
            ..request()
        };
        let answer_before_extracts = match (&self.summary, &self.model) {
            (Some(_), _) => SummaryRequestOutcome::Summary,
            (None, Some(_)) => SummaryRequestOutcome::Nothing,
            (None, None) => SummaryRequestOutcome::NotAsked,
        };
        let by_model = by_model.map(|request| (request, SummaryRequestOutcome::Summary));
        let extracts = (extracts, answer_before_extracts);
        by_model.into_iter().chain([extracts]).collect()
    }
}

/// One draft, and how it was made.
struct Attempt {
    by: Summarizer,
    usage: Option<Usage>,
    draft: Result<CompactedDraft, DraftError>,
}
