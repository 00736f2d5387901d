//! What a line remembers of the markers of its newest request. Kept in memory; lost without harm: what is not remembered
//! is looked at again, and the first request after that has no bridge.

use longhaul_core::prompt::Ttl;

use super::prefix::PrefixEdits;
use super::request::BreakpointRequest;

/// How many of the last elements have a checkpoint: those whose bytes change as the client moves its marker.
const CHECKPOINTS: usize = 4;

/// See the module. To be kept for the line once the request was answered: what was not answered was not written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BreakpointHistory {
    /// The lifetime, latched for the line.
    pub(super) ttl: Ttl,
    /// What was done in the head.
    pub(super) prefix: PrefixEdits,
    /// Which elements had markers.
    pub(super) looked: ScannedElements,
    /// The last block that was marked.
    pub(super) written: Option<WrittenBreakpoint>,
}

/// A block that ends what was written to the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WrittenBreakpoint {
    /// The rolling hash behind its element: that stays what it is, wherever the element stands.
    pub(super) chain: u128,
    /// Its index in the element.
    pub(super) block: usize,
}

/// Which elements were looked at for markers of the client, by the hash of their bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ScannedElements {
    /// The first that was; those before it were not sent.
    from: usize,
    /// Of the last elements: how many there are up to it, and a hash over the hashes of all these.
    checkpoints: Vec<(usize, u128)>,
    /// Those in which there was something to cut.
    marked: Vec<usize>,
}

impl ScannedElements {
    /// All elements of a request that are sent, and which of them had markers.
    pub(super) fn at(asked: &BreakpointRequest<'_>, marked: Vec<usize>) -> Self {
        let count = asked.raws.len();
        let first = count.saturating_sub(CHECKPOINTS - 1).max(1);
        let places = (first..=count).filter(|_| count == asked.len());
        Self {
            from: asked.left_out().end,
            checkpoints: checkpoints(asked.raws, places),
            marked,
        }
    }

    /// The part of it that holds for another request.
    pub(super) fn shared(&self, asked: &BreakpointRequest<'_>) -> KnownElements<'_> {
        let places = self.checkpoints.iter().map(|(count, _)| *count);
        let now = checkpoints(asked.raws, places);
        let pairs = self.checkpoints.iter().zip(&now);
        let same = pairs.take_while(|(then, now)| then == now).last();
        KnownElements {
            looked: self,
            up_to: same.map_or(0, |((count, _), _)| *count),
        }
    }
}

/// What is known of the elements of a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownElements<'a> {
    looked: &'a ScannedElements,
    up_to: usize,
}

impl KnownElements<'_> {
    /// Whether an element is known to have nothing in it that could be cut.
    pub(super) fn is_clean(&self, element: usize) -> bool {
        let known = (self.looked.from..self.up_to).contains(&element);
        known && self.looked.marked.binary_search(&element).is_err()
    }
}

/// Odd, and without pattern: 128 bits of the golden ratio.
const FACTOR: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

/// Hashes over the first so many hashes; ascending, and only as far as there are so many. A fold does, as what is folded
/// is hashed already.
fn checkpoints(raws: &[u128], places: impl Iterator<Item = usize>) -> Vec<(usize, u128)> {
    let (mut hash, mut done) = (0_u128, 0);
    let made = places.map_while(|count| {
        let more = raws.get(done..count)?.iter();
        hash = more.fold(hash, |hash, raw| (hash ^ raw).wrapping_mul(FACTOR));
        done = count;
        Some((count, hash))
    });
    made.collect()
}
