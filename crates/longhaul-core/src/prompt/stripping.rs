//! Decides up to which entry thinking is no longer sent (N2).
//!
//! Some models bind a thinking block to the bytes before it: such a block is sent either after the very bytes it was
//! made after, or not at all. A new rendering keeps thinking only if it can prove the former. Otherwise all thinking up
//! to the newest entry is dropped, and the prefix entry records this permanently.

use std::borrow::Cow;

use crate::message::{EntryKind, EntryView, Id, Sent};
use crate::models::ThinkingBinding;
use crate::normalize::{RenderOptions, Rendering};

use super::RequestPrefix;

/// What came before a new rendering.
#[derive(Debug, Clone, Copy)]
pub enum PriorRendering<'a> {
    /// Longhaul rendered nothing before: the session is new, or its history is from another program.
    None,
    /// A prefix was found on disk; the rendering under it is gone.
    Head(&'a RequestPrefix),
    /// A rendering exists in this process.
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

/// Returns the uuid of the entry up to which thinking is not sent under a new prefix.
///
/// `options` are those of the new rendering; its own setting for stripping is ignored.
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
    let model_changed = match before.request_prefix() {
        Some(head) => head.model() != next.model(),
        None => is_of_another_model(next, history.clone()),
    };
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

/// Whether another model signed the thinking of a history that another program wrote: its newest reply is not from the
/// model that is asked next. Of a model with a date in its name, the name without it is the same model.
fn is_of_another_model<'a>(
    next: &RequestPrefix,
    history: impl Iterator<Item = EntryView<'a>>,
) -> bool {
    let replies = history.filter(|entry| entry.sent() == Some(Sent::Reply));
    let signed = replies
        .filter(|entry| entry.facets.model.is_present())
        .last();
    let (Some(signed), Some(next)) = (signed, next.model()) else {
        return false;
    };
    let signer = signed.text(signed.facets.model);
    !signer.starts_with(&*next) && !next.starts_with(&*signer)
}

/// Whether all thinking that the new rendering would send is where it was before.
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

/// Returns the uuid whose entry comes last in a history. A uuid that is not in the history no longer strips anything.
fn latest<'a>(
    history: impl Iterator<Item = EntryView<'a>>,
    uuids: [Option<&str>; 2],
) -> Option<String> {
    let wanted = uuids.map(|uuid| uuid.map(Id::of));
    let found = history
        .filter_map(|entry| entry.uuid())
        .fold(None, |found, id| {
            let which = wanted.iter().position(|wanted| *wanted == Some(id));
            which.or(found)
        });
    found.and_then(|which| uuids[which].map(str::to_owned))
}

/// Returns the uuid of the newest entry of a history.
pub(super) fn newest<'a>(history: impl Iterator<Item = EntryView<'a>>) -> Option<String> {
    let with_uuid = history.filter(|entry| entry.facets.uuid.is_present());
    with_uuid
        .last()
        .map(|entry| entry.text(entry.facets.uuid))
        .map(Cow::into_owned)
}
