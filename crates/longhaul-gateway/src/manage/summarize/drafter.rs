//! Drafts a smaller form of a conversation with what is at hand: a summary that a model has written, a model to ask, or
//! extracts.

use std::sync::Arc;

use longhaul::Model;
use longhaul_core::engine::{CompactRequest, OnModelFailure, SummaryReply};
use longhaul_core::history::SummaryRequestOutcome;

use super::density::count_by_density_of_words;
use super::session::{first_that_works, open, request};
use super::{DraftError, approved, drafted, ends_open};
use crate::manage::entries::ConversationEntries;
use crate::manage::settings::CompactorSettings;
use crate::manage::weight::ConversationTokenCount;
use crate::manage::{CompactableConversation, CompactedDraft};

pub(super) struct Drafter<'a> {
    conversation: &'a CompactableConversation,
    settings: &'a CompactorSettings,
    count: ConversationTokenCount,
    /// The count that the engine assumes for the messages, if it is more than the engine's own.
    counted: Option<u64>,
    /// A summary that a model has written.
    summary: Option<String>,
    model: Option<Arc<dyn Model>>,
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
            model,
        })
    }

    /// Whether a model has written a summary already.
    pub(super) fn has_summary(&self) -> bool {
        self.summary.is_some()
    }

    /// Drafts a form of at most `aim` tokens by the engine's count.
    pub(super) async fn draft(&self, aim: u64) -> Result<CompactedDraft, DraftError> {
        let entries = ConversationEntries::of(self.conversation, self.counted, self.settings.now)?;
        let mut session = open(
            self.conversation,
            entries,
            self.model.clone(),
            self.settings,
            aim,
        )?;
        let (done, answer) = first_that_works(&mut session, self.requests()).await?;
        let draft = drafted(
            self.conversation,
            &session,
            *done,
            self.count,
            &[],
            self.settings,
        )?;
        Ok(CompactedDraft { answer, ..draft })
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
