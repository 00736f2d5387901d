//! Whether a conversation can be compacted by its notes, and what then stands in it (S6, S7).
//!
//! Decides only. Waiting for notes that are being taken comes before it ([`Trigger::wait`](super::Trigger::wait)); the
//! boundary, the summary message and what is put back are made as for any other compaction.

use std::ops::Range;

use super::{KeepWindow, NotesCaps, NotesTemplate, SessionNotes, WeighedEntry, keep, shortened};
use crate::message::Id;
use crate::rounds::ViewPiece;
use crate::summary::{CompactionScope, PivotDirection};
use crate::tokens::{Estimate, RoughEstimator};

/// What the decision is made from.
#[derive(Debug, Clone, Copy)]
pub struct NotesPlanInput<'a> {
    /// The notes; none if there is no file.
    pub notes: Option<&'a SessionNotes>,
    /// What they began as.
    pub template: &'a NotesTemplate,
    /// Where the file lies, as the model is told.
    pub path: &'a str,
    /// The last entry that they cover.
    pub last_summarised: Option<Id>,
    /// The live view.
    pub pieces: &'a [ViewPiece],
    /// The same entries, in the same order.
    pub entries: &'a [WeighedEntry],
    /// What else will be in the window: head, facts, what is put back, the words around the summary.
    pub beside: Estimate,
    /// Where automatic compaction begins. The result must stay under it, or it would begin again at once.
    pub threshold: u64,
    /// How large sections may be.
    pub caps: NotesCaps,
    /// How much is kept.
    pub keep: KeepWindow,
}

/// What the notes are good for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotesPlan {
    /// They can stand for the older part of the conversation.
    Applicable(NotesReplacement),
    /// They cannot; a full compaction is needed.
    NotApplicable(NotesSkipReason),
}

/// A compaction by notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotesReplacement {
    /// The first entry of the view that is kept; all behind it are, too.
    pub keep_from: usize,
    /// What stands for those before it.
    pub summary_text: String,
    /// Sections that had to be cut.
    pub cut: Vec<String>,
    /// Tokens in the window afterwards, estimated.
    pub after: u64,
}

/// Why notes do not apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotesSkipReason {
    /// There is no file.
    #[error("there are no notes")]
    NoFile,
    /// Nothing is noted in it.
    #[error("nothing was noted yet")]
    UntouchedTemplate,
    /// It is not known which part of the conversation they cover.
    #[error("it is not known how far the notes reach")]
    UnknownLastSummarised,
    /// All that is in view would be kept, or it would weigh no less afterwards.
    #[error("compacting by the notes would save nothing")]
    NothingToGain,
    /// The result would be compacted again at once.
    #[error(
        "the notes with what they do not cover would take {after} tokens, and automatic compaction begins at {threshold}"
    )]
    OverThreshold {
        /// Tokens afterwards.
        after: u64,
        /// The threshold.
        threshold: u64,
    },
}

impl NotesPlan {
    /// Decides.
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
    let covered = planning.last_summarised.and_then(|last| {
        let is_last = |entry: &WeighedEntry| entry.uuid == Some(last);
        entries.iter().rposition(is_last)
    });
    let unsummarised = covered.ok_or(NotesSkipReason::UnknownLastSummarised)? + 1;
    let keep_from = keep::keep_from(planning, unsummarised);
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
    if text >= weight(scope.summarised) {
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
