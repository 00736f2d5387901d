//! What was recognized in a body. `recognize.rs` makes it.
use std::ops::Range;
use std::sync::Arc;

use super::chain::HistoryChain;
use super::hashed_message::HashedMessage;
use super::landmarks::{BodyBeginnings, Landmark};
use super::member_breakpoints::MemberBreakpoints;
use crate::body::{self, BodyOutline, BodyRole};
use crate::breakpoints::ClientBreakpoints;
use crate::memory::MemoryCharge;

/// The memory that remembering one message takes, approximately.
pub(super) const A_MESSAGE: usize = 80;

/// The memory that reading takes for each message, approximately.
const READING: usize = size_of::<body::OutlineElement>()
    + size_of::<(HistoryChain, ClientBreakpoints)>()
    + 2 * size_of::<u128>()
    + size_of::<BodyRole>()
    + A_MESSAGE;

/// The fewest bytes that a message can have in a body.
const SHORTEST: usize = br#"{"role":"user"},"#.len();

/// What was recognized in a body.
#[derive(Debug, Clone)]
pub struct RecognizedBody {
    /// Where its parts lie; only those after the part known by its bytes are listed.
    pub outline: BodyOutline,
    /// The chain after the last message.
    pub chain: HistoryChain,
    /// Hash of the bytes of each message, known ones included.
    pub raws: Arc<[u128]>,
    /// The chain after each message, known ones included.
    pub hashes: Arc<[u128]>,
    /// Where each message ends, known ones included.
    pub ends: Arc<[u32]>,
    /// The role of each message, known ones included.
    pub roles: Arc<[BodyRole]>,
    /// How many messages of role system lead the list: in chat completions, the system prompt.
    pub lead: usize,
    /// The client's own cache breakpoints: in its messages, known ones included, and besides them.
    pub breakpoints: ClientBreakpoints,
    /// Those besides its messages.
    pub(super) beside: MemberBreakpoints,
    /// The chain after each message that was read, and the breakpoints in the messages up to it.
    pub(super) read: Vec<(HistoryChain, ClientBreakpoints)>,
    /// The landmarks that it shares with the earlier request.
    pub(super) kept: Vec<Landmark>,
    pub(super) starts: BodyBeginnings,
    /// How many bytes were known by their hash and were not scanned.
    pub known_bytes: usize,
    /// Messages that were not known and are to be remembered.
    pub(super) learned: Vec<(u128, HashedMessage)>,
    /// The memory that all this takes.
    pub(crate) charge: Option<Arc<MemoryCharge>>,
}

impl RecognizedBody {
    /// The most that reading the rest of a body may take in memory.
    pub(crate) fn most(unknown: usize, known: usize) -> usize {
        (unknown / SHORTEST + known).min(body::MOST_MESSAGES) * READING
    }

    /// The memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.raws.len() * READING
    }

    /// The text of a message, known ones included. `bytes` returns a range of the body.
    pub(crate) fn message<'b>(
        &self,
        index: usize,
        bytes: impl FnOnce(Range<usize>) -> Option<&'b [u8]>,
    ) -> Option<&'b [u8]> {
        let end = |index: usize| Some(*self.ends.get(index)? as usize);
        let begin = match index.checked_sub(1) {
            Some(before) => end(before)?,
            None => self.outline.list.start + 1,
        };
        let text = bytes(begin..end(index)?)?.trim_ascii_start();
        Some(text.strip_prefix(b",").unwrap_or(text).trim_ascii_start())
    }

    /// The message that a history ends with: the first one after which the rolling hash has this value, because messages
    /// of role system do not change it.
    pub(crate) fn position(&self, at: u128) -> Option<usize> {
        self.hashes.iter().position(|hash| *hash == at)
    }

    /// The first message after the history that a summary replaces, or after the leading system prompt if there is no
    /// summary. `None` if the request does not begin with that history.
    pub(crate) fn first_after(&self, root: Option<u128>) -> Option<usize> {
        match root {
            Some(root) => Some(self.position(root)? + 1),
            None => Some(self.lead),
        }
    }

    /// The layout of the same messages with other contents in some places of the body: `edits` are those places, in
    /// order, and the lengths of what is there now. The history stays the client's. `raw` hashes a range of the new
    /// body.
    pub(crate) fn with_edits(
        &self,
        mut edits: Vec<(Range<usize>, usize)>,
        raw: impl Fn(Range<usize>) -> u128,
    ) -> Self {
        edits.sort_by_key(|(place, _)| place.start);
        // By how much everything after each of the places has moved.
        let shifts: Vec<i64> = edits
            .iter()
            .scan(0, |shift, (place, length)| {
                *shift += *length as i64 - place.len() as i64;
                Some(*shift)
            })
            .collect();
        let before = |at: usize| edits.partition_point(|(place, _)| place.end <= at);
        let moved = |at: usize| {
            let shift = before(at).checked_sub(1).and_then(|last| shifts.get(last));
            at.saturating_add_signed(shift.copied().unwrap_or_default() as isize)
        };
        let mut raws = self.raws.to_vec();
        let mut ends = self.ends.to_vec();
        for (index, end) in ends.iter_mut().enumerate() {
            let old = *end as usize;
            *end = u32::try_from(moved(old)).unwrap_or(u32::MAX);
            let begin = match index.checked_sub(1) {
                Some(before) => self.ends.get(before).map_or(old, |end| *end as usize),
                None => self.outline.list.start + 1,
            };
            let is_edited = before(old) > before(begin);
            if let Some(known) = raws.get_mut(index).filter(|_| is_edited) {
                *known = raw(moved(begin)..moved(old));
            }
        }
        Self {
            outline: self.outline.moved(moved),
            ends: ends.into(),
            raws: raws.into(),
            ..self.clone()
        }
    }

    /// Drops what only placing needs.
    pub(crate) fn is_placed(&mut self) {
        self.starts.let_go();
        self.kept = Vec::new();
        self.read = Vec::new();
        self.learned = Vec::new();
    }
}
