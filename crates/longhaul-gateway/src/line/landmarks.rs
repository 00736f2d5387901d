//! Places in the newest request of a line by which the next one is recognised without being scanned.
//!
//! A landmark is the end of one of the last messages, with a hash of all bytes up to it: of the last few, since the
//! marker of the cache, and with it the bytes around it, moves from request to request. Which lines to compare with is told
//! by the hash of the body's beginning, taken at the largest power of two that lies before the landmark.

use std::sync::Arc;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::chain::Chain;
use super::tenant::Tenant;
use crate::body::{Members, Resumption};

/// How many of the last messages have one.
const LANDMARKS: usize = 4;
/// Bodies shorter than this are scanned: nothing is gained.
const SHORTEST: usize = 1 << 10;

/// The end of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landmark {
    /// The place behind it.
    pub at: usize,
    /// Hash of the body up to there.
    pub raw: u128,
    /// How many elements of `messages` end there.
    pub elements: usize,
    /// The chain up to there.
    pub chain: Chain,
}

/// What is remembered of the newest request of a line.
#[derive(Debug)]
pub(super) struct Remembered {
    /// In the order of the body.
    pub(super) landmarks: Vec<Landmark>,
    /// The members before `messages`.
    pub(super) before: Members,
    /// Where `messages` begins.
    pub(super) list: usize,
    /// Hash of the bytes of each element.
    pub(super) raws: Arc<[u128]>,
    /// The chain behind each element.
    pub(super) hashes: Arc<[u128]>,
    /// Where each element ends.
    pub(super) ends: Arc<[u32]>,
    /// How many elements of role system lead the list.
    pub(super) lead: usize,
}

impl Remembered {
    /// The last landmark that a body agrees with byte for byte.
    pub(super) fn last_shared(&self, body: &[u8]) -> Option<&Landmark> {
        let mut hash = Xxh3::new();
        let mut from = 0;
        let mut shared = None;
        for landmark in &self.landmarks {
            let Some(part) = body.get(from..landmark.at) else {
                break;
            };
            hash.update(part);
            from = landmark.at;
            if hash.digest128() != landmark.raw {
                break;
            }
            shared = Some(landmark);
        }
        shared
    }

    pub(super) fn resumption(&self, landmark: &Landmark) -> Resumption {
        Resumption {
            at: landmark.at,
            elements: landmark.elements,
            list: self.list,
            before: self.before.clone(),
        }
    }
}

/// The landmarks of a body whose last elements end at these places.
pub(super) fn landmarks(
    body: &[u8],
    ends: impl DoubleEndedIterator<Item = (usize, usize, Chain)>,
) -> Vec<Landmark> {
    let mut last: Vec<_> = ends.rev().take(LANDMARKS).collect();
    last.reverse();
    let mut hash = Xxh3::new();
    let mut from = 0;
    let made = last.into_iter().filter_map(|(at, elements, chain)| {
        hash.update(body.get(from..at)?);
        from = at;
        Some(Landmark {
            at,
            raw: hash.digest128(),
            elements,
            chain,
        })
    });
    made.collect()
}

/// The beginnings of a body that lines are looked up by: the longest last.
pub(super) fn starts(tenant: Tenant, body: &[u8]) -> Vec<u64> {
    let mut hash = Xxh3::new();
    hash.update(&tenant.0.to_le_bytes());
    let mut found = Vec::new();
    let (mut from, mut power) = (0, SHORTEST);
    while let Some(part) = body.get(from..power) {
        hash.update(part);
        found.push(xxh3_64(&hash.digest128().to_le_bytes()));
        (from, power) = (power, power * 2);
    }
    found
}

/// Which of [`starts`] belongs to a landmark: the longest that lies before it.
pub(super) fn start_of(landmark: &Landmark, starts: &[u64]) -> Option<u64> {
    let power = (landmark.at / SHORTEST).checked_ilog2()?;
    starts.get(power as usize).copied()
}
