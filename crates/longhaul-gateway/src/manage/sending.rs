//! What is sent for a client's request: its own bytes, or its own bytes with the beginning of the list replaced.

use std::sync::Arc;

use bytes::Bytes;

use super::rewrites::Shelved;
use crate::line::Recognised;

/// A request as it goes out.
#[derive(Debug, Clone)]
pub(crate) struct Sending {
    /// The body, in slices.
    pub(crate) parts: Vec<Bytes>,
    /// What stands for the beginning, and how many of the client's elements that leaves out.
    pub(crate) replaced: Option<(Arc<Shelved>, usize)>,
}

impl Sending {
    /// The client's exact bytes.
    pub(crate) fn as_it_came(body: &Bytes) -> Self {
        Self {
            parts: vec![body.clone()],
            replaced: None,
        }
    }

    /// With what stands for the beginning in its place. None if the request does not begin with that.
    pub(crate) fn behind(
        body: &Bytes,
        recognised: &Recognised,
        shelved: &Arc<Shelved>,
    ) -> Option<Self> {
        let last = position(recognised, shelved.rewrite.at)?;
        let end = usize::try_from(*recognised.ends.get(last)?).ok()?;
        // The system prompt of chat completions leads the list and stays where it is.
        let lead = match recognised.lead.checked_sub(1) {
            Some(lead) => usize::try_from(*recognised.ends.get(lead)?).ok()?,
            None => recognised.outline.list.start + 1,
        };
        if lead > end || end > body.len() {
            return None;
        }
        let mut parts = vec![body.slice(..lead)];
        if recognised.lead > 0 {
            parts.push(Bytes::from_static(b","));
        }
        parts.push(shelved.rewrite.text.clone());
        parts.push(body.slice(end..));
        Some(Self {
            parts,
            replaced: Some((Arc::clone(shelved), last + 1)),
        })
    }

    /// With one more element at the end of the list: what a fork asks behind the client's own bytes.
    pub(crate) fn and(&self, body: &Bytes, recognised: &Recognised, element: Bytes) -> Vec<Bytes> {
        let close = recognised.outline.list.end - 1;
        let mut parts = self.parts.clone();
        // The last part is the client's, from somewhere in the list to the end of the body.
        let behind = body.len() - close;
        let Some(last) = parts.pop().filter(|last| last.len() >= behind) else {
            return self.parts.clone();
        };
        let at = last.len() - behind;
        parts.extend([
            last.slice(..at),
            Bytes::from_static(b","),
            element,
            last.slice(at..),
        ]);
        parts
    }

    /// How many bytes it has.
    pub(crate) fn len(&self) -> usize {
        self.parts.iter().map(Bytes::len).sum()
    }

    /// How many of the client's bytes are not sent.
    pub(crate) fn left_out(&self, body: &Bytes) -> usize {
        body.len().saturating_sub(self.len())
    }
}

/// Which element a history ends with: the first behind which the rolling hash has this value, since messages of role
/// system do not change it.
pub(crate) fn position(recognised: &Recognised, at: u128) -> Option<usize> {
    recognised.hashes.iter().position(|hash| *hash == at)
}
