//! The messages of a client's request: its bytes, where each message lies in them, and the history that each ends.

use std::sync::Arc;

use bytes::Bytes;
use longhaul_provider::Dialect;

use super::weight;
use crate::branch::RecognizedBody;

/// The messages of a client's request.
#[derive(Debug, Clone)]
pub(crate) struct ClientMessages {
    pub(crate) dialect: Dialect,
    /// The client's bytes, with reduced results in their smaller form.
    pub(crate) body: Bytes,
    /// Where its messages are, their roles, and the history that each of them ends.
    pub(crate) recognized: Arc<RecognizedBody>,
}

impl ClientMessages {
    /// One of the messages.
    pub(super) fn element(&self, index: usize) -> Option<Bytes> {
        Some(self.body.slice_ref(self.text(index)?))
    }

    /// One of the messages, and where it begins in the body.
    pub(super) fn element_at(&self, index: usize) -> Option<(Bytes, usize)> {
        let element = self.element(index)?;
        let end = usize::try_from(*self.recognized.ends.get(index)?).ok()?;
        let start = end.checked_sub(element.len())?;
        Some((element, start))
    }

    /// The bytes of one of the messages.
    pub(super) fn text(&self, index: usize) -> Option<&[u8]> {
        (self.recognized).message(index, |place| self.body.get(place))
    }

    /// The parts of the body before and after the messages.
    pub(super) fn beside(&self) -> [&[u8]; 2] {
        let list = &self.recognized.outline.list;
        let before = self.body.get(..list.start).unwrap_or_default();
        [before, self.body.get(list.end..).unwrap_or_default()]
    }

    /// The token count of one of the messages.
    pub(super) fn weight_of(&self, index: usize) -> Option<u64> {
        Some(weight::element(self.text(index)?))
    }

    /// The token count of the messages from this one on.
    pub(super) fn weight_from(&self, first: usize) -> u64 {
        let all = first..self.recognized.ends.len();
        all.filter_map(|at| self.weight_of(at)).sum()
    }
}
