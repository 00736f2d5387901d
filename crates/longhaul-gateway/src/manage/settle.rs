//! Where thinking is bound to the messages before it (N2), thinking from before a new compacted prefix cannot be sent
//! after that prefix. Therefore, on its first use, the new prefix is extended to the model's last message in that
//! request, without thinking; everything after that is sent as it comes.

use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;

use super::compacted_prefixes::CompactedPrefixes;
use super::loaded_prefix::LoadedPrefix;
use super::outgoing_body::OutgoingRequestBody;
use super::reduced_request::with_restored;
use super::request_context::RequestContext;
use super::{join, thinking};
use crate::body::BodyRole;
use crate::store::{
    CompactedPrefix, CompactedPrefixKind, HistoryHash, PrefixProvenance, PrefixReport, StrippedSpan,
};

/// Settles the prefix of a request that is about to be sent, if that was not done yet.
pub(super) async fn settle(
    rewrites: &CompactedPrefixes,
    material: &mut RequestContext,
    now: Timestamp,
) {
    if let Some((base, _)) = &material.outgoing.replaced
        && !base.rewrite.settled
    {
        // The future is large and seldom needed.
        Box::pin(without_thinking(rewrites, material, now)).await;
    }
}

/// Settles the prefix of a request that only counts tokens: the prefix does not come into use, so nothing is stored.
pub(super) fn as_if_settled(material: &mut RequestContext, now: Timestamp) {
    if let Some((base, _)) = &material.outgoing.replaced
        && !base.rewrite.settled
        && let Some(settled) = settled(material, now)
    {
        let settled = Arc::new(LoadedPrefix::new(settled));
        let behind = material.outgoing_with(&settled);
        material.outgoing = behind.unwrap_or_else(|| material.outgoing.clone());
    }
}

/// Leaves out all earlier thinking, from this request on. Returns whether the request is sent that way now.
pub(super) async fn without_thinking(
    rewrites: &CompactedPrefixes,
    material: &mut RequestContext,
    now: Timestamp,
) -> bool {
    let Some(settled) = settled(material, now) else {
        return false;
    };
    match rewrites.put_at_once(settled).await {
        Ok(settled) => {
            let behind = material.outgoing_with(&settled);
            let is_so = behind.is_some();
            material.outgoing =
                behind.unwrap_or_else(|| OutgoingRequestBody::unchanged(&material.messages.body));
            is_so
        }
        // The new prefix is not durable; the unchanged history is correct, if it fits.
        Err(error) => {
            tracing::warn!(%error, "a summary cannot be used: it cannot be kept");
            material.outgoing = OutgoingRequestBody::unchanged(&material.messages.body);
            false
        }
    }
}

fn settled(material: &RequestContext, now: Timestamp) -> Option<CompactedPrefix> {
    let (base, from) = match &material.outgoing.replaced {
        Some((base, from)) => (Some(base), *from),
        None => (None, material.messages.recognized.lead),
    };
    if material.size.is_some() {
        return None;
    }
    // The client's last message keeps its bytes, and with them its cache breakpoint: it contains no thinking.
    let mut roles = material.roles().iter();
    let last = roles.rposition(|role| *role == BodyRole::Assistant);
    let Some(last) = last.filter(|last| *last >= from) else {
        return base.map(|base| CompactedPrefix {
            settled: true,
            ..base.rewrite.clone()
        });
    };
    if let Some(settled) = base.and_then(|base| settled_clearing(material, base, last, now)) {
        return Some(settled);
    }
    let rest = (from..=last).map(|index| material.messages.element(index));
    let rest: Vec<Bytes> = rest.collect::<Option<_>>()?;
    let restored = base.map_or_else(Default::default, |base| {
        material.restored_until(last, base.rewrite.root, &base.rewrite.cleared)
    });
    let rest = rest.iter().map(|element| {
        let element = with_restored(material.messages.dialect, element, &restored);
        thinking::without_breakpoints(&element)
    });
    let beginning = base.iter().flat_map(|base| base.elements.iter());
    let elements: Vec<Bytes> = (beginning.map(|(_, element)| element.clone()))
        .chain(rest)
        .map(|element| thinking::without_thinking(&element))
        .collect();
    Some(CompactedPrefix {
        tenant: material.tenant,
        at: *material.messages.recognized.hashes.get(last)?,
        messages: material.spoken_until(last),
        text: join(&elements),
        root: base.and_then(|base| base.rewrite.root),
        summary: base.map_or(0, |base| base.rewrite.summary),
        lines: base.map_or_else(Bytes::new, |base| base.rewrite.lines.clone()),
        cleared: base.map_or_else(Vec::new, |base| base.rewrite.cleared.clone()),
        derived: None,
        settled: true,
        made: made(material, base, now),
    })
}

/// Settles a clearing: thinking before the first message that it changed is still valid, and stays.
fn settled_clearing(
    material: &RequestContext,
    base: &Arc<LoadedPrefix>,
    last: usize,
    now: Timestamp,
) -> Option<CompactedPrefix> {
    let derived = base.rewrite.derived.as_ref()?;
    let changed = derived.changed_from?;
    let at = *material.messages.recognized.hashes.get(last)?;
    let span = StrippedSpan {
        from: changed,
        to: HistoryHash(at),
    };
    let settled = CompactedPrefix {
        at,
        messages: material.spoken_until(last),
        derived: Some(derived.stripping(span)),
        settled: true,
        made: made(material, Some(base), now),
        ..base.rewrite.as_stored()
    };
    material.completed(settled)
}

fn made(
    material: &RequestContext,
    base: Option<&Arc<LoadedPrefix>>,
    at: Timestamp,
) -> PrefixProvenance {
    let (session, line) = (material.placed.session, material.placed.line);
    match base {
        Some(base) => PrefixProvenance {
            session,
            line,
            at,
            kind: CompactedPrefixKind::Settled,
            cost: None,
            report: base.rewrite.made.settled_report(),
            ..base.rewrite.made.clone()
        },
        None => PrefixProvenance {
            session,
            line,
            at,
            kind: CompactedPrefixKind::Settled,
            before: 0,
            after: 0,
            millis: 0,
            waited: None,
            cost: None,
            report: PrefixReport::default(),
        },
    }
}
