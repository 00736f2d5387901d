//! Results that are sent in a smaller form than the one they came in (V8).
//!
//! The line of a result keeps the result as it came, in `message`, for every reader. Its field `reducedResults` says what
//! is sent instead, as text, and which other result that text refers to. The line is written before the result is first
//! sent, so a rendering is a function of the file alone (M7), and whatever happens to the line (a rewind, a fork, a copy
//! by an undo, a compaction that keeps it) happens to both.
//!
//! [`ReductionStanding`] knows which of them are sent as their originals, because the result that they refer to is no
//! longer in view.

use serde::Serialize;

use super::{BlockKind, EntryFacets, EntryKind, EntryView, Id};
use crate::hash::{Map, Set};
use crate::json::{JsonCursor, ObjectReader, content, items};

/// The form in which a result is sent, as its line records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedReduction<'a> {
    /// The call that the result answers.
    pub call: Id,
    /// The call whose result the text refers to. `None` if the text stands for itself.
    pub base: Option<Id>,
    /// The text that is sent, as the content of a JSON string literal.
    pub literal: &'a [u8],
}

/// One item of `reducedResults`, ready to be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReductionRecord {
    /// The id of the call.
    pub tool_use_id: String,
    /// How the result was made smaller.
    pub kind: &'static str,
    /// The id of the call whose result the text refers to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refers_to: Option<String>,
    /// The text that is sent.
    pub content: String,
}

impl<'a> EntryView<'a> {
    /// The results of the entry that are sent in a smaller form, unless that refers to a result that is not in view.
    pub fn reductions(self) -> Vec<RecordedReduction<'a>> {
        if self.facets.kind != EntryKind::User || !self.facets.metadata.is_present() {
            return Vec::new();
        }
        let listed = items(self.facets.metadata.of(self.line)).unwrap_or_default();
        let read = listed.into_iter().filter_map(|item| {
            let object = ObjectReader::new(item);
            Some(RecordedReduction {
                call: Id::of(&object.string("tool_use_id")?),
                base: object.string("refers_to").map(|id| Id::of(&id)),
                literal: content(object.get("content")?)?,
            })
        });
        // A call has one result, and one that failed is never made smaller.
        read.filter(|reduced| self.reducible(reduced.call).is_some())
            .collect()
    }

    /// The index of the block that answers a call, if it may be sent in a smaller form.
    fn reducible(self, call: Id) -> Option<usize> {
        let mut blocks = self.facets.blocks.iter();
        let at = blocks.position(|block| {
            block.kind == BlockKind::ToolResult
                && !block.inner
                && self.block_id(block) == Some(call)
        })?;
        (!self.facets.blocks[at].is_error).then_some(at)
    }
}

/// Counts reduced results by what is sent for them: sets the sizes of their blocks.
pub(super) fn measure_reduced(line: &[u8], facets: &mut EntryFacets) {
    let view = facets.view(line);
    let sizes: Vec<(usize, u32)> = view
        .reductions()
        .into_iter()
        .filter_map(|reduced| {
            let at = view.reducible(reduced.call)?;
            let literal = crate::json::enclose(reduced.literal);
            let units = JsonCursor::new(&literal).string().ok()?.utf16;
            Some((at, u32::try_from(units).unwrap_or(u32::MAX)))
        })
        .collect();
    for (at, units) in sizes {
        facets.blocks[at].units = units;
        facets.blocks[at].has_inner = false;
    }
}

/// A result whose form in requests changed because another one left the view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReductionChange {
    /// The call that the result answers.
    pub call: Id,
    /// How the result is sent from now on.
    pub sent: SentForm,
}

/// How a result is sent that was recorded in a smaller form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SentForm {
    /// In the smaller form.
    Reduced,
    /// As it came.
    Original,
}

#[derive(Debug, Clone, Copy)]
struct ReferringResult {
    call: Id,
    base: Id,
    sent: SentForm,
}

/// Follows the results of a view, and knows which reduced ones are sent as their originals: of those that refer to a
/// result that is not in view, the newest (V8).
#[derive(Debug, Clone, Default)]
pub struct ReductionStanding {
    /// Where the result of each call is, for calls that are in view and results that were cleared.
    places: Map<Id, ResultPlace>,
    /// Results that refer to another one, in the order of the view.
    referring: Vec<ReferringResult>,
    /// Reduced results that refer to no other.
    shortened: Set<Id>,
}

/// Where the result of a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResultPlace {
    /// It has not come yet.
    Awaited,
    InView,
    /// It was cleared, even if it comes later.
    Cleared,
}

impl ResultPlace {
    /// The result has come.
    fn came(&mut self) {
        if *self == Self::Awaited {
            *self = Self::InView;
        }
    }
}

impl ReductionStanding {
    /// Takes the next entry of the view. Returns the results whose form changes, the entry's own included if they are
    /// sent as their originals.
    pub fn entry(&mut self, entry: EntryView<'_>) -> Vec<ReductionChange> {
        if entry.facets.subtype == super::Subtype::MicrocompactBoundary {
            return match entry.cache_edits() {
                Some(_) => Vec::new(),
                None => self.clear(&entry.cleared()),
            };
        }
        let outer = entry.facets.blocks.iter().filter(|block| !block.inner);
        let blocks = |kind| outer.clone().filter(move |block| block.kind == kind);
        if entry.facets.is_reply() {
            for call in blocks(BlockKind::ToolUse).filter_map(|block| entry.block_id(block)) {
                self.places.entry(call).or_insert(ResultPlace::Awaited);
            }
        }
        if entry.facets.kind != EntryKind::User {
            return Vec::new();
        }
        let bases: Map<Id, Option<Id>> = (entry.reductions().into_iter())
            .map(|reduced| (reduced.call, reduced.base))
            .collect();
        let mut changes = Vec::new();
        for call in blocks(BlockKind::ToolResult).filter_map(|block| entry.block_id(block)) {
            // A result without its call is not sent.
            let Some(place) = self.places.get_mut(&call) else {
                continue;
            };
            place.came();
            if let Some(base) = bases.get(&call) {
                changes.extend(self.reduced(call, *base));
            }
        }
        changes
    }

    /// Takes a result that is sent as it came.
    pub fn whole(&mut self, call: Id) -> Vec<ReductionChange> {
        let place = self.places.entry(call);
        place.or_insert(ResultPlace::Awaited).came();
        Vec::new()
    }

    /// Takes a result that was recorded in a smaller form, which refers to `base`.
    pub fn reduced(&mut self, call: Id, base: Option<Id>) -> Vec<ReductionChange> {
        self.whole(call);
        let Some(base) = base else {
            self.shortened.insert(call);
            return Vec::new();
        };
        self.referring.push(ReferringResult {
            call,
            base,
            sent: SentForm::Reduced,
        });
        self.settle(base)
    }

    /// Takes the calls whose results are no longer sent.
    pub fn clear(&mut self, calls: &[Id]) -> Vec<ReductionChange> {
        for call in calls {
            self.places.insert(*call, ResultPlace::Cleared);
        }
        if self.referring.is_empty() {
            return Vec::new();
        }
        let mut bases: Vec<Id> = self.referring.iter().map(|one| one.base).collect();
        bases.sort_unstable();
        bases.dedup();
        bases
            .into_iter()
            .flat_map(|base| self.settle(base))
            .collect()
    }

    /// Decides how the results that refer to this one are sent.
    fn settle(&mut self, base: Id) -> Vec<ReductionChange> {
        let in_view = |call| self.places.get(&call) == Some(&ResultPlace::InView);
        let is_gone = !in_view(base);
        let mut changes = Vec::new();
        let mut newest = is_gone;
        for one in self.referring.iter_mut().rev() {
            if one.base != base || !in_view(one.call) {
                continue;
            }
            let sent = match std::mem::take(&mut newest) {
                true => SentForm::Original,
                false => SentForm::Reduced,
            };
            if sent != one.sent {
                one.sent = sent;
                let call = one.call;
                changes.push(ReductionChange { call, sent });
            }
        }
        changes
    }

    /// Whether a result is in view as it came.
    pub fn is_whole(&self, call: Id) -> bool {
        self.form(call) == Some(SentForm::Original)
    }

    /// Whether a result that is in view in a smaller form refers to this one.
    pub fn is_referred_to(&self, call: Id) -> bool {
        self.referring.iter().any(|one| {
            one.base == call && one.sent == SentForm::Reduced && self.is_in_view(one.call)
        })
    }

    /// How a result is sent; `None` if it is not in view.
    pub fn form(&self, call: Id) -> Option<SentForm> {
        if !self.is_in_view(call) {
            return None;
        }
        if self.shortened.contains(&call) {
            return Some(SentForm::Reduced);
        }
        let known = self.referring.iter().rev().find(|one| one.call == call);
        Some(known.map_or(SentForm::Original, |one| one.sent))
    }

    fn is_in_view(&self, call: Id) -> bool {
        self.places.get(&call) == Some(&ResultPlace::InView)
    }

    /// Whether any result was recorded in a smaller form.
    pub fn is_empty(&self) -> bool {
        self.referring.is_empty() && self.shortened.is_empty()
    }
}
