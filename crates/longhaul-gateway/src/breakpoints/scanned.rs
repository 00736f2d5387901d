//! The scanned messages of a request, and the blocks in them that get a breakpoint.

use std::collections::BTreeMap;

use longhaul_core::prompt::Ttl;

use super::history::{KnownElements, WrittenBreakpoint};
use super::request::BreakpointRequest;
use super::scan::{self, ScannedMessage};
use crate::body::BodyRole;

/// With more positions than this between the last written block and the new end, a bridge is set (B2). The provider
/// looks back 20 positions.
const UNBRIDGED: usize = 15;

/// A block: the element that contains it, and its index there.
pub(super) type BlockPosition = (usize, usize);

/// The scanned messages, each with the position where it begins.
pub(super) struct ScannedMessages<'a> {
    asked: &'a BreakpointRequest<'a>,
    pub(super) messages: BTreeMap<usize, (usize, ScannedMessage)>,
}

impl<'a> ScannedMessages<'a> {
    pub(super) fn new(asked: &'a BreakpointRequest<'a>) -> Self {
        Self {
            asked,
            messages: BTreeMap::new(),
        }
    }

    fn get(&mut self, element: usize) -> Option<&ScannedMessage> {
        if !self.messages.contains_key(&element) {
            let (raw, base) = self.asked.element(element)?;
            let message = scan::message(raw).ok()?;
            self.messages.insert(element, (base, message));
        }
        self.messages.get(&element).map(|(_, message)| message)
    }

    /// Scans every message that is sent and is not known to be free of breakpoints.
    pub(super) fn scan_unknown(&mut self, known: Option<KnownElements<'_>>) -> Option<()> {
        let left_out = self.asked.left_out();
        let sent = (0..self.asked.len()).filter(|element| !left_out.contains(element));
        for element in sent {
            if !known.is_some_and(|known| known.is_clean(element)) {
                self.get(element)?;
            }
        }
        Some(())
    }

    /// The elements in which there is something to cut.
    pub(super) fn marked(&self) -> Vec<usize> {
        let messages = self.messages.iter();
        let marked = messages.filter(|(_, (_, message))| message.content.found().next().is_some());
        marked.map(|(element, _)| *element).collect()
    }

    /// The lifetimes of the client's breakpoints.
    pub(super) fn lifetimes(&self) -> impl Iterator<Item = Ttl> {
        let messages = self.messages.values();
        messages.flat_map(|(_, message)| message.content.found().filter_map(|found| found.ttl))
    }

    /// The last block of the user or a tool that can have a breakpoint. Messages of role system come and go, and a
    /// prefilled reply is continued: neither is a prefix of the next request. The outer `None` means that the messages
    /// cannot be read.
    pub(super) fn tail(&mut self) -> Option<Option<BlockPosition>> {
        for element in (self.asked.left_out().end..self.asked.len()).rev() {
            let message = self.get(element)?;
            if let Some(block) = last_able(message) {
                return Some(Some((element, block)));
            }
        }
        Some(None)
    }

    /// The block that had the last breakpoint before, if it is still sent and too far from the new end. The outer
    /// `None` means that the messages cannot be read.
    pub(super) fn bridge(
        &mut self,
        written: WrittenBreakpoint,
        tail: BlockPosition,
    ) -> Option<Option<BlockPosition>> {
        let hashes = self.asked.hashes;
        // Messages of role system after it have the same hash.
        let last = hashes.iter().rposition(|hash| *hash == written.chain);
        let Some(last) = last else {
            return Some(None);
        };
        let run = hashes.get(..last).unwrap_or_default().iter().rev();
        let element = last - run.take_while(|hash| **hash == written.chain).count();
        let place = (element, written.block);
        if element < self.asked.left_out().end || place >= tail {
            return Some(None);
        }
        let mut between = 0;
        for each in element..=tail.0 {
            let positions = self.get(each)?.content.positions();
            let from = if each == element { place.1 + 1 } else { 0 };
            let to = if each == tail.0 { tail.1 } else { positions };
            between += to.saturating_sub(from);
            if between > UNBRIDGED {
                break;
            }
        }
        let able = self.get(element)?.content.can_bear(place.1);
        Some((able && between > UNBRIDGED).then_some(place))
    }
}

/// The last block of a message that can have the breakpoint at the end of the conversation.
pub(super) fn last_able(message: &ScannedMessage) -> Option<usize> {
    let spoken = message.role == BodyRole::User;
    message.content.last_able().filter(|_| spoken)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::super::{BreakpointHistory, manage};
    use super::*;
    use crate::body;

    /// A body with this many messages, and the elements of it that are scanned.
    fn looked_at(
        messages: usize,
        marked: &[usize],
        trail: Option<&BreakpointHistory>,
    ) -> (BreakpointHistory, Vec<usize>) {
        let element = |at: usize| {
            let role = ["user", "assistant"][at % 2];
            let marker = if marked.contains(&at) {
                r#","cache_control":{"type":"ephemeral"}"#
            } else {
                ""
            };
            format!(r#"{{"role":"{role}","content":[{{"type":"text","text":"{at}"{marker}}}]}}"#)
        };
        let list: Vec<String> = (0..messages).map(element).collect();
        let body = Bytes::from(format!(
            r#"{{"model":"m","messages":[{}]}}"#,
            list.join(",")
        ));
        let outline = body::read(&body).unwrap();
        let raws: Vec<u128> = list
            .iter()
            .map(|element| longhaul_core::xxh3::xxh3_128(element.as_bytes()))
            .collect();
        let hashes: Vec<u128> = (0..messages as u128).collect();
        let asked = BreakpointRequest {
            body: &body,
            outline: &outline,
            ends: &[],
            raws: &raws,
            hashes: &hashes,
            replaced: None,
        };
        let mut scanned = ScannedMessages::new(&asked);
        scanned
            .scan_unknown(trail.map(|trail| trail.looked.shared(&asked)))
            .unwrap();
        let looked_at = scanned.messages.keys().copied().collect();
        (manage(&asked, trail).trail.unwrap(), looked_at)
    }

    #[test]
    fn b2_messages_that_are_known_are_not_looked_at_again() {
        let (trail, all) = looked_at(41, &[40], None);
        assert_eq!(all.len(), 41);
        // The breakpoint has moved on: the block that had it has different bytes now.
        let (trail, new) = looked_at(43, &[42], Some(&trail));
        assert_eq!(new, [40, 41, 42]);
        let (trail, new) = looked_at(45, &[0, 44], Some(&trail));
        assert_eq!(new.len(), 45, "the beginning is another");
        // Elements with breakpoints are scanned each time, because the breakpoints must be cut out.
        let (_, new) = looked_at(47, &[0, 46], Some(&trail));
        assert_eq!(new, [0, 44, 45, 46]);
    }
}
