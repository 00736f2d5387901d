//! Where a partial compaction divides a recording: at an entry's id, or so that a number of newest messages stays.

use longhaul_core::engine::Pivot;
use longhaul_core::message::EntryView;
use longhaul_core::rounds::{ViewPiece, message_begins};
use longhaul_core::summary::PivotDirection;

use super::RecordedTranscript;

/// An id that does not name one entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PivotError {
    /// No entry in view has this id.
    #[error("no entry in view has an id that begins with {0:?}")]
    Unknown(String),
    /// Several entries in view have it.
    #[error("{count} entries in view have an id that begins with {id:?}")]
    Ambiguous {
        /// The id that was given.
        id: String,
        /// The number of entries.
        count: usize,
    },
    /// The conversation is not longer than the part that is to stay.
    #[error("the conversation has only {0} messages")]
    Short(usize),
}

impl RecordedTranscript {
    /// The pivot that an id, or the beginning of one, names.
    ///
    /// # Errors
    /// Fails if no message in view, or more than one, has such an id.
    pub fn pivot(&self, id: &str, direction: PivotDirection) -> Result<Pivot, PivotError> {
        let uuid = |view: EntryView<'_>| view.text(view.facets.uuid).into_owned();
        let uuids: Vec<String> = self.views().map(uuid).collect();
        let exact = uuids.iter().find(|uuid| *uuid == id);
        let mut begun = uuids
            .iter()
            .filter(|uuid| uuid.starts_with(id) && !id.is_empty());
        let found = match (exact, begun.next(), begun.count()) {
            (Some(uuid), _, _) | (None, Some(uuid), 0) => uuid,
            (None, Some(_), more) => {
                return Err(PivotError::Ambiguous {
                    id: id.to_owned(),
                    count: more + 1,
                });
            }
            (None, None, _) => return Err(PivotError::Unknown(id.to_owned())),
        };
        Ok(Pivot {
            uuid: found.clone(),
            direction,
        })
    }

    /// The pivot after which this many messages follow, as a request holds them and `inspect` counts them: everything
    /// from the user's side up to the next reply is one message, and so are the lines of a reply.
    ///
    /// # Errors
    /// Fails if the view does not hold more messages than that.
    pub fn keep_last(&self, messages: usize) -> Result<Pivot, PivotError> {
        let views: Vec<EntryView<'_>> = self.views().collect();
        let pieces: Vec<ViewPiece> = views.iter().map(|view| ViewPiece::of_view(*view)).collect();
        let begins = message_begins(&pieces);
        match begins.len().checked_sub(messages) {
            Some(at @ 1..) => Ok(Pivot {
                uuid: views[begins[at]]
                    .text(views[begins[at]].facets.uuid)
                    .into_owned(),
                direction: PivotDirection::UpTo,
            }),
            _ => Err(PivotError::Short(begins.len())),
        }
    }

    fn views(&self) -> impl DoubleEndedIterator<Item = EntryView<'_>> {
        let views = self.resumed.entries.iter().map(|entry| entry.view());
        views.filter(|view| view.facets.uuid.is_present())
    }
}
