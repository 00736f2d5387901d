//! Turns session notes into the summary of the older part of a conversation, without asking a model (S6, S7). What they
//! do not cover stays as the client sends it, together with enough before it to continue from.

use bytes::Bytes;
use longhaul_core::message::Entry;
use longhaul_core::notes::{
    KeepWindow, NotesCaps, NotesPlan, NotesPlanInput, NotesSkipReason, NotesTemplate, SessionNotes,
    WeighedEntry,
};
use longhaul_core::rounds::ViewPiece;
use longhaul_core::tokens::{EntryStanding, Estimate, TokenLedger};
use longhaul_core::window::WindowError;

use super::cleared_results::without_results;
use super::compactor::Compactor;
use super::conversation_cut::ConversationCut;
use super::entries::{ConversationEntries, UnreadableConversation};
use super::occasion::RequestPatience;
use super::request_context::RequestContext;
use super::settings::CompactorSettings;
use super::summarize::{self, DraftError};
use super::{CompactableConversation, CompactedDraft};
use crate::store::CompactedPrefixKind;

/// Where the rest of a shortened section is, as told to the model. It is not available anywhere, so no file is named.
const REST: &str = "notes that are not shown";

/// Why notes cannot replace a part of a conversation: a summary is needed.
#[derive(Debug, thiserror::Error)]
pub enum NotesUnusable {
    /// The notes do not apply.
    #[error(transparent)]
    Reason(#[from] NotesSkipReason),
    /// A part of the conversation cannot be read.
    #[error(transparent)]
    Unreadable(#[from] UnreadableConversation),
    /// The window is too small to be managed.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// The result cannot be used.
    #[error(transparent)]
    NotDrafted(#[from] DraftError),
}

/// The conversation with its notes instead of its older part. They cover its elements up to and including `covered`.
pub async fn draft_from_notes(
    conversation: &CompactableConversation,
    notes: &str,
    covered: usize,
    settings: &CompactorSettings,
) -> Result<CompactedDraft, NotesUnusable> {
    let cleared = conversation.cleared.iter().map(String::as_str).collect();
    let elements = conversation.elements.iter();
    // The elements as they are sent.
    let shown: Vec<Bytes> = elements
        .map(|element| without_results(conversation.dialect, element, &cleared))
        .collect();
    let sent = CompactableConversation {
        elements: shown,
        cleared: Vec::new(),
        ..conversation.clone()
    };
    let read = ConversationEntries::of(&sent, None, settings.now)?;
    let weights: Vec<Estimate> = read.entries.iter().map(weight).collect();
    let (summary, from) = planned(conversation, notes, covered, &read, &weights, settings)?;
    let (Some(older), Some(rest)) = (conversation.elements.get(..from), sent.elements.get(from..))
    else {
        return Err(NotesSkipReason::NothingToGain.into());
    };
    let is_kept = |call: &String| {
        let call = memchr::memmem::Finder::new(call.as_bytes());
        rest.iter().any(|element| call.find(element).is_some())
    };
    let (kept, gone) = conversation.cleared.iter().cloned().partition(is_kept);
    let older = CompactableConversation {
        elements: older.to_vec(),
        cleared: gone,
        measured: None,
        ..conversation.clone()
    };
    let draft = summarize::given(conversation, &older, summary, rest, settings).await?;
    Ok(CompactedDraft {
        kind: CompactedPrefixKind::Noted,
        conversation: CompactableConversation {
            elements: rest.to_vec(),
            cleared: kept,
            ..draft.conversation
        },
        ..draft
    })
}

impl Compactor {
    /// Drafts the conversation with the session's notes instead of what they cover, if there are notes (S6).
    pub(super) async fn by_notes(
        &self,
        context: &RequestContext,
        cut: &ConversationCut,
        settings: &CompactorSettings,
        patience: RequestPatience,
    ) -> Option<CompactedDraft> {
        let notes = self.notes.as_ref()?;
        let line = context.placed.line;
        // Where that takes too long, the existing notes will do.
        patience.within(notes.taken(line, self.clock.now())).await;
        let found = notes.find(context).await;
        let notes = found.unwrap_or_else(|error| {
            tracing::warn!(%error, %line, "notes cannot be looked up");
            None
        })?;
        // Otherwise, what was summarized before and is not in the notes would be lost.
        let covered = context
            .messages
            .recognized
            .position(notes.at)?
            .checked_sub(cut.from)?;
        let covered = covered.min(cut.conversation.elements.len().checked_sub(1)?);
        let drafted = draft_from_notes(&cut.conversation, &notes.text, covered, settings).await;
        drafted
            .inspect_err(|why| tracing::debug!(%why, %line, "notes are not used"))
            .ok()
    }
}

/// The notes as a summary, and the first element that is kept.
fn planned(
    conversation: &CompactableConversation,
    notes: &str,
    covered: usize,
    read: &ConversationEntries,
    weights: &[Estimate],
    settings: &CompactorSettings,
) -> Result<(String, usize), NotesUnusable> {
    let window = settings.window(&conversation.model)?;
    let pieces: Vec<ViewPiece> = (read.entries.iter())
        .map(|entry| ViewPiece::of_view(entry.view()))
        .collect();
    let entries: Vec<WeighedEntry> = (read.entries.iter().zip(weights))
        .map(|(entry, weight)| WeighedEntry::of_view(entry.view(), *weight))
        .collect();
    let last = read.entries.get(read.earlier + covered);
    let plan = NotesPlan::of(&NotesPlanInput {
        notes: Some(&SessionNotes::parse(notes)),
        template: &NotesTemplate::default(),
        path: REST,
        last_summarized: last.and_then(|last| last.view().uuid()),
        pieces: &pieces,
        entries: &entries,
        beside: Estimate::new(settings.before_messages),
        threshold: window.auto_compact,
        caps: NotesCaps::at(window.scale()),
        keep: KeepWindow::at(window.scale()),
    });
    match plan {
        NotesPlan::NotApplicable(reason) => Err(reason.into()),
        NotesPlan::Applicable(replacement) => {
            // An element is one entry; what was summarized before is not kept as it was.
            let from = replacement.keep_from.checked_sub(read.earlier);
            let from = from.filter(|from| *from > 0);
            let from = from.ok_or(NotesSkipReason::NothingToGain)?;
            Ok((replacement.summary_text, from))
        }
    }
}

/// The estimated tokens of an entry in a request.
fn weight(entry: &Entry) -> Estimate {
    let mut ledger = TokenLedger::new();
    ledger.entry(entry.view(), EntryStanding::Live);
    ledger.whole()
}
