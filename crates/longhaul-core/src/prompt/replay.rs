//! What a file says about how its conversation was rendered, so that it can be rendered again to the byte (Y2).
//!
//! Fed with the live view and the newest head. Which bytes that gives is for [`Assembly`](super::Assembly).

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::{RequestPrefix, UnreadablePrefix};
use crate::message::{EntryKind, EntryView, Id, Subtype};
use crate::micro::CacheEditState;

/// The parts of a rendering, as a file tells them.
#[derive(Debug, Clone)]
pub struct RenderingReplay {
    /// The newest head.
    pub head: RequestPrefix,
    /// The entries that were there when the rendering began, as indices into the view, in its order.
    pub history: Vec<usize>,
    /// The entries that came one by one, in the order in which they came: that of the file.
    pub pushed: Vec<usize>,
    /// Whether the rendering goes on.
    pub standing: PrefixValidity,
    /// The calls whose results its requests ask the provider to leave out of its cache, in order (U4).
    pub cache_edits: Vec<String>,
}

impl RenderingReplay {
    /// The field that its requests carry beside the head's, in an object of its own.
    pub fn more_fields(&self) -> Option<Box<RawValue>> {
        if self.head.latched.cache_references {
            CacheEditState::of(&self.cache_edits).field()
        } else {
            None
        }
    }
}

/// Whether the newest head is that of the rendering to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrefixValidity {
    /// It is: the next request continues the last one.
    Goes,
    /// The conversation was compacted, cleared or rewound behind it, by another program or just before a crash: a new
    /// rendering begins, and writes its head.
    Outdated,
}

/// An entry of a file.
#[derive(Debug, Clone, Copy)]
pub struct PlacedEntry<'a> {
    /// Where its line begins.
    pub offset: u64,
    /// The entry.
    pub entry: EntryView<'a>,
}

impl RenderingReplay {
    /// Reads the newest head against the live view.
    pub fn of(head: PlacedEntry<'_>, view: &[PlacedEntry<'_>]) -> Result<Self, UnreadablePrefix> {
        let mut replay = Self {
            head: RequestPrefix::from_entry(head.entry)?,
            history: Vec::new(),
            pushed: Vec::new(),
            standing: PrefixValidity::Goes,
            cache_edits: Vec::new(),
        };
        for (index, placed) in view.iter().enumerate() {
            if placed.offset < head.offset {
                replay.history.push(index);
                continue;
            }
            replay.pushed.push(index);
            if is_boundary(placed.entry) {
                replay.standing = PrefixValidity::Outdated;
            }
            if let Some(edits) = placed.entry.cache_edits() {
                replay.cache_edits = edits.into_iter().map(Cow::into_owned).collect();
            }
        }
        // The rendering began with another conversation: this one was taken up from an earlier point since.
        let newest = replay
            .history
            .iter()
            .rev()
            .find_map(|index| view[*index].entry.uuid());
        let through = head.entry.history_through();
        if through.is_some_and(|through| newest != Some(Id::of(&through))) {
            replay.standing = PrefixValidity::Outdated;
        }
        match replay.standing {
            PrefixValidity::Goes => replay.pushed.sort_by_key(|index| view[*index].offset),
            PrefixValidity::Outdated => {
                replay.history = (0..view.len()).collect();
                replay.pushed.clear();
                // What a new rendering sends is in no cache.
                replay.cache_edits.clear();
            }
        }
        Ok(replay)
    }
}

/// What the boundaries of a view say about how it is rendered.
#[derive(Debug, Default)]
pub(super) struct BoundaryEffects {
    /// Results and attachments that were cleared.
    pub(super) cleared: Vec<Id>,
    /// The uuid up to which thinking is not sent; the latest word on it.
    pub(super) stripped: Option<String>,
}

impl BoundaryEffects {
    pub(super) fn of<'a>(view: impl Iterator<Item = EntryView<'a>>) -> Self {
        let mut boundaries = Self::default();
        for entry in view.filter(|entry| is_boundary(*entry)) {
            let metadata = entry.object(entry.facets.metadata);
            boundaries.cleared.extend(entry.cleared());
            if let Some(uuid) = metadata.string("thinkingStrippedThrough") {
                boundaries.stripped = Some(uuid.into_owned());
            }
        }
        boundaries
    }
}

/// Whether an entry changes what was sent before it.
pub(super) fn is_boundary(entry: EntryView<'_>) -> bool {
    // Cache edits leave what was sent as it is (U4).
    entry.facets.kind == EntryKind::System
        && entry.facets.subtype != Subtype::Other
        && entry.cache_edits().is_none()
}
