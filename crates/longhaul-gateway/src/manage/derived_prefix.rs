//! A clearing is stored as ids and hashes, not as a second copy of the history (V9): what is sent after its summary is
//! made from the client's own messages each time it is loaded.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use bytes::Bytes;

use super::cleared_results::without_results;
use super::client_messages::ClientMessages;
use super::reduced_request::{RestoredResults, with_restored};
use super::{join, thinking};
use crate::branch::RecognizedBody;
use crate::store::{CompactedPrefix, HistoryHash, StrippedSpan};

/// Adds the messages after the summary to a prefix that is derived. `restored` are the results in them that are sent as
/// they came.
pub(super) fn complete(
    prefix: CompactedPrefix,
    messages: &ClientMessages,
    restored: &RestoredResults,
) -> Option<CompactedPrefix> {
    let derived = prefix.derived.as_ref()?;
    let recognized = &messages.recognized;
    let from = recognized.first_after(prefix.root)?;
    let last = recognized.position(prefix.at)?;
    let gone: BTreeSet<&str> = prefix.cleared.iter().map(String::as_str).collect();
    let spans: Vec<RangeInclusive<usize>> = derived
        .stripped
        .iter()
        .map(|span| span_in(recognized, *span))
        .collect::<Option<_>>()?;
    let rest = (from..=last).map(|index| {
        let element = thinking::without_breakpoints(&messages.element(index)?);
        let element = with_restored(messages.dialect, &element, restored);
        let element = without_results(messages.dialect, &element, &gone);
        Some(if spans.iter().any(|span| span.contains(&index)) {
            thinking::without_thinking(&element)
        } else {
            element
        })
    });
    let rest: Vec<Bytes> = rest.collect::<Option<_>>()?;
    let summary = prefix.text.slice(..prefix.summary);
    let text = match prefix.summary {
        0 => join(&rest),
        _ => join(&[summary, join(&rest)]),
    };
    Some(CompactedPrefix { text, ..prefix })
}

/// Where a span lies in a request.
pub(super) fn span_in(
    recognized: &RecognizedBody,
    span: StrippedSpan,
) -> Option<RangeInclusive<usize>> {
    Some(recognized.position(span.from.0)?..=recognized.position(span.to.0)?)
}

/// The spans of a request's messages that are sent without thinking with this prefix.
pub(super) fn stripped_spans(
    recognized: &RecognizedBody,
    prefix: &CompactedPrefix,
) -> Vec<StrippedSpan> {
    if let Some(derived) = &prefix.derived {
        return derived.stripped.clone();
    }
    if !prefix.settled {
        return Vec::new();
    }
    // All of its messages after the summary are.
    let first = recognized.first_after(prefix.root);
    let from = first.and_then(|first| recognized.hashes.get(first).copied());
    let is_after = recognized.position(prefix.at) >= first;
    from.filter(|_| is_after)
        .map(|from| StrippedSpan {
            from: HistoryHash(from),
            to: HistoryHash(prefix.at),
        })
        .into_iter()
        .collect()
}
