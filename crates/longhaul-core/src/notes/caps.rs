//! How large notes may grow (S4). Nothing is cut for it: the next time they are taken, the model is asked to condense.

use super::SessionNotes;
use crate::tokens::RoughEstimator;
use crate::window::WindowScale;

/// The most that notes should hold, in tokens (T2, not padded: a token is four characters).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotesCaps {
    /// In the body of a section.
    pub section: u64,
    /// In the whole file.
    pub total: u64,
}

/// Something that is larger than it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapExcess {
    /// The section's title.
    pub title: String,
    /// What its body holds.
    pub tokens: u64,
}

/// What in notes is over its cap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotesExcess {
    /// Sections, in their order.
    pub sections: Vec<CapExcess>,
    /// What the file holds, if that is too much.
    pub total: Option<u64>,
}

impl NotesCaps {
    /// The caps in a window of this scale (H7).
    pub fn at(scale: WindowScale) -> Self {
        Self {
            section: scale.apply(2_000),
            total: scale.apply(12_000),
        }
    }

    /// What is over them.
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
