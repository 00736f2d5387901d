//! Reads from a file how its conversation was rendered, so that it can be rendered again to the byte (Y2).
//!
//! The inputs are the live view and the newest prefix entry. [`RequestAssembly`](super::RequestAssembly) renders the
//! bytes.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::{RequestPrefix, UnreadablePrefix};
use crate::message::{EntryKind, EntryView, Id, Subtype};
use crate::micro::CacheEditState;

/// The parts of a rendering, as a file records them.
#[derive(Debug, Clone)]
pub struct RenderingReplay {
    /// The newest request prefix.
    pub prefix: RequestPrefix,
    /// The entries that existed when the rendering began, as indices into the view, in its order.
    pub history: Vec<usize>,
    /// The entries that came one by one, in the order of the file.
    pub pushed: Vec<usize>,
    /// Whether the rendering can continue.
    pub standing: PrefixValidity,
    /// The calls whose results its requests ask the provider to drop from its cache, in order (U4).
    pub cache_edits: Vec<String>,
}

impl RenderingReplay {
    /// Returns the field that the requests carry beside the prefix's fields, in an object of its own.
    pub fn more_fields(&self) -> Option<Box<RawValue>> {
        if self.prefix.latched.cache_references {
            CacheEditState::of(&self.cache_edits).field()
        } else {
            None
        }
    }
}

/// Whether the next rendering can use the newest prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrefixValidity {
    /// The prefix is valid: the next request continues the last one.
    Goes,
    /// After the prefix was written, another program compacted, cleared or rewound the conversation, or Longhaul did so
    /// just before a crash: a new rendering begins and writes its own prefix.
    Outdated,
}

/// An entry of a file.
#[derive(Debug, Clone, Copy)]
pub struct PlacedEntry<'a> {
    /// The offset at which the entry's line begins.
    pub offset: u64,
    /// The entry.
    pub entry: EntryView<'a>,
}

impl RenderingReplay {
    /// Reads the newest prefix entry together with the live view.
    ///
    /// # Errors
    /// Fails if the prefix entry lacks a part; the error names it.
    pub fn of(head: PlacedEntry<'_>, view: &[PlacedEntry<'_>]) -> Result<Self, UnreadablePrefix> {
        let mut replay = Self {
            prefix: RequestPrefix::from_entry(head.entry)?,
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
        // The rendering began with another conversation: since then, this one was resumed from an earlier point.
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
                // What a new rendering sends is not in any cache.
                replay.cache_edits.clear();
            }
        }
        Ok(replay)
    }
}

/// What the boundaries of a view say about its rendering.
#[derive(Debug, Default)]
pub(super) struct BoundaryEffects {
    /// Results and attachments that were cleared.
    pub(super) cleared: Vec<Id>,
    /// The uuid up to which thinking is not sent, from the newest boundary that names one.
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

/// Whether an entry changes messages that were sent before it.
pub(super) fn is_boundary(entry: EntryView<'_>) -> bool {
    // Cache edits leave sent messages unchanged (U4).
    entry.facets.kind == EntryKind::System
        && entry.facets.subtype != Subtype::Other
        && entry.cache_edits().is_none()
}
