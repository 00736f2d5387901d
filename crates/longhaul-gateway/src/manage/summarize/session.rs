//! Opens a conversation as a session of the engine, and has it compacted.

use std::sync::Arc;

use jiff::Timestamp;
use longhaul::recorded::{InMemoryConversation, RecordedSession, SummaryProvider};
use longhaul::session::{CompactOutcome, OpenError, SilentObserver};
use longhaul::{Clock, Model};
use longhaul_core::boundary::CompactionTrigger;
use longhaul_core::engine::{CompactFailure, CompactRequest, CompactionSuccess, Summarizer};
use longhaul_core::history::SummaryRequestOutcome;

use super::DraftError;
use super::workspace::HistoryWorkspace;
use crate::manage::CompactableConversation;
use crate::manage::entries::ConversationEntries;
use crate::manage::history_files::HistoryFiles;
use crate::manage::settings::CompactorSettings;

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
