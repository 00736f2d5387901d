//! Up to where thinking is no longer sent (N2).
//!
//! On models that bind a thinking block to what stands before it, a block is sent either behind the very bytes it was
//! made behind or not at all. A rendering that begins anew keeps thinking only where it can prove the first; else all of
//! it is dropped, up to the entry that was the newest then, and the head says so, for ever.

use std::borrow::Cow;

use crate::message::{EntryKind, EntryView, Id};
use crate::models::ThinkingBinding;
use crate::normalize::{RenderOptions, Rendering};

use super::RequestPrefix;

/// What came before a rendering that begins.
#[derive(Debug, Clone, Copy)]
pub enum PriorRendering<'a> {
    /// Nothing of ours: a new session, or the history of another program.
    None,
    /// A head that was found on disk; what was rendered under it is gone.
    Head(&'a RequestPrefix),
    /// A rendering in this process.
    Rendering(&'a RequestPrefix, &'a Rendering),
}

impl<'a> PriorRendering<'a> {
    fn request_prefix(self) -> Option<&'a RequestPrefix> {
        match self {
            Self::None => None,
            Self::Head(head) | Self::Rendering(head, _) => Some(head),
        }
    }
}

/// The uuid of the entry of a history up to which thinking is not sent under a head that begins now.
///
/// `options` are those of the new rendering; what it says about stripping is not looked at.
pub(super) fn stripped_through<'a>(
    before: PriorRendering<'_>,
    next: &RequestPrefix,
    binding: ThinkingBinding,
    options: &RenderOptions,
    history: impl Iterator<Item = EntryView<'a>> + Clone,
) -> Option<String> {
    let earlier = before
        .request_prefix()
        .and_then(|head| head.latched.thinking_stripped_through.as_deref());
    let asked = next.latched.thinking_stripped_through.as_deref();
    let named = latest(history.clone(), [earlier, asked]);
    let model_changed = before
        .request_prefix()
        .is_some_and(|head| head.model() != next.model());
    let strip = model_changed
        || binding.may_bind() && !stays_valid(before, next, named.as_deref(), options, &history);
    let replied = history
        .clone()
        .any(|entry| entry.facets.kind == EntryKind::Assistant);
    if strip && replied {
        newest(history).or(named)
    } else {
        named
    }
}

/// Whether all thinking that the new rendering would send stands where it stood before.
fn stays_valid<'a>(
    before: PriorRendering<'_>,
    next: &RequestPrefix,
    named: Option<&str>,
    options: &RenderOptions,
    history: &(impl Iterator<Item = EntryView<'a>> + Clone),
) -> bool {
    let PriorRendering::Rendering(head, old) = before else {
        return false;
    };
    if head.tools.get() != next.tools.get() || head.system.get() != next.system.get() {
        return false;
    }
    let mut options = options.clone();
    options.thinking_stripped_through = named.map(Id::of);
    let mut new = Rendering::begin(options, history.clone());
    new.seal();
    let thought = new
        .blocks()
        .iter()
        .rposition(|block| block.kind.is_thinking());
    thought.is_none_or(|at| {
        let same = old.blocks().get(at);
        same.is_some_and(|block| block.prefix_hash == new.blocks()[at].prefix_hash)
    })
}

/// Of these uuids the one whose entry comes last in a history. One that is not in it strips nothing any more.
fn latest<'a>(
    history: impl Iterator<Item = EntryView<'a>>,
    uuids: [Option<&str>; 2],
) -> Option<String> {
    let wanted = uuids.map(|uuid| uuid.map(Id::of));
    if wanted == [None, None] {
        return None;
    }
    let found = history
        .filter_map(|entry| entry.uuid())
        .fold(None, |found, id| {
            let which = wanted.iter().position(|wanted| *wanted == Some(id));
            which.or(found)
        });
    found.and_then(|which| uuids[which].map(str::to_owned))
}

/// The uuid of the newest entry of a history.
pub(super) fn newest<'a>(history: impl Iterator<Item = EntryView<'a>>) -> Option<String> {
    let with_uuid = history.filter(|entry| entry.facets.uuid.is_present());
    with_uuid
        .last()
        .map(|entry| entry.text(entry.facets.uuid))
        .map(Cow::into_owned)
}
