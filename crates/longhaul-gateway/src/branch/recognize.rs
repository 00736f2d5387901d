//! Finds the branch of a request body. Hashing and scanning hold no lock; the locks are held only for lookups.

use std::sync::{Arc, Mutex, PoisonError};

use longhaul_core::xxh3::xxh3_128_with_seed;
use longhaul_provider::Dialect;

use super::chain::HistoryChain;
use super::generational_cache::GenerationalCache;
use super::group::ClientGroup;
use super::hashed_message::{HashedMessage, hash_message};
use super::index::BranchIndex;
use super::key::HistoryKey;
use super::landmarks::{BodyBeginnings, Landmark, MessageEnd, RememberedRequest, landmarks};
use super::member_breakpoints::MemberBreakpoints;
use super::placement::BranchPlacement;
use super::recognized_body::{A_MESSAGE, RecognizedBody};
use super::tenant::Tenant;
use crate::body::{self, BodyRole, NotAConversation};
use crate::breakpoints::ClientBreakpoints;
use crate::memory::{Evictable, MemoryBudget, MemoryShare};

/// How many messages have their canonical hash remembered.
const MESSAGES: usize = 200_000;
/// Remembered messages take at most one part in this many of the memory.
const SHARE: usize = 16;

/// A body to be recognized.
#[derive(Debug, Clone, Copy)]
pub struct RecognitionRequest<'b> {
    /// The tenant that sent it.
    pub tenant: Tenant,
    /// The API dialect of the body.
    pub dialect: Dialect,
    /// The bytes of the body.
    pub body: &'b [u8],
}

/// A request whose place was found, and which is remembered once it was answered successfully. Dropping it remembers
/// nothing.
#[derive(Debug)]
pub struct PendingPlacement {
    found: BranchPlacement,
    group: Option<ClientGroup>,
    chain: HistoryChain,
    hashes: Arc<[u128]>,
    starts: Vec<u64>,
    remembered: Option<Arc<RememberedRequest>>,
    learned: Vec<(u128, HashedMessage)>,
}

impl PendingPlacement {
    /// Where the request belongs, as far as is known now.
    pub fn found(&self) -> BranchPlacement {
        self.found
    }
}

/// Recognizes request bodies.
#[derive(Debug)]
pub struct BranchRecognizer {
    lines: Mutex<BranchIndex>,
    memo: Mutex<GenerationalCache<u128, HashedMessage>>,
    key: HistoryKey,
    kept: Option<MemoryShare>,
}

/// What a body shares with an earlier request.
#[derive(Debug)]
pub(crate) struct SharedBeginning(Arc<RememberedRequest>, Landmark);

impl SharedBeginning {
    /// How many bytes are shared.
    pub(crate) fn known(&self) -> usize {
        self.1.at
    }

    /// How many messages are shared.
    pub(crate) fn messages(&self) -> usize {
        self.1.elements
    }
}

impl BranchRecognizer {
    /// A recognizer over these branches, with a key for the hash of histories.
    pub fn new(lines: BranchIndex, key: HistoryKey) -> Self {
        Self {
            lines: Mutex::new(lines),
            memo: Mutex::new(GenerationalCache::new(MESSAGES)),
            key,
            kept: None,
        }
    }

    /// A recognizer that stays within its shares of a memory budget.
    pub fn within(lines: BranchIndex, key: HistoryKey, budget: &MemoryBudget) -> Self {
        let kept = budget.new_share();
        // The cache has two generations.
        let room = (kept.share(SHARE) / A_MESSAGE / 2).min(MESSAGES);
        Self {
            memo: Mutex::new(GenerationalCache::new(room)),
            kept: Some(kept),
            ..Self::new(lines.within(budget.new_share()), key)
        }
    }

    /// Gives access to the branches, for reading and changing.
    pub fn with_branches<T>(&self, look: impl FnOnce(&mut BranchIndex) -> T) -> T {
        look(&mut self.lines.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads a body. This costs one hashing pass over the known part, and a scan of the rest.
    pub fn read(
        &self,
        request: RecognitionRequest<'_>,
    ) -> Result<RecognizedBody, NotAConversation> {
        let (starts, shared) = self.shared(request);
        self.read_rest(request, starts, shared)
    }

    /// The cheap half of reading: finds what the body shares with an earlier request.
    pub(crate) fn shared(
        &self,
        request: RecognitionRequest<'_>,
    ) -> (BodyBeginnings, Option<SharedBeginning>) {
        let starts = BodyBeginnings::of(self.key.seed(), request.tenant, request.body);
        let alike = self.with_branches(|lines| lines.alike(&starts));
        let shared = alike.into_iter().filter_map(|earlier| {
            let landmark = earlier.last_shared(request.body, &starts)?.clone();
            Some(SharedBeginning(earlier, landmark))
        });
        let longest = shared.max_by_key(|shared| shared.1.at);
        (starts, longest)
    }

    /// The expensive half of reading: scans what is not shared, and hashes each message in it that was never seen.
    pub(crate) fn read_rest(
        &self,
        request: RecognitionRequest<'_>,
        starts: BodyBeginnings,
        shared: Option<SharedBeginning>,
    ) -> Result<RecognizedBody, NotAConversation> {
        let body = request.body;
        let (outline, mut chain) = match &shared {
            Some(SharedBeginning(earlier, landmark)) => {
                let from = earlier.resumption(landmark);
                (body::read_from(body, &from)?, landmark.chain)
            }
            None => (body::read(body)?, HistoryChain::default()),
        };
        let known = shared.as_ref().map_or(0, |shared| shared.1.elements);
        let known_bytes = shared.as_ref().map_or(0, SharedBeginning::known);
        let earlier = shared.as_ref().map(|shared| &shared.0);
        let beside = MemberBreakpoints::of(body, &outline, earlier.map(|earlier| earlier.beside));
        let mut breakpoints = (shared.as_ref())
            .map_or_else(ClientBreakpoints::default, |shared| shared.1.breakpoints);
        let kept = earlier.map_or_else(Vec::new, |earlier| {
            let shared = earlier.landmarks.iter();
            shared
                .filter(|landmark| landmark.elements <= known)
                .cloned()
                .collect()
        });
        // These are the same messages as before, so nothing has to be copied.
        if let Some(earlier) = earlier
            && outline.elements.is_empty()
            && earlier.raws.len() == known
        {
            return Ok(RecognizedBody {
                kept,
                chain,
                raws: Arc::clone(&earlier.raws),
                hashes: Arc::clone(&earlier.hashes),
                ends: Arc::clone(&earlier.ends),
                roles: Arc::clone(&earlier.roles),
                lead: earlier.lead,
                breakpoints: breakpoints.and(beside.total()),
                beside,
                read: Vec::new(),
                starts,
                known_bytes,
                outline,
                learned: Vec::new(),
                charge: None,
            });
        }
        let mut learned = Vec::new();
        let mut raws = Vec::with_capacity(outline.len());
        let mut hashes = Vec::with_capacity(outline.len());
        let mut ends = Vec::with_capacity(outline.len());
        let mut roles = Vec::with_capacity(outline.len());
        let mut lead = 0;
        if let Some(earlier) = earlier {
            raws.extend(earlier.raws.iter().take(known));
            hashes.extend(earlier.hashes.iter().take(known));
            ends.extend(earlier.ends.iter().take(known));
            roles.extend(earlier.roles.iter().take(known));
            lead = earlier.lead.min(known);
        }
        let mut read = Vec::with_capacity(outline.elements.len());
        for element in &outline.elements {
            let raw = body.get(element.span.clone()).unwrap_or_default();
            // The same bytes mean something else in the other dialect.
            let hash = xxh3_128_with_seed(raw, self.key.seed() ^ request.dialect as u64);
            let spoken = match self.remembered(hash) {
                Some(spoken) => spoken,
                None => {
                    let new = hash_message(&self.key, request.dialect, element.role, raw)?;
                    learned.push((hash, new));
                    new
                }
            };
            chain = chain.then(spoken);
            let content = element.content.clone().and_then(|place| body.get(place));
            let set = content.map_or_else(ClientBreakpoints::default, |content| {
                ClientBreakpoints::in_content(content)
            });
            breakpoints = breakpoints.and(set);
            if element.role == BodyRole::System && lead == raws.len() {
                lead += 1;
            }
            // Bodies are shorter than that; otherwise, nothing in them is replaced.
            ends.push(u32::try_from(element.span.end).unwrap_or(u32::MAX));
            roles.push(element.role);
            raws.push(hash);
            hashes.push(chain.hash);
            read.push((chain, breakpoints));
        }
        Ok(RecognizedBody {
            kept,
            chain,
            raws: raws.into(),
            hashes: hashes.into(),
            ends: ends.into(),
            roles: roles.into(),
            lead,
            breakpoints: breakpoints.and(beside.total()),
            beside,
            read,
            starts,
            known_bytes,
            outline,
            learned,
            charge: None,
        })
    }

    fn remembered(&self, raw: u128) -> Option<HashedMessage> {
        let mut memo = self.memo.lock().unwrap_or_else(PoisonError::into_inner);
        memo.get(&raw)
    }

    fn learn(&self, learned: Vec<(u128, HashedMessage)>) {
        if learned.is_empty() {
            return;
        }
        let mut memo = self.memo.lock().unwrap_or_else(PoisonError::into_inner);
        for (raw, spoken) in learned {
            memo.put(raw, spoken);
        }
        if let Some(kept) = &self.kept {
            kept.set(memo.len() * A_MESSAGE);
        }
    }

    /// Places a body that was read, and remembers it for the next request.
    pub fn place(
        &self,
        request: RecognitionRequest<'_>,
        recognized: &RecognizedBody,
        group: Option<ClientGroup>,
    ) -> BranchPlacement {
        let pending = self.find(request.tenant, request, recognized, group);
        self.keep(|| request.tenant, pending)
    }

    /// Finds where a body that was read belongs, and what is to be remembered of it.
    pub fn find(
        &self,
        whose: Tenant,
        request: RecognitionRequest<'_>,
        recognized: &RecognizedBody,
        group: Option<ClientGroup>,
    ) -> PendingPlacement {
        let hashes = recognized.hashes.iter().copied();
        let chain = recognized.chain;
        let session = group.as_ref().map(|group| group.session(whose));
        let found = self.with_branches(|lines| lines.find(whose, session, hashes, chain));
        let outline = &recognized.outline;
        let mut pending = PendingPlacement {
            found,
            group,
            chain,
            hashes: Arc::clone(&recognized.hashes),
            starts: Vec::new(),
            remembered: None,
            learned: recognized.learned.clone(),
        };
        // Nothing new was said, and the beginning was known: what is remembered is still correct.
        if outline.elements.is_empty() && outline.known > 0 {
            return pending;
        }
        let elements = outline.elements.iter().zip(&recognized.read);
        let read = elements
            .enumerate()
            .map(|(at, (element, (chain, breakpoints)))| MessageEnd {
                at: element.span.end,
                elements: outline.known + at + 1,
                chain: *chain,
                breakpoints: *breakpoints,
            });
        let kept = recognized.kept.iter().map(MessageEnd::from);
        let ends = kept.chain(read).collect::<Vec<_>>().into_iter();
        // Beginnings are looked up within a tenant.
        let others;
        let starts = if whose == request.tenant {
            &recognized.starts
        } else {
            others = BodyBeginnings::of(self.key.seed(), whose, request.body);
            &others
        };
        let remembered = RememberedRequest {
            landmarks: landmarks(request.body, starts, ends),
            before: outline.before.clone(),
            list: outline.list.start,
            raws: Arc::clone(&recognized.raws),
            hashes: Arc::clone(&recognized.hashes),
            ends: Arc::clone(&recognized.ends),
            roles: Arc::clone(&recognized.roles),
            lead: recognized.lead,
            beside: recognized.beside,
        };
        let landmarks = remembered.landmarks.iter();
        pending.starts = landmarks
            .filter_map(|landmark| starts.of_landmark(landmark))
            .collect();
        pending.starts.dedup();
        pending.remembered = Some(Arc::new(remembered));
        pending
    }

    /// Remembers a request that was answered successfully: the tip of its branch, and what it looked like. `whose` is
    /// called while no branch can move to another tenant, because a key's organization may have become known in the
    /// meantime.
    pub fn keep(
        &self,
        whose: impl FnOnce() -> Tenant,
        pending: PendingPlacement,
    ) -> BranchPlacement {
        self.learn(pending.learned);
        self.with_branches(|lines| {
            let hashes = pending.hashes.iter().copied();
            let (tenant, chain) = (whose(), pending.chain);
            // The organization of the key may only be known since: the session is the one that later requests name.
            let session = pending.group.map(|group| group.session(tenant));
            let placed = lines.place_found(pending.found, tenant, session, hashes, chain);
            // Beginnings are looked up within a tenant.
            if let Some(request) = pending.remembered
                && placed.tenant == pending.found.tenant
            {
                lines.remember(placed.line, pending.starts, request);
            }
            placed
        })
    }
}

impl Evictable for BranchRecognizer {
    fn evict(&self, bytes: usize) {
        self.with_branches(|lines| lines.shrink_to(lines.bytes().saturating_sub(bytes)));
    }
}
