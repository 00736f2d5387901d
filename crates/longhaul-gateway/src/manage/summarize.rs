//! Turns a whole conversation into a summary (F, X1, X9, R1, Y1). The engine decides; this module gives it a
//! conversation, and turns its result back into elements of `messages`.
//!
//! `drafter.rs` tries three ways, in this order: a summary from a request appended to the client's own bytes, a plain request,
//! extracts. The last one always leads to a summary; whether it is small enough is checked all the same.

mod density;
mod drafter;
mod error;
mod fork;
mod view;
mod workspace;

use bytes::Bytes;
use longhaul::recorded::RecordedSession;
use longhaul::session::OpenError;
use longhaul_core::engine::{CompactRequest, CompactionSuccess, Summarizer, SummaryReply};
use longhaul_core::figures::grouped;
use longhaul_core::history::SummaryRequestOutcome;
use longhaul_core::message::Entry;
use longhaul_core::report::ViewTokens;
use longhaul_core::rounds::ViewPiece;
use longhaul_core::summary::{SummaryReplyText, read};

pub use drafter::summarize;
use drafter::{first_that_works, open, request};
pub use error::DraftError;
pub use fork::fork_message;
pub(super) use fork::user_element;

use super::entries::ConversationEntries;
use super::settings::CompactorSettings;
use super::weight::ConversationTokenCount;
use super::{CompactableConversation, CompactedDraft};
use crate::store::CompactedPrefixKind;

fn threshold(
    conversation: &CompactableConversation,
    settings: &CompactorSettings,
) -> Result<u64, OpenError> {
    Ok(settings.window(&conversation.model)?.auto_compact)
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
        let message = format!("{} tokens would become {}", grouped(before), grouped(after));
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
