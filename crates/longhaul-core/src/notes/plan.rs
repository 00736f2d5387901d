//! Decides whether a conversation can be compacted by its notes, and what it then contains (S6, S7).
//!
//! This module only decides. Waiting for notes that are being taken happens before
//! ([`NotesTrigger::wait`](super::NotesTrigger::wait)); the boundary, the summary message and the restored context are
//! made as for any other compaction.

use std::ops::Range;

use super::{KeepWindow, NotesCaps, NotesTemplate, SessionNotes, WeighedEntry, keep, shortened};
use crate::figures::grouped;
use crate::message::Id;
use crate::rounds::ViewPiece;
use crate::summary::{CompactionScope, PivotDirection};
use crate::tokens::{Estimate, RoughEstimator};

/// The inputs of the decision.
#[derive(Debug, Clone, Copy)]
pub struct NotesPlanInput<'a> {
    /// The notes; `None` if there is no file.
    pub notes: Option<&'a SessionNotes>,
    /// The template that the notes began with.
    pub template: &'a NotesTemplate,
    /// The path of the notes file, as the model is told.
    pub path: &'a str,
    /// The last entry that the notes cover.
    pub last_summarized: Option<Id>,
    /// The pieces of the live view.
    pub pieces: &'a [ViewPiece],
    /// The entries of the live view, in the same order.
    pub entries: &'a [WeighedEntry],
    /// The weight of everything else in the window: request prefix, facts, restored context, the text around the
    /// summary.
    pub beside: Estimate,
    /// The threshold of automatic compaction. The result must stay below it, or compaction would begin again at once.
    pub threshold: u64,
    /// The maximum size of sections.
    pub caps: NotesCaps,
    /// How much is kept.
    pub keep: KeepWindow,
}

/// Whether the notes can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotesPlan {
    /// The notes can replace the older part of the conversation.
    Applicable(NotesReplacement),
    /// The notes cannot be used; a full compaction is needed.
    NotApplicable(NotesSkipReason),
}

/// A compaction by notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotesReplacement {
    /// The index of the first entry of the view that is kept, together with all entries after it.
    pub keep_from: usize,
    /// The text that replaces the entries before it.
    pub summary_text: String,
    /// The titles of the sections that had to be cut.
    pub cut: Vec<String>,
    /// The estimated tokens in the window afterwards.
    pub after: u64,
}

/// Why notes cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotesSkipReason {
    /// There is no notes file.
    #[error("there are no notes")]
    NoFile,
    /// The notes are still the untouched template.
    #[error("nothing was noted yet")]
    UntouchedTemplate,
    /// It is not known which part of the conversation the notes cover.
    #[error("it is not known how far the notes reach")]
    UnknownLastSummarized,
    /// Everything in view would be kept, or the view would weigh no less afterwards.
    #[error("compacting by the notes would save nothing")]
    NothingToGain,
    /// The result would be compacted again at once.
    #[error(
        "the notes with what they do not cover would take {} tokens, and automatic compaction begins at {}",
        grouped(*.after), grouped(*.threshold)
    )]
    OverThreshold {
        /// The tokens in the window afterwards.
        after: u64,
        /// The threshold of automatic compaction.
        threshold: u64,
    },
}

impl NotesPlan {
    /// Decides whether the notes can be used.
    pub fn of(planning: &NotesPlanInput<'_>) -> Self {
        match replacement(planning) {
            Ok(replacement) => Self::Applicable(replacement),
            Err(reason) => Self::NotApplicable(reason),
        }
    }
}

fn replacement(planning: &NotesPlanInput<'_>) -> Result<NotesReplacement, NotesSkipReason> {
    let notes = planning.notes.ok_or(NotesSkipReason::NoFile)?;
    if planning.template.is_untouched(notes) {
        return Err(NotesSkipReason::UntouchedTemplate);
    }
    let entries = planning.entries;
    let covered = planning.last_summarized.and_then(|last| {
        let is_last = |entry: &WeighedEntry| entry.uuid == Some(last);
        entries.iter().rposition(is_last)
    });
    let unsummarized = covered.ok_or(NotesSkipReason::UnknownLastSummarized)? + 1;
    let keep_from = keep::keep_from(planning.pieces, entries, planning.keep, unsummarized);
    let scope = CompactionScope::partial(planning.pieces, keep_from, PivotDirection::UpTo);
    if scope.messages(planning.pieces) == 0 {
        return Err(NotesSkipReason::NothingToGain);
    }
    let notes = shortened(notes, planning.caps, planning.path);
    let weight = |part: Range<usize>| -> Estimate {
        let part = entries.get(part).unwrap_or_default();
        part.iter().map(|entry| entry.weight).sum()
    };
    let text = RoughEstimator::text(&notes.text);
    if text >= weight(scope.summarized) {
        return Err(NotesSkipReason::NothingToGain);
    }
    let after = (text + weight(scope.kept) + planning.beside).padded();
    if after >= planning.threshold {
        let threshold = planning.threshold;
        return Err(NotesSkipReason::OverThreshold { after, threshold });
    }
    Ok(NotesReplacement {
        keep_from,
        summary_text: notes.text,
        cut: notes.cut,
        after,
    })
}
