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
    prefixes: &CompactedPrefixes,
    context: &mut RequestContext,
    now: Timestamp,
) {
    if let Some((base, _)) = &context.outgoing.replaced
        && !base.prefix.settled
    {
        // The future is large and seldom needed.
        Box::pin(without_thinking(prefixes, context, now)).await;
    }
}

/// Settles the prefix of a request that only counts tokens: the prefix does not come into use, so nothing is stored.
pub(super) fn as_if_settled(context: &mut RequestContext, now: Timestamp) {
    if let Some((base, _)) = &context.outgoing.replaced
        && !base.prefix.settled
        && let Some(settled) = settled(context, now)
    {
        let settled = Arc::new(LoadedPrefix::new(settled));
        let behind = context.outgoing_with(&settled);
        context.outgoing = behind.unwrap_or_else(|| context.outgoing.clone());
    }
}

/// Leaves out all earlier thinking, from this request on. Returns whether the request is sent that way now.
pub(super) async fn without_thinking(
    prefixes: &CompactedPrefixes,
    context: &mut RequestContext,
    now: Timestamp,
) -> bool {
    let Some(settled) = settled(context, now) else {
        return false;
    };
    match prefixes.put_at_once(settled).await {
        Ok(settled) => {
            let behind = context.outgoing_with(&settled);
            let is_so = behind.is_some();
            context.outgoing =
                behind.unwrap_or_else(|| OutgoingRequestBody::unchanged(&context.messages.body));
            is_so
        }
        // The new prefix is not durable; the unchanged history is correct, if it fits.
        Err(error) => {
            tracing::warn!(%error, "a summary cannot be used: it cannot be kept");
            context.outgoing = OutgoingRequestBody::unchanged(&context.messages.body);
            false
        }
    }
}

fn settled(context: &RequestContext, now: Timestamp) -> Option<CompactedPrefix> {
    let (base, from) = match &context.outgoing.replaced {
        Some((base, from)) => (Some(base), *from),
        None => (None, context.messages.recognized.lead),
    };
    if context.size.is_some() {
        return None;
    }
    // The client's last message keeps its bytes, and with them its cache breakpoint: it contains no thinking.
    let mut roles = context.roles().iter();
    let last = roles.rposition(|role| *role == BodyRole::Assistant);
    // A prefix that covers the model's last message is not extended, but its own messages may hold thinking.
    let last = last.filter(|last| *last >= from);
    if let Some(settled) = base.and_then(|base| settled_clearing(context, base, last, now)) {
        return Some(settled);
    }
    let rest = last.map_or(from..from, |last| from..last + 1);
    let rest = rest.map(|index| context.messages.element(index));
    let rest: Vec<Bytes> = rest.collect::<Option<_>>()?;
    let restored = base
        .zip(last)
        .map(|(base, last)| context.restored_until(last, base.prefix.root, &base.prefix.cleared));
    let restored = restored.unwrap_or_default();
    let rest = rest.iter().map(|element| {
        let element = with_restored(context.messages.dialect, element, &restored);
        thinking::without_breakpoints(&element)
    });
    let beginning = base.iter().flat_map(|base| base.elements.iter());
    let elements: Vec<Bytes> = (beginning.map(|(_, element)| element.clone()))
        .chain(rest)
        .map(|element| thinking::without_thinking(&element))
        .collect();
    let reach = SettledReach::of(context, base, last, now)?;
    Some(CompactedPrefix {
        tenant: context.tenant,
        at: reach.at,
        messages: reach.messages,
        text: join(&elements),
        root: base.and_then(|base| base.prefix.root),
        summary: base.map_or(0, |base| base.prefix.summary),
        lines: base.map_or_else(Bytes::new, |base| base.prefix.lines.clone()),
        cleared: base.map_or_else(Vec::new, |base| base.prefix.cleared.clone()),
        derived: None,
        settled: true,
        made: reach.made,
    })
}

/// Settles a clearing: thinking before the first message that it changed is still valid, and stays.
fn settled_clearing(
    context: &RequestContext,
    base: &Arc<LoadedPrefix>,
    last: Option<usize>,
    now: Timestamp,
) -> Option<CompactedPrefix> {
    let derived = base.prefix.derived.as_ref()?;
    let changed = derived.changed_from?;
    let reach = SettledReach::of(context, Some(base), last, now)?;
    let span = StrippedSpan {
        from: changed,
        to: HistoryHash(reach.at),
    };
    context.completed(CompactedPrefix {
        at: reach.at,
        messages: reach.messages,
        derived: Some(derived.stripping(span)),
        settled: true,
        made: reach.made,
        ..base.prefix.as_stored()
    })
}

/// The history that a settled prefix replaces, and how it was made.
struct SettledReach {
    at: u128,
    messages: u32,
    made: PrefixProvenance,
}

impl SettledReach {
    /// Up to the message `last`, or as far as the prefix reaches. `None` if there is neither.
    fn of(
        context: &RequestContext,
        base: Option<&Arc<LoadedPrefix>>,
        last: Option<usize>,
        now: Timestamp,
    ) -> Option<Self> {
        Some(match last {
            Some(last) => Self {
                at: *context.messages.recognized.hashes.get(last)?,
                messages: context.spoken_until(last),
                made: made(context, base, now),
            },
            None => {
                let base = base?;
                Self {
                    at: base.beginning(),
                    messages: base.prefix.messages,
                    made: base.prefix.made.clone(),
                }
            }
        })
    }
}

fn made(
    context: &RequestContext,
    base: Option<&Arc<LoadedPrefix>>,
    at: Timestamp,
) -> PrefixProvenance {
    let (session, line) = (context.placed.session, context.placed.line);
    match base {
        Some(base) => PrefixProvenance {
            session,
            line,
            at,
            kind: CompactedPrefixKind::Settled,
            cost: None,
            report: base.prefix.made.settled_report(),
            ..base.prefix.made.clone()
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
