//! What a branch remembers of the breakpoints of its newest request. It is held in memory and can be lost without harm:
//! elements that are not remembered are scanned again, and the next request has no bridge.

use longhaul_core::prompt::Ttl;

use super::prefix::PrefixEdits;
use super::request::BreakpointRequest;

/// How many of the last elements have a checkpoint: those whose bytes change as the client moves its breakpoint.
const CHECKPOINTS: usize = 4;

/// The breakpoints of a request, remembered for its branch once the request was answered: an unanswered request wrote
/// nothing to the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BreakpointHistory {
    /// The lifetime, latched for the branch.
    pub(super) ttl: Ttl,
    /// The edits in the request prefix.
    pub(super) prefix: PrefixEdits,
    /// Which elements had breakpoints.
    pub(super) looked: ScannedElements,
    /// The last block with a breakpoint.
    pub(super) written: Option<WrittenBreakpoint>,
}

/// A block that ends what was written to the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WrittenBreakpoint {
    /// The rolling hash after its element, which stays the same wherever the element is in the list.
    pub(super) chain: u128,
    /// The index of the block in the element.
    pub(super) block: usize,
}

/// Which elements were scanned for the client's breakpoints, by the hash of their bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ScannedElements {
    /// The first scanned element; those before it were not sent.
    from: usize,
    /// For each of the last elements: how many elements there are up to it, and a hash over the hashes of all these.
    checkpoints: Vec<(usize, u128)>,
    /// The elements in which there was something to cut.
    marked: Vec<usize>,
}

impl ScannedElements {
    /// All elements of a request that are sent, and which of them had breakpoints.
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

    /// The part of this that holds for another request.
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

/// The known facts about the elements of a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownElements<'a> {
    looked: &'a ScannedElements,
    up_to: usize,
}

impl KnownElements<'_> {
    /// Whether an element is known to contain nothing to cut.
    pub(super) fn is_clean(&self, element: usize) -> bool {
        let known = (self.looked.from..self.up_to).contains(&element);
        known && self.looked.marked.binary_search(&element).is_err()
    }
}

/// An odd number without a pattern: 128 bits of the golden ratio.
const FACTOR: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

/// Hashes over the first hashes, up to each of `places`, which ascend; only as far as there are that many hashes. A
/// fold is enough, because its input is hashed already.
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
