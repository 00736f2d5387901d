//! The outgoing body of a client's request: its own bytes, or its own bytes with the beginning of the list replaced.

use std::sync::Arc;

use bytes::Bytes;

use super::compacted_prefixes::LoadedPrefix;
use super::request_context::RequestContext;
use crate::body;
use crate::branch::RecognizedBody;
use crate::breakpoints::{
    self, BreakpointChanges, BreakpointHistory, BreakpointMode, ReplacedMessages,
};

/// A request body as it is sent.
#[derive(Debug, Clone)]
pub(crate) struct OutgoingRequestBody {
    /// The body, in slices.
    pub(crate) parts: Vec<Bytes>,
    /// The compacted prefix, and how many of the client's elements it leaves out.
    pub(crate) replaced: Option<(Arc<LoadedPrefix>, usize)>,
    /// The body and its layout with some results as they came, because what they refer to is not in view (V8).
    pub(crate) restored: Option<(Bytes, Arc<RecognizedBody>)>,
    /// After how many elements of the prefix there is one more breakpoint.
    pub(super) marked_after: Option<usize>,
    /// The changes to its cache breakpoints, and what is to be remembered of them.
    pub(crate) marked: Option<(BreakpointChanges, Option<BreakpointHistory>)>,
}

impl OutgoingRequestBody {
    /// The body with exactly the client's bytes.
    pub(crate) fn unchanged(body: &Bytes) -> Self {
        Self {
            parts: vec![body.clone()],
            replaced: None,
            restored: None,
            marked_after: None,
            marked: None,
        }
    }

    /// The body with a compacted prefix, which has all that is sent for it. `None` if the request does not begin with
    /// the history that the prefix replaces.
    pub(super) fn with_prefix(
        material: &RequestContext,
        shelved: &Arc<LoadedPrefix>,
    ) -> Option<Self> {
        let (body, recognised) = (&material.body, &material.recognized);
        let last = position(recognised, shelved.rewrite.at)?;
        // The system prompt of chat completions leads the list and stays where it is.
        (last >= recognised.lead).then(|| {
            let mut sending = Self {
                replaced: Some((Arc::clone(shelved), last + 1)),
                restored: material.restored_after(&shelved.rewrite, last),
                ..Self::unchanged(body)
            };
            sending.set_breakpoints(body, recognised, BreakpointMode::Keep, None);
            sending
        })
    }

    /// Assembles the parts, with the client's cache breakpoints or with the gateway's.
    pub(crate) fn set_breakpoints(
        &mut self,
        body: &Bytes,
        recognised: &RecognizedBody,
        marks: BreakpointMode,
        trail: Option<&BreakpointHistory>,
    ) {
        let restored = self.restored.clone();
        let (body, recognised) = match &restored {
            Some((body, recognised)) => (body, &**recognised),
            None => (body, recognised),
        };
        let replaced = self
            .replaced
            .as_ref()
            .map(|(shelved, until)| ReplacedMessages {
                elements: recognised.lead..*until,
                text: shelved.rewrite.text.clone(),
                marked_after: self.marked_after,
            });
        let asked = breakpoints::BreakpointRequest {
            body,
            outline: &recognised.outline,
            ends: &recognised.ends,
            raws: &recognised.raws,
            hashes: &recognised.hashes,
            replaced: replaced.as_ref(),
        };
        match marks {
            BreakpointMode::Keep => self.parts = breakpoints::keep(&asked),
            BreakpointMode::Manage => {
                let managed = breakpoints::manage(&asked, trail);
                self.parts = managed.parts;
                self.marked = Some((managed.did, managed.trail));
            }
        }
    }

    /// Sets one more breakpoint, after this many elements of the prefix. The request must have room for it.
    pub(super) fn mark_after(
        &mut self,
        body: &Bytes,
        recognised: &RecognizedBody,
        elements: usize,
    ) {
        self.marked_after = Some(elements);
        self.set_breakpoints(body, recognised, BreakpointMode::Keep, None);
    }

    /// The body with one more element at the end of the list, for a request appended to the client's own messages.
    pub(crate) fn and(&self, element: &Bytes) -> Option<Vec<Bytes>> {
        let body = Bytes::from(self.parts.concat());
        let close = body::read(&body).ok()?.list.end - 1;
        let comma = Bytes::from_static(b",");
        let (before, behind) = (body.slice(..close), body.slice(close..));
        Some(vec![before, comma, element.clone(), behind])
    }

    /// How many bytes it has.
    pub(crate) fn len(&self) -> usize {
        self.parts.iter().map(Bytes::len).sum()
    }

    /// How many of the client's bytes are not sent.
    pub(crate) fn left_out(&self, body: &Bytes) -> usize {
        match self.replaced {
            Some(_) => body.len().saturating_sub(self.len()),
            None => 0,
        }
    }
}

/// The element that a history ends with: the first one after which the rolling hash has this value, because messages of
/// role system do not change it.
pub(crate) fn position(recognised: &RecognizedBody, at: u128) -> Option<usize> {
    recognised.hashes.iter().position(|hash| *hash == at)
}
