//! Positions in the newest request of a branch by which the next request is recognized without being scanned.
//!
//! A landmark is the end of one of the last messages, with a hash of all bytes up to it. Several of the last messages
//! have one, because the cache breakpoint, and with it the bytes around it, moves from request to request. The hash of
//! the body's beginning, taken at the largest power of two before the landmark, tells which branches to compare with.
//! Both are the same hash: a body is hashed in a single pass, and the state at a power of two also serves the landmarks
//! after it.

use std::sync::Arc;

use longhaul_core::xxh3::Xxh3_128;

use super::chain::HistoryChain;
use super::member_breakpoints::MemberBreakpoints;
use super::tenant::Tenant;
use crate::body::{BodyMembers, BodyRole, ReadResumePoint};
use crate::breakpoints::ClientBreakpoints;

/// How many of the last messages have a landmark.
const LANDMARKS: usize = 4;
/// Bodies shorter than this are scanned, because recognizing them would save nothing.
const SHORTEST: usize = 1 << 10;

/// The end of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Landmark {
    /// The position after the message.
    pub at: usize,
    /// Hash of the body up to that position.
    pub raw: u128,
    /// How many elements of `messages` end there.
    pub elements: usize,
    /// The chain up to that position.
    pub chain: HistoryChain,
    /// The client's breakpoints in the messages up to that position.
    pub breakpoints: ClientBreakpoints,
}

/// The facts that are remembered about the newest request of a branch.
#[derive(Debug)]
pub(super) struct RememberedRequest {
    /// In the order of the body.
    pub(super) landmarks: Vec<Landmark>,
    /// The members before `messages`.
    pub(super) before: BodyMembers,
    /// Where `messages` begins.
    pub(super) list: usize,
    /// Hash of the bytes of each element.
    pub(super) raws: Arc<[u128]>,
    /// The chain after each element.
    pub(super) hashes: Arc<[u128]>,
    /// Where each element ends.
    pub(super) ends: Arc<[u32]>,
    /// The role of each element.
    pub(super) roles: Arc<[BodyRole]>,
    /// How many elements of role system lead the list.
    pub(super) lead: usize,
    /// The client's breakpoints besides its messages.
    pub(super) beside: MemberBreakpoints,
}

/// The end of a message in a body that was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct MessageEnd {
    pub(super) at: usize,
    pub(super) elements: usize,
    pub(super) chain: HistoryChain,
    pub(super) breakpoints: ClientBreakpoints,
}

impl From<&Landmark> for MessageEnd {
    fn from(landmark: &Landmark) -> Self {
        Self {
            at: landmark.at,
            elements: landmark.elements,
            chain: landmark.chain,
            breakpoints: landmark.breakpoints,
        }
    }
}

impl RememberedRequest {
    /// The last landmark that a body agrees with byte for byte.
    pub(super) fn last_shared(&self, body: &[u8], starts: &BodyBeginnings) -> Option<&Landmark> {
        let first = self.landmarks.first()?;
        let (mut from, mut hash) = starts.before(first.at);
        let mut shared = None;
        for landmark in &self.landmarks {
            let Some(part) = body.get(from..landmark.at) else {
                break;
            };
            hash.update(part);
            from = landmark.at;
            if hash.digest() != landmark.raw {
                break;
            }
            shared = Some(landmark);
        }
        shared
    }

    /// The memory that it takes, approximately.
    pub(super) fn weight(&self) -> usize {
        let a_message = 2 * size_of::<u128>() + size_of::<u32>() + size_of::<BodyRole>();
        size_of::<Self>()
            + self.landmarks.len() * size_of::<Landmark>()
            + self.raws.len() * a_message
    }

    pub(super) fn resumption(&self, landmark: &Landmark) -> ReadResumePoint {
        ReadResumePoint {
            at: landmark.at,
            elements: landmark.elements,
            list: self.list,
            before: self.before.clone(),
        }
    }
}

/// The landmarks of a body whose last elements end at these positions.
pub(super) fn landmarks(
    body: &[u8],
    starts: &BodyBeginnings,
    ends: impl DoubleEndedIterator<Item = MessageEnd>,
) -> Vec<Landmark> {
    let mut last: Vec<_> = ends.rev().take(LANDMARKS).collect();
    last.reverse();
    let first = last.first().map_or(0, |end| end.at);
    let (mut from, mut hash) = starts.before(first);
    let made = last.into_iter().filter_map(|end| {
        hash.update(body.get(from..end.at)?);
        from = end.at;
        Some(Landmark {
            at: end.at,
            raw: hash.digest(),
            elements: end.elements,
            chain: end.chain,
            breakpoints: end.breakpoints,
        })
    });
    made.collect()
}

/// The beginnings of a body by which branches are looked up.
#[derive(Clone)]
pub(crate) struct BodyBeginnings {
    tenant: Tenant,
    seed: u64,
    /// The hash up to each power of two, the longest last, with the state from which hashing continues.
    powers: Vec<(u64, Xxh3_128)>,
}

impl std::fmt::Debug for BodyBeginnings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Starts").finish_non_exhaustive()
    }
}

impl BodyBeginnings {
    /// Hashes the beginnings of a body.
    pub(super) fn of(seed: u64, tenant: Tenant, body: &[u8]) -> Self {
        let mut hash = begun(seed, tenant);
        let mut powers = Vec::new();
        let (mut from, mut power) = (0, SHORTEST);
        while let Some(part) = body.get(from..power) {
            hash.update(part);
            powers.push((hash.digest() as u64, hash.clone()));
            (from, power) = (power, power * 2);
        }
        Self {
            tenant,
            seed,
            powers,
        }
    }

    /// Drops all beginnings.
    pub(super) fn let_go(&mut self) {
        self.powers = Vec::new();
    }

    /// The hashes of all beginnings, the longest last.
    pub(super) fn hashes(&self) -> impl DoubleEndedIterator<Item = u64> {
        self.powers.iter().map(|(hash, _)| *hash)
    }

    /// The hash state of the body at a position, or at the closest one before it.
    fn before(&self, at: usize) -> (usize, Xxh3_128) {
        let power = (at / SHORTEST).checked_ilog2();
        let known = power.and_then(|power| {
            let power = (power as usize).min(self.powers.len().checked_sub(1)?);
            let (_, hash) = self.powers.get(power)?;
            Some((SHORTEST << power, hash.clone()))
        });
        known.unwrap_or_else(|| (0, begun(self.seed, self.tenant)))
    }

    /// The beginning that a landmark belongs to: the longest one before it.
    pub(super) fn of_landmark(&self, landmark: &Landmark) -> Option<u64> {
        let power = (landmark.at / SHORTEST).checked_ilog2()?;
        self.powers.get(power as usize).map(|(hash, _)| *hash)
    }
}

/// The tenant and the seed go in first: nothing of one tenant is found for another, and an outsider cannot construct
/// two bodies whose beginnings have the same hash.
fn begun(seed: u64, tenant: Tenant) -> Xxh3_128 {
    let mut hash = Xxh3_128::with_seed(seed);
    hash.update(&tenant.0.to_le_bytes());
    hash
}
