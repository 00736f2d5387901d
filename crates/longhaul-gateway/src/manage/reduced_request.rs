//! A request some of whose results are sent in a smaller form (V8), and which of these are sent as they came again,
//! because the result that they refer to was cleared or summarized.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use longhaul_core::json;
use longhaul_core::message::{Id, ReductionStanding, SentForm};
use longhaul_core::xxh3::xxh3_128;
use longhaul_provider::Dialect;

use super::message_results::{MessageResults, content_place};
use super::outgoing_body::{OutgoingRequestBody, position};
use super::reduction_records::MessageReductions;
use super::request_context::RequestContext;
use super::splice::Splices;
use crate::branch::RecognizedBody;
use crate::store::CompactedPrefix;

/// A result that is sent in a smaller form.
#[derive(Debug, Clone)]
struct AppliedReduction {
    base: Option<String>,
    /// The content as the client sends it.
    original: Bytes,
}

/// The results of a request, and those that are sent in a smaller form.
#[derive(Debug, Default)]
pub(crate) struct ReducedRequest {
    /// The call of each result and the message that holds it, in order.
    results: Vec<(usize, String)>,
    applied: BTreeMap<String, AppliedReduction>,
}

/// The contents of results that are sent as they came again, by their calls.
pub(super) type RestoredResults = BTreeMap<String, Bytes>;

/// Contents of a body that are replaced: where they lie, and by what.
type ContentEdits = Vec<(Range<usize>, Bytes)>;

impl ReducedRequest {
    /// How many results are sent in a smaller form, unless what they refer to has left the view.
    pub(crate) fn len(&self) -> usize {
        self.applied.len()
    }

    /// Which results are in view, and how they are sent, if only these messages are sent with these results cleared.
    fn standing(&self, messages: Range<usize>, cleared: &[String]) -> ReductionStanding {
        let mut standing = ReductionStanding::default();
        let sent = |(message, _): &&(usize, String)| messages.contains(message);
        for (_, call) in self.results.iter().filter(sent) {
            let id = Id::of(call);
            match self.applied.get(call) {
                None => standing.whole(id),
                Some(applied) => standing.reduced(id, applied.base.as_deref().map(Id::of)),
            };
        }
        let cleared: Vec<Id> = cleared.iter().map(|call| Id::of(call)).collect();
        standing.clear(&cleared);
        standing
    }

    /// The results that are sent as they came if only these messages are sent, with these results cleared.
    fn restored(&self, messages: Range<usize>, cleared: &[String]) -> RestoredResults {
        let standing = self.standing(messages, cleared);
        let restored = self
            .applied
            .iter()
            .filter(|(call, _)| standing.form(Id::of(call)) == Some(SentForm::Original));
        restored
            .map(|(call, applied)| (call.clone(), applied.original.clone()))
            .collect()
    }
}

impl RequestContext {
    /// Sends results in a smaller form: `reduced` by the message that holds them.
    pub(super) fn apply_reductions(
        &mut self,
        results: &[Arc<MessageResults>],
        reduced: &BTreeMap<usize, MessageReductions>,
    ) {
        let mut edits: ContentEdits = Vec::new();
        // A result that is shortened again was made from what the client sent.
        let mut applied = self
            .reduced
            .as_ref()
            .map_or_else(BTreeMap::new, |reduced| reduced.applied.clone());
        for (index, reductions) in reduced {
            let Some((element, start)) = self.element_at(*index) else {
                continue;
            };
            for one in reductions.iter() {
                let Some(place) = content_place(self.dialect, &element, &one.call) else {
                    continue;
                };
                let reduction = AppliedReduction {
                    base: one.refers_to.clone(),
                    original: element.slice(place.clone()),
                };
                applied.entry(one.call.clone()).or_insert(reduction);
                let place = start + place.start..start + place.end;
                edits.push((place, json::quote(&one.text).into()));
            }
        }
        if edits.is_empty() {
            return;
        }
        let (body, recognized) = edited(&self.body, &self.recognized, edits);
        self.body = body;
        self.recognized = Arc::new(recognized);
        self.outgoing = OutgoingRequestBody::unchanged(&self.body);
        let results = results.iter().enumerate().flat_map(|(index, message)| {
            let results = message.results.iter();
            results.map(move |result| (index, result.call.clone()))
        });
        self.reduced = Some(Arc::new(ReducedRequest {
            results: results.collect(),
            applied,
        }));
    }

    /// One of the client's messages, and where it begins in the body.
    fn element_at(&self, index: usize) -> Option<(Bytes, usize)> {
        let element = self.element(index)?;
        let end = usize::try_from(*self.recognized.ends.get(index)?).ok()?;
        let start = end.checked_sub(element.len())?;
        Some((element, start))
    }

    /// The results that are sent as they came in the part after the root of a prefix, up to this message, if the prefix
    /// clears these results. It does not depend on what follows, because the prefix is the same whatever follows.
    pub(super) fn restored_until(
        &self,
        last: usize,
        root: Option<u128>,
        cleared: &[String],
    ) -> RestoredResults {
        let Some(reduced) = &self.reduced else {
            return RestoredResults::new();
        };
        reduced.restored(self.first_after_root(root)..last + 1, cleared)
    }

    /// The results that others refer to with the prefix that is in place: clearing one of them would bring another back.
    pub(super) fn referred_results(&self) -> HashSet<Id> {
        let Some(reduced) = &self.reduced else {
            return HashSet::new();
        };
        let base = self.outgoing.replaced.as_ref().map(|(base, _)| base);
        let from = self.first_after_root(base.and_then(|base| base.rewrite.root));
        let cleared = base.map_or(&[][..], |base| &base.rewrite.cleared);
        let standing = reduced.standing(from..usize::MAX, cleared);
        let bases = reduced
            .applied
            .values()
            .filter_map(|applied| applied.base.as_deref());
        bases
            .map(Id::of)
            .filter(|base| standing.is_referred_to(*base))
            .collect()
    }

    fn first_after_root(&self, root: Option<u128>) -> usize {
        let last = root.and_then(|root| position(&self.recognized, root));
        last.map_or(0, |last| last + 1)
    }

    /// The body and its layout with results of the messages after a prefix as they came; `None` if none of them is.
    pub(super) fn restored_after(
        &self,
        prefix: &CompactedPrefix,
        last: usize,
    ) -> Option<(Bytes, Arc<RecognizedBody>)> {
        let reduced = self.reduced.as_ref()?;
        let from = self.first_after_root(prefix.root);
        let restored = reduced.restored(from..usize::MAX, &prefix.cleared);
        if restored.is_empty() {
            return None;
        }
        let mut edits: ContentEdits = Vec::new();
        for (index, call) in reduced.results.iter().filter(|(index, _)| *index > last) {
            let (Some(original), Some((element, start))) =
                (restored.get(call), self.element_at(*index))
            else {
                continue;
            };
            if let Some(place) = content_place(self.dialect, &element, call) {
                edits.push((start + place.start..start + place.end, original.clone()));
            }
        }
        if edits.is_empty() {
            return None;
        }
        let (body, recognized) = edited(&self.body, &self.recognized, edits);
        Some((body, Arc::new(recognized)))
    }
}

/// The element with these results as they came.
pub(super) fn with_restored(
    dialect: Dialect,
    element: &Bytes,
    restored: &RestoredResults,
) -> Bytes {
    let mut splices = Splices::default();
    for (call, original) in restored {
        if let Some(place) = content_place(dialect, element, call) {
            splices.replace(place, original.to_vec());
        }
    }
    splices.apply(element)
}

/// A body with other contents in these places, and its layout.
fn edited(
    body: &Bytes,
    recognized: &RecognizedBody,
    edits: ContentEdits,
) -> (Bytes, RecognizedBody) {
    let sizes: Vec<(Range<usize>, usize)> = edits
        .iter()
        .map(|(place, content)| (place.clone(), content.len()))
        .collect();
    let mut splices = Splices::default();
    for (place, content) in edits {
        splices.replace(place, content.to_vec());
    }
    let body = splices.apply(body);
    let recognized = recognized.with_edits(sizes, |element| {
        xxh3_128(body.get(element).unwrap_or_default())
    });
    (body, recognized)
}
