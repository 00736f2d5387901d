//! Turns a whole conversation into a summary (F, X1, X9, R1, Y1). The engine decides; this module gives it a
//! conversation, and turns its result back into elements of `messages`.
//!
//! There are three ways, in this order: a summary from a request appended to the client's own bytes, a plain request,
//! extracts. The last one always leads to a summary; whether it is small enough is checked all the same.

mod fork;
mod remembering_model;
mod view;
mod workspace;

use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use longhaul::recorded::{InMemoryConversation, RecordedSession, SummaryProvider};
use longhaul::session::{CompactError, CompactOutcome, OpenError, SilentObserver};
use longhaul::{Clock, Model};
use longhaul_core::boundary::CompactionTrigger;
use longhaul_core::engine::{
    CompactFailure, CompactRequest, CompactionSuccess, OnModelFailure, Summarizer, SummaryReply,
};
use longhaul_core::history::SummaryRequestOutcome;
use longhaul_core::message::Entry;
use longhaul_core::report::ViewTokens;
use longhaul_core::rounds::ViewPiece;
use longhaul_core::summary::{SummaryReplyText, read};
use longhaul_core::tokens::{EntryStanding, Estimate, RoughEstimator, TokenLedger, likely};

pub use fork::fork_message;
pub(super) use fork::user_element;
use remembering_model::RememberingModel;
use workspace::HistoryWorkspace;

use super::element::{ElementParts, texts};
use super::entries::{ConversationEntries, UnreadableConversation};
use super::history_files::HistoryFiles;
use super::settings::CompactorSettings;
use super::weight::ConversationTokenCount;
use super::{CompactableConversation, CompactedDraft};
use crate::body::BodyRole;
use crate::store::CompactedPrefixKind;

/// Why there is no draft. The conversation stays as it is.
#[derive(Debug, thiserror::Error)]
pub enum DraftError {
    /// There is nothing to summarize.
    #[error("there is nothing to summarize: {0}")]
    Nothing(String),
    /// Its last calls have no results yet, and results cannot follow a summary.
    #[error("the conversation ends with tool calls that are not answered")]
    Unanswered,
    /// Compaction is switched off.
    #[error("{0}")]
    SwitchedOff(String),
    /// The summary would not be smaller.
    #[error("a summary would not make the conversation smaller: {0}")]
    WouldNotShrink(String),
    /// Even the smallest summary is too large: what cannot be summarized fills the window.
    #[error(
        "the smallest summary leaves {after} tokens in the window, which is full at {threshold}; the system prompt and the tools must be made smaller"
    )]
    TooLarge {
        /// The tokens that it would leave.
        after: u64,
        /// The threshold of automatic compaction.
        threshold: u64,
    },
    /// A part of the conversation cannot be read.
    #[error(transparent)]
    Unreadable(#[from] UnreadableConversation),
    /// The model's window is too small, or no request for it can be built.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Any other error.
    #[error("the conversation could not be summarized: {0}")]
    Failed(String),
}

/// How often a draft that is too large is made anew with a lower aim.
const MOST_TIGHTENINGS: u32 = 3;

/// Summarizes a whole conversation. `given` is the reply to [`fork_message`], `asked` is the provider to ask if that is
/// not a summary. Without both, or if both fail, extracts are the summary.
pub async fn summarize(
    talk: &CompactableConversation,
    given: Option<SummaryReply>,
    asked: Option<Arc<dyn Model>>,
    settings: &CompactorSettings,
) -> Result<CompactedDraft, DraftError> {
    let scales = ConversationTokenCount::of(talk, settings);
    let plain = ConversationEntries::of(talk, None, settings.now)?;
    if ends_open(&plain.entries) {
        return Err(DraftError::Unanswered);
    }
    let counted = as_dense_as_words(talk, &plain, scales);
    let threshold = threshold(talk, settings)?;
    let mut given = approved(given.as_ref());
    let asked = asked.map(RememberingModel::of);
    let mut paid = None;
    let mut tightened = 0;
    // A summary that was paid for is not discarded for extracts that are a little shorter.
    let mut aims = match (settings.most_left, &given) {
        (Some(most), Some(_)) => vec![most.min(threshold), threshold],
        (Some(most), None) => vec![most.min(threshold)],
        (None, _) => vec![threshold],
    };
    let mut drafted = Err(DraftError::Failed("nobody was asked".to_owned()));
    aims.reverse();
    while let Some(aim) = aims.pop() {
        let read = ConversationEntries::of(talk, counted, settings.now)?;
        let model = asked.clone().map(|asked| asked as Arc<dyn Model>);
        let mut session = open(talk, read, model, settings, aim)?;
        let mut requests: Vec<(CompactRequest, SummaryRequestOutcome)> = Vec::new();
        requests.extend(given.clone().map(|text| {
            let approved = CompactRequest {
                approved: Some(text),
                ..request()
            };
            (approved, SummaryRequestOutcome::Summary)
        }));
        // A model that has answered would not answer shorter if asked again, and would be paid twice.
        if asked.is_some() && given.is_none() {
            let by_model = CompactRequest {
                on_failure: OnModelFailure::UseExtracts,
                ..request()
            };
            requests.push((by_model, SummaryRequestOutcome::Summary));
        }
        let local = CompactRequest {
            local: true,
            ..request()
        };
        let answer = match (&given, &asked) {
            (Some(_), _) => SummaryRequestOutcome::Summary,
            (None, Some(_)) => SummaryRequestOutcome::Nothing,
            (None, None) => SummaryRequestOutcome::NotAsked,
        };
        requests.push((local, answer));
        let (done, answer) = first_that_works(&mut session, requests).await?;
        let is_extract = done.by == Summarizer::Local;
        let usage = done.usage.clone();
        drafted = self::drafted(talk, &session, *done, scales, &[], settings).map(|draft| {
            let usage = draft.usage.or_else(|| paid.clone());
            CompactedDraft {
                answer,
                usage,
                ..draft
            }
        });
        // The engine counts characters. Where the provider counts more tokens than that, the engine aims lower, with the
        // summary that was paid for already.
        if let Err(DraftError::TooLarge { after, threshold }) = &drafted
            && !is_extract
            && tightened < MOST_TIGHTENINGS
        {
            let reply = asked.as_ref().and_then(|asked| asked.take());
            given = given.or_else(|| approved(reply.as_ref()));
            paid = paid.or(usage);
            let lower = aim.saturating_sub((after - threshold) / 2 * 3 + threshold / 50);
            if given.is_some() && lower > 0 {
                tightened += 1;
                aims.push(lower);
                continue;
            }
        }
        if drafted.is_ok() && !(is_extract && answer == SummaryRequestOutcome::Summary) {
            break;
        }
    }
    drafted
}

/// The token count that the engine is to assume for the messages: it counts four characters as a token and adds a
/// third. If the source of a summary, the user's words, is denser than that, everything counts as that much denser.
fn as_dense_as_words(
    talk: &CompactableConversation,
    read: &ConversationEntries,
    scales: ConversationTokenCount,
) -> Option<u64> {
    let users = talk.elements.iter().filter_map(|element| {
        let read = ElementParts::read(element)?;
        (read.role == BodyRole::User).then(|| texts(read.content()))
    });
    let summary = talk.summary.iter();
    let summary = summary.filter_map(|element| Some(texts(ElementParts::read(element)?.content())));
    let (mut counted, mut estimated) = (0, Estimate::ZERO);
    for text in users.chain(summary) {
        counted += likely(text.as_bytes());
        estimated += RoughEstimator::text(&text);
    }
    let (dense, estimated) = (scales.tokens(counted), estimated.padded());
    let mut ledger = TokenLedger::new();
    for entry in &read.entries {
        ledger.entry(entry.view(), EntryStanding::Live, &RoughEstimator);
    }
    let whole = u128::from(ledger.whole().padded());
    let scaled = (whole * u128::from(dense)).checked_div(u128::from(estimated))?;
    let scaled = u64::try_from(scaled).ok()?;
    (dense > estimated).then_some(scaled)
}

fn threshold(
    talk: &CompactableConversation,
    settings: &CompactorSettings,
) -> Result<u64, OpenError> {
    Ok(settings.window(&talk.model)?.auto_compact)
}

/// Uses an existing summary for the older part of a conversation, before the part that is kept.
pub(super) async fn given(
    talk: &CompactableConversation,
    older: &CompactableConversation,
    summary: String,
    kept: &[Bytes],
    settings: &CompactorSettings,
) -> Result<CompactedDraft, DraftError> {
    let read = ConversationEntries::of(older, None, settings.now)?;
    if ends_open(&read.entries) {
        return Err(DraftError::Unanswered);
    }
    let mut session = open(older, read, None, settings, threshold(talk, settings)?)?;
    let approved = CompactRequest {
        approved: Some(summary),
        ..request()
    };
    let requests = vec![(approved, SummaryRequestOutcome::NotAsked)];
    let (done, _) = first_that_works(&mut session, requests).await?;
    let scales = ConversationTokenCount::of(talk, settings);
    let draft = drafted(talk, &session, *done, scales, kept, settings)?;
    Ok(CompactedDraft {
        summarized: older.elements.len(),
        ..draft
    })
}

/// Whether calls of the newest reply have no results.
fn ends_open(entries: &[Entry]) -> bool {
    let pieces: Vec<ViewPiece> = entries
        .iter()
        .map(|entry| ViewPiece::of_view(entry.view()))
        .collect();
    let newest = pieces.iter().rposition(|piece| piece.part.is_response());
    let newest = newest.and_then(|at| Some((pieces.get(at)?, pieces.get(at..)?)));
    newest.is_some_and(|(reply, behind)| {
        let answered = |call| behind.iter().any(|piece| piece.answers.contains(call));
        !reply.calls.iter().all(answered)
    })
}

fn request() -> CompactRequest {
    CompactRequest {
        trigger: CompactionTrigger::Auto,
        ..CompactRequest::default()
    }
}

/// Whether a reply is a summary.
pub(super) fn is_summary(given: &SummaryReply) -> bool {
    approved(Some(given)).is_some()
}

/// The text of a reply, if it is a summary (F6).
fn approved(given: Option<&SummaryReply>) -> Option<String> {
    let given = given?;
    let reply = SummaryReplyText {
        text: &given.text,
        calls: given.calls,
        stop: given.stop,
    };
    match read(reply) {
        Ok(summary) => Some(summary.body().to_owned()),
        Err(failure) => {
            tracing::debug!(reason = failure.code(), "the answer is not a summary");
            None
        }
    }
}

fn open(
    talk: &CompactableConversation,
    read: ConversationEntries,
    asked: Option<Arc<dyn Model>>,
    settings: &CompactorSettings,
    most: u64,
) -> Result<RecordedSession, DraftError> {
    let files = HistoryFiles::of(&read.entries, &settings.tools);
    let paths: Vec<_> = files.paths().map(ToOwned::to_owned).collect();
    let window = settings.window(&talk.model).map_err(OpenError::from)?;
    let history = HistoryWorkspace::of(files, &read.entries, window.scale());
    let at = read.at;
    let conversation = InMemoryConversation {
        entries: read.entries,
        model: talk.model.clone(),
        session_id: read.session_id,
        seed: read.seed,
        // The engine aims at the threshold: if less is to be left, the window counts as fuller than it is.
        before_messages: settings.before_messages + window.auto_compact.saturating_sub(most),
        asked: asked.map(|model| SummaryProvider { model, id: None }),
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

async fn first_that_works(
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
        refused,
    ))
}

fn refused(error: CompactError) -> DraftError {
    match error.kind {
        CompactFailure::Empty | CompactFailure::NothingNew => DraftError::Nothing(error.message),
        CompactFailure::SwitchedOff => DraftError::SwitchedOff(error.message),
        CompactFailure::WouldNotShrink => DraftError::WouldNotShrink(error.message),
        _ => DraftError::Failed(error.message),
    }
}

fn drafted(
    talk: &CompactableConversation,
    session: &RecordedSession,
    done: CompactionSuccess,
    scales: ConversationTokenCount,
    kept: &[Bytes],
    settings: &CompactorSettings,
) -> Result<CompactedDraft, DraftError> {
    let entries = session.engine().live().entries();
    let threshold = threshold(talk, settings)?;
    let summary = view::elements(talk.dialect, entries.iter().map(|kept| kept.entry.view()));
    let sent = summary.iter().chain(kept).map(|element| &element[..]);
    let (before, after) = (scales.before, scales.with(sent));
    let mut report = done.report;
    report.tokens = ViewTokens { before, after };
    if after >= threshold {
        return Err(DraftError::TooLarge { after, threshold });
    }
    if after >= before {
        let message = format!("{before} tokens would become {after}");
        return Err(DraftError::WouldNotShrink(message));
    }
    let report = serde_json::to_string(&report);
    Ok(CompactedDraft {
        kind: match done.by {
            Summarizer::Local => CompactedPrefixKind::Extracted,
            _ => CompactedPrefixKind::Summarised,
        },
        conversation: CompactableConversation {
            dialect: talk.dialect,
            model: talk.model.clone(),
            lines: lines(entries.iter().map(|kept| kept.entry.bytes())),
            summary,
            elements: Vec::new(),
            cleared: Vec::new(),
            measured: None,
        },
        summarized: talk.elements.len(),
        before,
        after,
        report: report.map_err(|error| DraftError::Failed(error.to_string()))?,
        usage: done.usage,
        answer: SummaryRequestOutcome::NotAsked,
    })
}

fn lines<'a>(entries: impl Iterator<Item = &'a Bytes>) -> Bytes {
    let mut lines = Vec::new();
    for line in entries {
        lines.extend_from_slice(line);
        lines.push(b'\n');
    }
    lines.into()
}
