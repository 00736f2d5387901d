//! A clearing is stored as ids and hashes, not as a second copy of the history (V9): what is sent after its summary is
//! made from the client's own messages each time it is loaded.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use bytes::Bytes;

use super::clear::without_results;
use super::compacted_prefixes::LoadedPrefix;
use super::outgoing_body::position;
use super::reduced_request::with_restored;
use super::request_context::RequestContext;
use super::{join, thinking};
use crate::branch::RecognizedBody;
use crate::store::{CompactedPrefix, DerivedRest, HistoryHash, StrippedSpan};

impl LoadedPrefix {
    /// The prefix with everything that is sent for it; `None` if the request's messages do not have what it is made of.
    pub(super) fn completed(&self, material: &RequestContext) -> Option<LoadedPrefix> {
        complete(self.rewrite.clone(), material).map(LoadedPrefix::new)
    }

    /// Whether the messages after the summary still have to be made from the client's.
    pub(super) fn is_incomplete(&self) -> bool {
        self.rewrite.derived.is_some() && self.rewrite.text.len() == self.rewrite.summary
    }
}

/// Adds the messages after the summary to a prefix that is derived.
pub(super) fn complete(
    rewrite: CompactedPrefix,
    material: &RequestContext,
) -> Option<CompactedPrefix> {
    let derived = rewrite.derived.as_ref()?;
    let recognized = &material.recognized;
    let from = match rewrite.root {
        Some(root) => position(recognized, root)? + 1,
        None => recognized.lead,
    };
    let last = position(recognized, rewrite.at)?;
    let gone: BTreeSet<&str> = rewrite.cleared.iter().map(String::as_str).collect();
    let spans: Vec<RangeInclusive<usize>> = derived
        .stripped
        .iter()
        .map(|span| span_in(recognized, *span))
        .collect::<Option<_>>()?;
    let restored = material.restored_until(last, rewrite.root, &rewrite.cleared);
    let rest = (from..=last).map(|index| {
        let element = thinking::without_breakpoints(&material.element(index)?);
        let element = with_restored(material.dialect, &element, &restored);
        let element = without_results(material.dialect, &element, &gone);
        Some(if spans.iter().any(|span| span.contains(&index)) {
            thinking::without_thinking(&element)
        } else {
            element
        })
    });
    let rest: Vec<Bytes> = rest.collect::<Option<_>>()?;
    let summary = rewrite.text.slice(..rewrite.summary);
    let text = match rewrite.summary {
        0 => join(&rest),
        _ => join(&[summary, join(&rest)]),
    };
    Some(CompactedPrefix { text, ..rewrite })
}

fn span_in(recognized: &RecognizedBody, span: StrippedSpan) -> Option<RangeInclusive<usize>> {
    Some(position(recognized, span.from.0)?..=position(recognized, span.to.0)?)
}

/// The spans of a request's messages that are sent without thinking with this prefix.
pub(super) fn stripped_spans(
    material: &RequestContext,
    base: &CompactedPrefix,
) -> Vec<StrippedSpan> {
    if let Some(derived) = &base.derived {
        return derived.stripped.clone();
    }
    if !base.settled {
        return Vec::new();
    }
    // All of its messages after the summary are.
    let recognized = &material.recognized;
    let first = match base.root {
        Some(root) => position(recognized, root).map(|root| root + 1),
        None => Some(recognized.lead),
    };
    let from = first.and_then(|first| recognized.hashes.get(first).copied());
    let is_after = position(recognized, base.at) >= first;
    from.filter(|_| is_after)
        .map(|from| StrippedSpan {
            from: HistoryHash(from),
            to: HistoryHash(base.at),
        })
        .into_iter()
        .collect()
}

/// The part of a prefix that is stored: a derived one without its messages.
pub(super) fn to_stored(rewrite: &CompactedPrefix) -> CompactedPrefix {
    let mut stored = rewrite.clone();
    if stored.derived.is_some() {
        stored.text = stored.text.slice(..stored.summary);
    }
    stored
}

impl DerivedRest {
    /// The rest after another span of messages lost its thinking.
    pub(super) fn stripping(&self, span: StrippedSpan) -> Self {
        let mut stripped = self.stripped.clone();
        stripped.push(span);
        Self {
            changed_from: None,
            stripped,
        }
    }
}
