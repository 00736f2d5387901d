//! The positions of calls, stored once for all calls that share them.

use super::call_id::WatchedCallId;
use super::fingerprint::FingerprintMessages;
use super::messages::{self, CachePosition};
use super::speaker::MessageSpeaker;
use crate::hash::{Map, Set};

/// Identifies the positions of a call: a call consists of the first positions of a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum TrackId {
    /// A rendering, which only grows.
    Rendered(u64),
    /// The positions that were read from one call's body.
    Read(WatchedCallId),
}

/// Positions by track.
#[derive(Debug, Default)]
pub(super) struct Tracks(Map<TrackId, Vec<CachePosition>>);

impl Tracks {
    /// Takes a call's conversation. For a known rendering, only what is new is read.
    pub(super) fn take(
        &mut self,
        call: WatchedCallId,
        conversation: FingerprintMessages<'_>,
    ) -> (TrackId, usize) {
        match conversation {
            FingerprintMessages::Read(positions) => {
                let (id, count) = (TrackId::Read(call), positions.len());
                self.0.insert(id, positions);
                (id, count)
            }
            FingerprintMessages::Rendered {
                generation,
                buffer,
                blocks,
                messages,
            } => {
                let id = TrackId::Rendered(generation);
                let known = self.0.entry(id).or_default();
                known.extend(messages::rendered(known.len(), buffer, blocks, messages));
                (id, blocks.len())
            }
        }
    }

    /// The number of positions in all tracks.
    pub(super) fn len(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    /// The positions of a call.
    pub(super) fn positions(&self, (id, count): (TrackId, usize)) -> &[CachePosition] {
        let all = self.0.get(&id).map(Vec::as_slice).unwrap_or_default();
        &all[..count.min(all.len())]
    }

    /// Drops the tracks that no call needs.
    pub(super) fn keep(&mut self, used: &Set<TrackId>) {
        self.0.retain(|id, _| used.contains(id));
    }

    /// Whether a call belongs to the same conversation as an earlier one; if so, how many positions they share.
    ///
    /// It does if it continues the earlier one, or if it repeats at least half of it, including something that the
    /// model said. What the host puts first may be the same for every conversation of a source.
    pub(super) fn kinship(&self, old: (TrackId, usize), new: (TrackId, usize)) -> Option<usize> {
        if old.0 == new.0 {
            return Some(old.1.min(new.1));
        }
        let (old, new) = (self.positions(old), self.positions(new));
        let same = (old.iter().zip(new))
            .take_while(|(old, new)| old.hash == new.hash)
            .count();
        if same == old.len() {
            return (same > 0).then_some(same);
        }
        let rest: Set<u64> = new[same..].iter().map(|at| at.hash).collect();
        let also = old[same..].iter().filter(|at| rest.contains(&at.hash));
        let shared: Vec<&CachePosition> = old[..same].iter().chain(also).collect();
        let by_model = |at: &&CachePosition| at.speaker == MessageSpeaker::Assistant;
        let akin = shared.len() * 2 >= old.len() && shared.iter().any(by_model);
        akin.then_some(shared.len())
    }
}
