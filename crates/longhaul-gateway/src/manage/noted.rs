//! Session notes become the summary of the older part of a conversation, and no model is asked (S6, S7). What they do not
//! cover stays as the client sends it, and so does enough before that to go on from.

use bytes::Bytes;
use longhaul_core::message::Entry;
use longhaul_core::notes::{
    Caps, KeepWindow, Notes, NotesPlan, Planning, Reason, Template, Weighed,
};
use longhaul_core::rounds::Piece;
use longhaul_core::tokens::{Estimate, Ledger, Rough, Standing};
use longhaul_core::window::WindowError;

use super::care::Care;
use super::clear::without_results;
use super::entries::{Entries, Unreadable};
use super::material::{Cut, Material};
use super::sending::position;
use super::settings::Settings;
use super::summarise::{self, NotDrafted};
use super::{Draft, Talk};
use crate::store::Kind;

/// Where a section's rest is, as the model is told when one is cut. It can be had nowhere, so no file is named.
const REST: &str = "notes that are not shown";

/// Why notes do not stand for a conversation: a summary is needed.
#[derive(Debug, thiserror::Error)]
pub enum NotNoted {
    /// They do not apply.
    #[error(transparent)]
    Reason(#[from] Reason),
    /// A part of the conversation cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The window is too small to be managed.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// What came of them cannot be used.
    #[error(transparent)]
    NotDrafted(#[from] NotDrafted),
}

/// The conversation with its notes in place of its older part. They cover its elements up to `covered`, that included.
pub async fn noted(
    talk: &Talk,
    notes: &str,
    covered: usize,
    settings: &Settings,
) -> Result<Draft, NotNoted> {
    let cleared = talk.cleared.iter().map(String::as_str).collect();
    let elements = talk.elements.iter();
    // As it is sent.
    let shown: Vec<Bytes> = elements
        .map(|element| without_results(talk.dialect, element, &cleared))
        .collect();
    let sent = Talk {
        elements: shown,
        cleared: Vec::new(),
        ..talk.clone()
    };
    let read = Entries::of(&sent, None, settings.now)?;
    let weights: Vec<Estimate> = read.entries.iter().map(weight).collect();
    let (summary, from) = planned(talk, notes, covered, &read, &weights, settings)?;
    let (Some(older), Some(rest)) = (talk.elements.get(..from), sent.elements.get(from..)) else {
        return Err(Reason::NothingToGain.into());
    };
    let is_kept = |call: &String| {
        let call = memchr::memmem::Finder::new(call.as_bytes());
        rest.iter().any(|element| call.find(element).is_some())
    };
    let (kept, gone) = talk.cleared.iter().cloned().partition(is_kept);
    let older = Talk {
        elements: older.to_vec(),
        cleared: gone,
        measured: None,
        ..talk.clone()
    };
    let draft = summarise::given(talk, &older, summary, rest, settings).await?;
    Ok(Draft {
        kind: Kind::Noted,
        talk: Talk {
            elements: rest.to_vec(),
            cleared: kept,
            ..draft.talk
        },
        ..draft
    })
}

impl Care {
    /// The session's notes in place of what they cover, if there are any (S6).
    pub(super) async fn by_notes(
        &self,
        material: &Material,
        cut: &Cut,
        settings: &Settings,
    ) -> Option<Draft> {
        let desk = self.notes.as_ref()?;
        let line = material.placed.line;
        desk.taken(line).await;
        let found = desk.find(material).await;
        let notes = found.unwrap_or_else(|error| {
            tracing::warn!(%error, %line, "notes cannot be looked up");
            None
        })?;
        // What is summed up already and is not in the notes would be lost.
        let covered = position(&material.recognised, notes.at)?.checked_sub(cut.from)?;
        let covered = covered.min(cut.talk.elements.len().checked_sub(1)?);
        let drafted = noted(&cut.talk, &notes.text, covered, settings).await;
        drafted
            .inspect_err(|why| tracing::debug!(%why, %line, "notes are not used"))
            .ok()
    }
}

/// The notes as a summary, and the first element that is kept.
fn planned(
    talk: &Talk,
    notes: &str,
    covered: usize,
    read: &Entries,
    weights: &[Estimate],
    settings: &Settings,
) -> Result<(String, usize), NotNoted> {
    let window = settings.window(&talk.model)?;
    let pieces: Vec<Piece> = (read.entries.iter())
        .map(|entry| Piece::of_view(entry.view()))
        .collect();
    let entries: Vec<Weighed> = (read.entries.iter().zip(weights))
        .map(|(entry, weight)| Weighed::of_view(entry.view(), *weight))
        .collect();
    let last = read.entries.get(read.earlier + covered);
    let plan = NotesPlan::of(&Planning {
        notes: Some(&Notes::parse(notes)),
        template: &Template::default(),
        path: REST,
        last_summarised: last.and_then(|last| last.view().uuid()),
        pieces: &pieces,
        entries: &entries,
        beside: Estimate::new(settings.before_messages),
        threshold: window.auto_compact,
        caps: Caps::at(window.scale()),
        keep: KeepWindow::at(window.scale()),
    });
    match plan {
        NotesPlan::NotApplicable(reason) => Err(reason.into()),
        NotesPlan::Applicable(replacement) => {
            // An element is an entry; what was summed up before is not kept as it was.
            let from = replacement.keep_from.checked_sub(read.earlier);
            let from = from.filter(|from| *from > 0);
            let from = from.ok_or(Reason::NothingToGain)?;
            Ok((replacement.summary_text, from))
        }
    }
}

/// What an entry weighs in a request.
fn weight(entry: &Entry) -> Estimate {
    let mut ledger = Ledger::new();
    ledger.entry(entry.view(), Standing::Live, &Rough);
    ledger.whole()
}
