//! Drafts a conversation with a summary from one source. It is opened as a session of the engine, which compacts it. What
//! follows if there is no such draft, or it is too large, the core's attempt decides (core `history/attempt.rs`).

use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use longhaul::recorded::{InMemoryConversation, RecordedSession, SummaryProvider};
use longhaul::session::{CompactOutcome, OpenError, SilentObserver};
use longhaul::{Clock, Model};
use longhaul_core::boundary::CompactionTrigger;
use longhaul_core::engine::{CompactRequest, CompactionSuccess, Summarizer};
use longhaul_core::report::ViewTokens;

use super::density::count_by_density_of_words;
use super::view;
use super::workspace::HistoryWorkspace;
use super::{DraftError, SummaryText, ends_open};
use crate::manage::entries::ConversationEntries;
use crate::manage::history_files::HistoryFiles;
use crate::manage::settings::CompactorSettings;
use crate::manage::weight::ConversationTokenCount;
use crate::manage::{CompactableConversation, CompactedDraft};
use crate::store::CompactedPrefixKind;

/// Drafts a whole conversation with a summary, aiming at `most_left` tokens in the window where that is less than the
/// threshold.
pub async fn draft_summary(
    conversation: &CompactableConversation,
    text: SummaryText,
    most_left: Option<u64>,
    settings: &CompactorSettings,
) -> Result<CompactedDraft, DraftError> {
    let uncounted = ConversationEntries::of(conversation, None, settings.now)?;
    let count = ConversationTokenCount::of(conversation, settings);
    let counted = count_by_density_of_words(conversation, &uncounted, count);
    let counted = match most_left {
        Some(most_left) => counted
            .map(|counted| as_aimed(counted, most_left, conversation, settings))
            .transpose()?,
        None => counted,
    };
    let drafter = Drafter {
        conversation,
        part: conversation,
        entries: match counted {
            Some(_) => ConversationEntries::of(conversation, counted, settings.now)?,
            None => uncounted,
        },
        kept: &[],
        settings,
    };
    drafter.draft(text, most_left).await
}

/// The count of messages whose drafts were smaller than expected, as an aim above the threshold says: the engine compares
/// what it expects with the free part of the window, so what it expects is lowered by the ratio.
fn as_aimed(
    counted: u64,
    most_left: u64,
    conversation: &CompactableConversation,
    settings: &CompactorSettings,
) -> Result<u64, DraftError> {
    let window = settings
        .window(&conversation.model)
        .map_err(OpenError::from)?;
    let free = |most: u64| u128::from(most.saturating_sub(settings.before_messages).max(1));
    let (free, aimed) = (free(window.auto_compact), free(most_left));
    let lowered = u128::from(counted) * free / aimed.max(free);
    Ok(u64::try_from(lowered).unwrap_or(u64::MAX))
}

/// Uses an existing summary for the older part of a conversation, before the part that is kept.
pub(in crate::manage) async fn given(
    conversation: &CompactableConversation,
    older: &CompactableConversation,
    summary: String,
    kept: &[Bytes],
    settings: &CompactorSettings,
) -> Result<CompactedDraft, DraftError> {
    let drafter = Drafter {
        conversation,
        part: older,
        entries: ConversationEntries::of(older, None, settings.now)?,
        kept,
        settings,
    };
    drafter.draft(SummaryText::Written(summary), None).await
}

struct Drafter<'a> {
    conversation: &'a CompactableConversation,
    /// The part of it that is summarized, with its entries.
    part: &'a CompactableConversation,
    entries: ConversationEntries,
    /// The elements that stay after it.
    kept: &'a [Bytes],
    settings: &'a CompactorSettings,
}

impl Drafter<'_> {
    async fn draft(
        self,
        text: SummaryText,
        most_left: Option<u64>,
    ) -> Result<CompactedDraft, DraftError> {
        if ends_open(&self.entries.entries) {
            return Err(DraftError::Unanswered);
        }
        let before_messages = self.settings.before_messages;
        let request = CompactRequest {
            trigger: CompactionTrigger::Auto,
            // The engine knows nothing of what comes before the messages.
            most_left: most_left.map(|most| most.saturating_sub(before_messages)),
            ..CompactRequest::default()
        };
        let (request, model) = match text {
            SummaryText::Written(summary) => (
                CompactRequest {
                    approved: Some(summary),
                    ..request
                },
                None,
            ),
            SummaryText::Model(model) => (request, Some(model)),
            SummaryText::Extracts => (
                CompactRequest {
                    local: true,
                    ..request
                },
                None,
            ),
        };
        let is_asked = model.is_some();
        let mut session = open(self.part, self.entries, model, self.settings)?;
        let done = match session.compact(request).await? {
            CompactOutcome::Done(done) => *done,
            CompactOutcome::Preview(_) => {
                return Err(DraftError::Failed("it was only previewed".to_owned()));
            }
        };
        if is_asked && done.by == Summarizer::Local {
            // Not even the end of the conversation fits into a request.
            let message = "the conversation is too long to be summarized by this model";
            return Err(DraftError::NotWritten(message.to_owned()));
        }
        let draft = drafted(self.conversation, &session, done, self.kept, self.settings);
        Ok(CompactedDraft {
            summarized: self.part.elements.len(),
            ..draft
        })
    }
}

/// Opens a conversation for the engine.
fn open(
    conversation: &CompactableConversation,
    read: ConversationEntries,
    model: Option<Arc<dyn Model>>,
    settings: &CompactorSettings,
) -> Result<RecordedSession, DraftError> {
    let files = HistoryFiles::of(&read.entries, &settings.tools);
    let paths: Vec<_> = files.paths().map(ToOwned::to_owned).collect();
    let window = settings
        .window(&conversation.model)
        .map_err(OpenError::from)?;
    let history = HistoryWorkspace::of(files, &read.entries, window.scale())
        .restoring_at_most(settings.largest_file);
    let at = read.at;
    let conversation = InMemoryConversation {
        entries: read.entries,
        model: conversation.model.clone(),
        session_id: read.session_id,
        seed: read.seed,
        before_messages: settings.before_messages,
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

/// The draft that a session's new view is.
fn drafted(
    conversation: &CompactableConversation,
    session: &RecordedSession,
    done: CompactionSuccess,
    kept: &[Bytes],
    settings: &CompactorSettings,
) -> CompactedDraft {
    let entries = session.engine().live().entries();
    let summary = view::elements(
        conversation.dialect,
        entries.iter().map(|kept| kept.entry.view()),
    );
    let sent = summary.iter().chain(kept).map(|element| &element[..]);
    let count = ConversationTokenCount::of(conversation, settings);
    let (before, after) = (count.before, count.with(sent));
    let mut report = done.report;
    report.tokens = ViewTokens { before, after };
    CompactedDraft {
        kind: match done.by {
            Summarizer::Local => CompactedPrefixKind::Extracted,
            _ => CompactedPrefixKind::Summarized,
        },
        conversation: CompactableConversation {
            dialect: conversation.dialect,
            model: conversation.model.clone(),
            lines: lines(entries.iter().map(|kept| kept.entry.bytes())),
            summary,
            elements: Vec::new(),
            cleared: Vec::new(),
            measured: None,
        },
        summarized: conversation.elements.len(),
        before,
        after,
        report,
        usage: done.usage,
    }
}

fn lines<'a>(entries: impl Iterator<Item = &'a Bytes>) -> Bytes {
    let mut lines = Vec::new();
    for line in entries {
        lines.extend_from_slice(line);
        lines.push(b'\n');
    }
    lines.into()
}
