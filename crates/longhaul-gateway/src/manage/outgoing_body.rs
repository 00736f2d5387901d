//! The outgoing body of a client's request: its own bytes, or its own bytes with the beginning of the list replaced.

use std::sync::Arc;

use bytes::Bytes;

use super::client_messages::ClientMessages;
use super::loaded_prefix::LoadedPrefix;
use crate::body;
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
    /// The messages with some results as they came, because what they refer to is not in view (V8).
    pub(crate) restored: Option<ClientMessages>,
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

    /// The body with a compacted prefix, which has all that is sent for it, and with these messages after it in the
    /// place of the client's. `None` if the request does not begin with the history that the prefix replaces.
    pub(super) fn with_prefix(
        messages: &ClientMessages,
        loaded: &Arc<LoadedPrefix>,
        restored: Option<ClientMessages>,
    ) -> Option<Self> {
        let recognized = &messages.recognized;
        let last = recognized.position(loaded.prefix.at)?;
        // The system prompt of chat completions leads the list and stays where it is.
        (last >= recognized.lead).then(|| {
            let mut outgoing = Self {
                replaced: Some((Arc::clone(loaded), last + 1)),
                restored,
                ..Self::unchanged(&messages.body)
            };
            outgoing.set_breakpoints(messages, BreakpointMode::Keep, None);
            outgoing
        })
    }

    /// Assembles the parts, with the client's cache breakpoints or with the gateway's.
    pub(crate) fn set_breakpoints(
        &mut self,
        messages: &ClientMessages,
        mode: BreakpointMode,
        history: Option<&BreakpointHistory>,
    ) {
        let sent = self.restored.as_ref().unwrap_or(messages);
        let recognized = &sent.recognized;
        let replaced = self
            .replaced
            .as_ref()
            .map(|(loaded, until)| ReplacedMessages {
                elements: recognized.lead..*until,
                text: loaded.prefix.text.clone(),
                marked_after: self.marked_after,
            });
        let request = breakpoints::BreakpointRequest {
            body: &sent.body,
            outline: &recognized.outline,
            ends: &recognized.ends,
            raws: &recognized.raws,
            hashes: &recognized.hashes,
            replaced: replaced.as_ref(),
        };
        match mode {
            BreakpointMode::Keep => self.parts = breakpoints::keep(&request),
            BreakpointMode::Manage => {
                let managed = breakpoints::manage(&request, history);
                self.parts = managed.parts;
                self.marked = Some((managed.did, managed.trail));
            }
        }
    }

    /// Sets one more breakpoint, after this many elements of the prefix. The request must have room for it.
    pub(super) fn mark_after(&mut self, messages: &ClientMessages, elements: usize) {
        self.marked_after = Some(elements);
        self.set_breakpoints(messages, BreakpointMode::Keep, None);
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
