//! How large notes may grow (S4). Nothing is cut to fit: the next time notes are taken, the model is asked to condense
//! them.

use super::SessionNotes;
use crate::tokens::RoughEstimator;
use crate::window::WindowScale;

/// The maximum size of notes in tokens (T2, not padded: a token is four characters).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotesCaps {
    /// The maximum size of a section's body.
    pub section: u64,
    /// The maximum size of the whole file.
    pub total: u64,
}

/// A section that is larger than it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapExcess {
    /// The section's title.
    pub title: String,
    /// The tokens in the section's body.
    pub tokens: u64,
}

/// The parts of notes that exceed their caps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotesExcess {
    /// The sections that are too large, in order.
    pub sections: Vec<CapExcess>,
    /// The tokens in the file, if there are too many.
    pub total: Option<u64>,
}

impl NotesCaps {
    /// Returns the caps in a window of this scale (H7).
    pub fn at(scale: WindowScale) -> Self {
        Self {
            section: scale.apply(2_000),
            total: scale.apply(12_000),
        }
    }

    /// Returns the parts of the notes that exceed these caps.
    pub fn over(self, notes: &SessionNotes) -> NotesExcess {
        let weighed = notes.sections().map(|section| CapExcess {
            title: section.title.to_owned(),
            tokens: RoughEstimator::text(section.body).unpadded(),
        });
        let total = RoughEstimator::text(notes.text()).unpadded();
        NotesExcess {
            sections: weighed.filter(|one| one.tokens > self.section).collect(),
            total: (total > self.total).then_some(total),
        }
    }
}
