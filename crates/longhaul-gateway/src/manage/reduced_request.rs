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

use super::client_messages::ClientMessages;
use super::message_results::{MessageResults, content_place};
use super::reduction_records::MessageReductions;
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

    /// The same request with more results in a smaller form: `reduced` by the message that holds them. `results` are
    /// those of all messages. `None` if nothing changes.
    pub(super) fn apply(
        before: Option<&Self>,
        messages: &ClientMessages,
        results: &[Arc<MessageResults>],
        reduced: &BTreeMap<usize, MessageReductions>,
    ) -> Option<(ClientMessages, Self)> {
        let mut edits: ContentEdits = Vec::new();
        // A result that is shortened again was made from what the client sent.
        let mut applied = before.map_or_else(BTreeMap::new, |before| before.applied.clone());
        for (index, reductions) in reduced {
            let Some((element, start)) = messages.element_at(*index) else {
                continue;
            };
            for one in reductions.iter() {
                let Some(place) = content_place(messages.dialect, &element, &one.call) else {
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
        let messages = edited(messages, edits)?;
        let results = results.iter().enumerate().flat_map(|(index, message)| {
            let results = message.results.iter();
            results.map(move |result| (index, result.call.clone()))
        });
        let results = results.collect();
        Some((messages, Self { results, applied }))
    }

    /// The results that are sent as they came in the part after the root of a prefix, up to this message, if the prefix
    /// clears these results. It does not depend on what follows, because the prefix is the same whatever follows.
    pub(super) fn restored_until(
        &self,
        last: usize,
        recognized: &RecognizedBody,
        root: Option<u128>,
        cleared: &[String],
    ) -> RestoredResults {
        self.restored(first_after_root(recognized, root)..last + 1, cleared)
    }

    /// The results that others refer to with the prefix that is in place: clearing one of them would bring another back.
    pub(super) fn referred(
        &self,
        recognized: &RecognizedBody,
        prefix: Option<&CompactedPrefix>,
    ) -> HashSet<Id> {
        let from = first_after_root(recognized, prefix.and_then(|prefix| prefix.root));
        let cleared = prefix.map_or(&[][..], |prefix| &prefix.cleared);
        let standing = self.standing(from..usize::MAX, cleared);
        let bases = (self.applied.values()).filter_map(|applied| applied.base.as_deref());
        bases
            .map(Id::of)
            .filter(|base| standing.is_referred_to(*base))
            .collect()
    }

    /// The messages with results after a prefix, which ends with the message `last`, as they came; `None` if none of
    /// them is.
    pub(super) fn restored_after(
        &self,
        messages: &ClientMessages,
        prefix: &CompactedPrefix,
        last: usize,
    ) -> Option<ClientMessages> {
        let from = first_after_root(&messages.recognized, prefix.root);
        let restored = self.restored(from..usize::MAX, &prefix.cleared);
        if restored.is_empty() {
            return None;
        }
        let mut edits: ContentEdits = Vec::new();
        for (index, call) in self.results.iter().filter(|(index, _)| *index > last) {
            let (Some(original), Some((element, start))) =
                (restored.get(call), messages.element_at(*index))
            else {
                continue;
            };
            if let Some(place) = content_place(messages.dialect, &element, call) {
                edits.push((start + place.start..start + place.end, original.clone()));
            }
        }
        edited(messages, edits)
    }
}

/// The first message after the history that a summary replaces; all messages count if there is no summary.
pub(super) fn first_after_root(recognized: &RecognizedBody, root: Option<u128>) -> usize {
    let last = root.and_then(|root| recognized.position(root));
    last.map_or(0, |last| last + 1)
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

/// The same messages with other contents in these places of the body; `None` if there are no places.
fn edited(messages: &ClientMessages, edits: ContentEdits) -> Option<ClientMessages> {
    if edits.is_empty() {
        return None;
    }
    let sizes: Vec<(Range<usize>, usize)> = edits
        .iter()
        .map(|(place, content)| (place.clone(), content.len()))
        .collect();
    let mut splices = Splices::default();
    for (place, content) in edits {
        splices.replace(place, content.to_vec());
    }
    let body = splices.apply(&messages.body);
    let recognized = messages.recognized.with_edits(sizes, |element| {
        xxh3_128(body.get(element).unwrap_or_default())
    });
    Some(ClientMessages {
        dialect: messages.dialect,
        body,
        recognized: Arc::new(recognized),
    })
}
