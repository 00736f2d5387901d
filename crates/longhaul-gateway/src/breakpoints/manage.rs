//! Decides which blocks get a breakpoint, and what is sent.

use bytes::Bytes;
use longhaul_core::json::JsonCursor;
use longhaul_core::prompt::Ttl;

use super::cache_control::{self, MemberPosition};
use super::changes::BreakpointChanges;
use super::history::{BreakpointHistory, ScannedElements, WrittenBreakpoint};
use super::prefix::ScannedPrefix;
use super::request::{BreakpointRequest, ReplacedMessages};
use super::scan;
use super::scanned::{ScannedMessages, last_able};
use super::splice::TextEdits;

/// A request as it is to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestWithBreakpoints {
    /// The body, in slices.
    pub parts: Vec<Bytes>,
    /// To be kept for the branch once the request was answered; the given history, if the body could not be read.
    pub trail: Option<BreakpointHistory>,
    /// What was changed.
    pub did: BreakpointChanges,
}

/// The body to send with the client's own breakpoints.
pub fn keep(asked: &BreakpointRequest<'_>) -> Vec<Bytes> {
    let mut edits = TextEdits::default();
    let put = put_replacement(asked, &mut edits, lost_marker(asked), message_ttl(asked));
    put.and_then(|_| edits.apply(asked.body))
        .unwrap_or_else(|| vec![asked.body.clone()])
}

/// The body to send with the gateway's breakpoints instead of the client's. `trail` is what the branch remembers of the
/// previous request.
pub fn manage(
    asked: &BreakpointRequest<'_>,
    trail: Option<&BreakpointHistory>,
) -> RequestWithBreakpoints {
    managed(asked, trail).unwrap_or_else(|| RequestWithBreakpoints {
        parts: keep(asked),
        trail: trail.cloned(),
        did: BreakpointChanges::default(),
    })
}

fn managed(
    asked: &BreakpointRequest<'_>,
    trail: Option<&BreakpointHistory>,
) -> Option<RequestWithBreakpoints> {
    let mut scanned = ScannedMessages::new(asked);
    scanned.scan_unknown(trail.map(|trail| trail.looked.shared(asked)))?;
    let marked = scanned.marked();
    let tail = scanned.tail()?;
    let bridge = match (tail, trail.and_then(|trail| trail.written)) {
        (Some(tail), Some(written)) => scanned.bridge(written, tail)?,
        _ => None,
    };
    let remembered = trail.filter(|trail| trail.prefix.fits(asked));
    let (ttl, head) = match (remembered, trail) {
        (Some(trail), _) => (trail.ttl, trail.prefix.clone()),
        (None, trail) => {
            let head = ScannedPrefix::read(asked).ok()?;
            let of_head = head.found().filter_map(|found| found.ttl);
            let asked_for = of_head.chain(scanned.lifetimes()).chain(automatic(asked));
            let ttl = trail.map(|trail| trail.ttl);
            let ttl = ttl.unwrap_or_else(|| asked_for.max().unwrap_or_default());
            (ttl, head.plan(ttl))
        }
    };
    let mut edits = TextEdits::default();
    let mut did = head.did;
    head.apply(asked, &mut edits);
    did += cut_automatic(asked, &mut edits);
    let theirs = scanned.lifetimes().count();
    let mut mine = BreakpointChanges::default();
    for (element, (base, message)) in &scanned.messages {
        for (at, block) in message.content.blocks().iter().enumerate() {
            let here = Some((*element, at));
            if here != tail && here != bridge {
                edits.unmark(*base, block);
            }
        }
        for (_, block) in [bridge, tail]
            .into_iter()
            .flatten()
            .filter(|(at, _)| at == element)
        {
            mine += edits.mark_block(*base, &message.content, block, ttl).into();
        }
    }
    mine.taken = theirs - mine.stayed;
    mine.bridges = usize::from(bridge.is_some());
    let in_replacement = tail.is_none().then_some(ttl);
    // A request has four breakpoints at most, and the bridge is needed now.
    let unmarked = asked.replaced.filter(|_| bridge.is_some()).cloned();
    let unmarked = unmarked.map(|replaced| ReplacedMessages {
        marked_after: None,
        ..replaced
    });
    let put = BreakpointRequest {
        replaced: unmarked.as_ref().or(asked.replaced),
        ..*asked
    };
    mine += put_replacement(&put, &mut edits, in_replacement, Some(ttl))?;
    let written = tail.and_then(|(element, block)| {
        let chain = *asked.hashes.get(element)?;
        Some(WrittenBreakpoint { chain, block })
    });
    did += mine;
    Some(RequestWithBreakpoints {
        parts: edits.apply(asked.body)?,
        trail: Some(BreakpointHistory {
            ttl,
            prefix: head,
            looked: ScannedElements::at(asked, marked),
            written,
        }),
        did,
    })
}

/// The lifetime of the client's last breakpoint, if that is in messages that are not sent and the sent messages have
/// none: without a breakpoint, nothing of the request would be written to the cache.
fn lost_marker(asked: &BreakpointRequest<'_>) -> Option<Ttl> {
    let replaced = asked.replaced?;
    let last = |elements: std::ops::Range<usize>| {
        elements.rev().find_map(|element| {
            let (raw, _) = asked.element(element)?;
            // Most elements can be ruled out without parsing them.
            memchr::memmem::find(raw, b"cache_control")?;
            let message = scan::message(raw).ok()?;
            message.content.found().filter_map(|found| found.ttl).last()
        })
    };
    match last(replaced.elements.end..asked.len()) {
        Some(_) => None,
        None => last(replaced.elements.clone()),
    }
}

/// The lifetime of the last breakpoint in the client's messages.
fn message_ttl(asked: &BreakpointRequest<'_>) -> Option<Ttl> {
    asked.replaced?.marked_after?;
    (0..asked.len()).rev().find_map(|element| {
        let (raw, _) = asked.element(element)?;
        memchr::memmem::find(raw, b"cache_control")?;
        let message = scan::message(raw).ok()?;
        message.content.found().filter_map(|found| found.ttl).last()
    })
}

/// The lifetime that the client's automatic caching asks for.
fn automatic(asked: &BreakpointRequest<'_>) -> Option<Ttl> {
    let span = asked.outline.members.automatic.clone()?;
    cache_control::marker(asked.body.get(span)?).ttl
}

/// Removes the client's automatic caching.
fn cut_automatic(asked: &BreakpointRequest<'_>, edits: &mut TextEdits) -> BreakpointChanges {
    let Some(value) = &asked.outline.members.automatic else {
        return BreakpointChanges::default();
    };
    let first = cache_control::cut(asked.body, value, MemberPosition::First);
    let before = asked.body.get(..first.start).unwrap_or_default();
    let cut = match before.trim_ascii_end().last() {
        Some(b',') => cache_control::cut(asked.body, value, MemberPosition::Behind),
        _ => first,
    };
    edits.cut(0, &cut);
    BreakpointChanges {
        taken: 1,
        ..BreakpointChanges::default()
    }
}

/// Puts the replacement of the first messages in their place, with a breakpoint on its last block that can have one, if
/// no message after it has one, and one where it begins to differ from what was sent before, or may. Returns `None` if that is
/// not possible.
fn put_replacement(
    asked: &BreakpointRequest<'_>,
    edits: &mut TextEdits,
    mark: Option<Ttl>,
    usual: Option<Ttl>,
) -> Option<BreakpointChanges> {
    let Some(replaced) = asked.replaced else {
        return Some(BreakpointChanges::default());
    };
    let ReplacedMessages { elements, text, .. } = replaced;
    let gap = asked.gap()?;
    let comma: &[u8] = if elements.start > 0 { b"," } else { b"" };
    edits.replace(gap.clone(), Bytes::from_static(comma));
    let mut inside = TextEdits::default();
    let mut did = BreakpointChanges::default();
    if let (Some(elements), Some(ttl)) = (replaced.marked_after, mark.or(usual)) {
        did += mark_last(text, elements, &mut inside, ttl);
    }
    if let Some(ttl) = mark {
        did += mark_last(text, usize::MAX, &mut inside, ttl);
    }
    for part in inside.apply(text)? {
        edits.replace(gap.end..gap.end, part);
    }
    Some(did)
}

/// Sets a breakpoint on the last block of the first `most` elements in a list separated by commas.
fn mark_last(text: &[u8], most: usize, edits: &mut TextEdits, ttl: Ttl) -> BreakpointChanges {
    let mut last = None;
    let mut at = 0;
    for _ in 0..most {
        let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) else {
            break;
        };
        let mut cursor = JsonCursor::new(rest);
        let Ok(raw) = cursor.raw() else {
            return BreakpointChanges::default();
        };
        let start = at + rest.len() - rest.trim_ascii_start().len();
        if let Ok(message) = scan::message(raw)
            && let Some(block) = last_able(&message)
        {
            last = Some((start, message, block));
        }
        // After the comma.
        at += cursor.position() + 1;
    }
    match last {
        Some((start, message, block)) => {
            (edits.mark_block(start, &message.content, block, ttl)).into()
        }
        None => BreakpointChanges::default(),
    }
}
