//! Drafts a smaller form of a conversation with what is at hand: a summary that a model has written, a model to ask, or
//! extracts. It is opened as a session of the engine, which compacts it; the ways are tried in turn.

use std::sync::Arc;

use jiff::Timestamp;
use longhaul::recorded::{InMemoryConversation, RecordedSession, SummaryProvider};
use longhaul::session::{CompactOutcome, OpenError, SilentObserver};
use longhaul::{Clock, Model};
use longhaul_core::boundary::CompactionTrigger;
use longhaul_core::engine::{
    CompactFailure, CompactRequest, CompactionSuccess, OnModelFailure, Summarizer, SummaryReply,
};
use longhaul_core::history::SummaryRequestOutcome;

use super::density::count_by_density_of_words;
use super::workspace::HistoryWorkspace;
use super::{DraftError, approved, drafted, ends_open, threshold};
use crate::manage::entries::ConversationEntries;
use crate::manage::history_files::HistoryFiles;
use crate::manage::settings::CompactorSettings;
use crate::manage::weight::ConversationTokenCount;
use crate::manage::{CompactableConversation, CompactedDraft};

/// Summarizes a whole conversation. `reply` is the reply to [`fork_message`](super::fork_message); `model` is asked if that
/// is not a summary. Without both, or if both fail, extracts are the summary.
pub async fn summarize(
    conversation: &CompactableConversation,
    reply: Option<SummaryReply>,
    model: Option<Arc<dyn Model>>,
    settings: &CompactorSettings,
) -> Result<CompactedDraft, DraftError> {
    let drafter = Drafter::new(conversation, reply.as_ref(), model, settings)?;
    let threshold = threshold(conversation, settings)?;
    let Some(most) = settings.most_left else {
        return drafter.draft(threshold).await;
    };
    let draft = drafter.draft(most.min(threshold)).await;
    let is_good = draft.as_ref().is_ok_and(|draft| !draft.discards_summary());
    if is_good || !drafter.has_summary() {
        return draft;
    }
    // A summary that was paid for is not discarded for extracts that are a little shorter.
    drafter.draft(threshold).await
}

struct Drafter<'a> {
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
    fn new(
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
    fn has_summary(&self) -> bool {
        self.summary.is_some()
    }

    /// Drafts a form of at most `aim` tokens by the engine's count.
    async fn draft(&self, aim: u64) -> Result<CompactedDraft, DraftError> {
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

/// Opens a conversation. The engine compacts it to at most `most` tokens.
pub(super) fn open(
    talk: &CompactableConversation,
    read: ConversationEntries,
    model: Option<Arc<dyn Model>>,
    settings: &CompactorSettings,
    most: u64,
) -> Result<RecordedSession, DraftError> {
    let files = HistoryFiles::of(&read.entries, &settings.tools);
    let paths: Vec<_> = files.paths().map(ToOwned::to_owned).collect();
    let window = settings.window(&talk.model).map_err(OpenError::from)?;
    let history = HistoryWorkspace::of(files, &read.entries, window.scale())
        .restoring_at_most(settings.largest_file);
    let at = read.at;
    let conversation = InMemoryConversation {
        entries: read.entries,
        model: talk.model.clone(),
        session_id: read.session_id,
        seed: read.seed,
        // The engine aims at the threshold: if less is to be left, the window counts as fuller than it is.
        before_messages: settings.before_messages + window.auto_compact.saturating_sub(most),
        asked: model.map(|model| SummaryProvider { model, id: None }),
        vocabulary: settings.vocabulary.clone(),
        clearable: settings.clearable.clone(),
        compact_instructions: settings.instructions.clone(),
        workspace: Arc::new(history),
        observer: Arc::new(SilentObserver),
        clock: Arc::new(FixedClock(at)),
    };
    let mut session = conversation.open(&settings.config, &settings.models)?;
    for path in paths {
        session.note_read(path, at);
    }
    Ok(session)
}

/// A clock that stands still: the same conversation gives the same summary.
struct FixedClock(Timestamp);

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.0
    }
}

/// A request for an automatic compaction.
pub(super) fn request() -> CompactRequest {
    CompactRequest {
        trigger: CompactionTrigger::Auto,
        ..CompactRequest::default()
    }
}

/// Tries requests in turn. The result is that of the first one that works.
pub(super) async fn first_that_works(
    session: &mut RecordedSession,
    requests: Vec<(CompactRequest, SummaryRequestOutcome)>,
) -> Result<(Box<CompactionSuccess>, SummaryRequestOutcome), DraftError> {
    let mut failed = None;
    let mut summary = false;
    for (request, answer) in requests {
        match session.compact(request).await {
            Ok(CompactOutcome::Done(done)) if summary => {
                return Ok((done, SummaryRequestOutcome::Summary));
            }
            // The model was asked, but extracts had to do.
            Ok(CompactOutcome::Done(done))
                if done.by == Summarizer::Local && answer == SummaryRequestOutcome::Summary =>
            {
                return Ok((done, SummaryRequestOutcome::Nothing));
            }
            Ok(CompactOutcome::Done(done)) => return Ok((done, answer)),
            Ok(CompactOutcome::Preview(_)) => {}
            Err(error) => {
                // The summary was written, but would not make the conversation smaller.
                summary |= answer == SummaryRequestOutcome::Summary
                    && error.kind == CompactFailure::WouldNotShrink;
                tracing::debug!(%error, "not summarized this way");
                failed = Some(error);
            }
        }
    }
    Err(failed.map_or_else(
        || DraftError::Failed("nobody was asked".to_owned()),
        DraftError::from,
    ))
}
